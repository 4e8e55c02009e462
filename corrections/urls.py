"""Addresses of corrections. The form's is below its claim's (evidence.urls has the converter)."""

from django.urls import path, re_path

from corrections import views

urlpatterns = [
    path("claims/<address:address>/correction/", views.correct, name="correct"),
    re_path(r"^corrections/(?P<reference>[A-Za-z0-9_-]{22})/$", views.correction, name="correction"),
]
