"""Addresses of the audits."""

from django.urls import path

from audits import views

urlpatterns = [
    path("", views.audit_list, name="audits"),
    path("compare/", views.compare_agents, name="compare_agents"),
    path("<slug:slug>/", views.agent_detail, name="agent"),
]
