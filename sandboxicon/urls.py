"""Every address of the site."""

from django.conf import settings
from django.contrib import admin
from django.contrib.sitemaps import views as sitemaps
from django.urls import include, path

from ladder.views import two_models
from sandboxicon import changes, views
from sandboxicon.sitemaps import sections

urlpatterns = [
    path("", views.home, name="home"),
    path("method/", views.method, name="method"),
    path("search/", views.search, name="search"),
    path("about/", views.about, name="about"),
    path("models/", two_models, name="two_models"),
    path("changes/", changes.changes, name="changes"),
    path("feed/", changes.all_feed, name="all_feed"),
    path("feed/defaults/", changes.defaults_feed, name="defaults_feed"),
    path("ladder/<slug:slug>/history/", changes.tier_history, name="tier_history"),
    path("ladder/<slug:slug>/feed/", changes.tier_feed, name="tier_feed"),
    path("audits/<slug:slug>/history/", changes.agent_history, name="agent_history"),
    path("audits/<slug:slug>/feed/", changes.agent_feed, name="agent_feed"),
    path("primitives/<slug:slug>/history/", changes.primitive_history, name="primitive_history"),
    path("primitives/<slug:slug>/feed/", changes.primitive_feed, name="primitive_feed"),
    path("ladder/", include("ladder.urls")),
    path("audits/", include("audits.urls")),
    path("primitives/", include("primitives.urls")),
    path("", include("evidence.urls")),
    path("cards/<slug:kind>.png", views.card, name="card"),
    path("cards/<slug:kind>/<str:slug>.png", views.card, name="card"),
    path("", include("nesting.urls")),
    path("", include("corrections.urls")),
    path(settings.ADMIN_PATH, admin.site.urls),
    path(".well-known/security.txt", views.security_txt, name="security_txt"),
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

handler500 = views.broke
