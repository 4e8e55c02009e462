"""Addresses of the reference."""

from django.urls import path

from primitives import views

urlpatterns = [
    path("", views.primitive_list, name="primitives"),
    path("compare/", views.compare_primitives, name="compare_primitives"),
    path("<slug:slug>/", views.primitive_detail, name="primitive"),
]
