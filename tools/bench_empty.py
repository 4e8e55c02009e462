"""What `make bench` measures the site against: Django with one view that answers "ok", and nothing around it.

Settings and addresses in one module, for the same gunicorn and the same WSGI application as the site's.
"""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from sandboxicon.settings import *  # noqa: F403

ROOT_URLCONF = "tools.bench_empty"
MIDDLEWARE: list[str] = []


def empty(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("", empty)]
