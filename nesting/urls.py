"""Addresses of nesting."""

from django.urls import path

from nesting import views

urlpatterns = [
    path("nesting/", views.nesting, name="nesting"),
    path("nesting/answer/", views.answer, name="answer"),
    path("nesting/<slug:inner>/", views.inner_detail, name="inner"),
    path("nesting/<slug:inner>/<slug:outer>/", views.cell_detail, name="cell"),
    path("errors/", views.errors, name="errors"),
    path("errors/<slug:slug>/", views.error_detail, name="error"),
]
