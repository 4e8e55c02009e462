"""Every address of the site."""

from django.conf import settings
from django.contrib import admin
from django.contrib.sitemaps import views as sitemaps
from django.urls import include, path

from ladder.views import two_models
from sandboxicon import views
from sandboxicon.sitemaps import sections

urlpatterns = [
    path("", views.home, name="home"),
    path("method/", views.method, name="method"),
    path("search/", views.search, name="search"),
    path("about/", views.about, name="about"),
    path("models/", two_models, name="two_models"),
    path("ladder/", include("ladder.urls")),
    path("audits/", include("audits.urls")),
    path("primitives/", include("primitives.urls")),
    path("", include("evidence.urls")),
    path("cards/<slug:kind>.png", views.card, name="card"),
    path("cards/<slug:kind>/<str:slug>.png", views.card, name="card"),
    path("", include("nesting.urls")),
    path("", include("corrections.urls")),
    path(settings.ADMIN_PATH, admin.site.urls),
    path("robots.txt", views.robots, name="robots"),
    path("sitemap.xml", sitemaps.index, {"sitemaps": sections()}, name="sitemaps"),
    path(
        "sitemap-<section>.xml",
        sitemaps.sitemap,
        {"sitemaps": sections()},
        name="django.contrib.sitemaps.views.sitemap",
    ),
    # Browsers ask for it on pages that name no icon, the admin's among them.
    path("favicon.ico", views.favicon, name="favicon"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
]
