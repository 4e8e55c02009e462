"""Who may come to the admin's door at all, and what happens after too many wrong keys."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.defaults import page_not_found

from evidence.requests import client_address


class AllowedNetworks:
    """Middleware: where ADMIN_ALLOW names networks, nobody else finds an admin here; and nobody keeps its answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if _is_admin(request) or _leads_to_admin(request):
            if response.status_code != 404 and not _may_come(request):
                response = page_not_found(request, Http404())
            # What one network gets must not be kept for another, least of all that there is nothing.
            patch_cache_control(response, private=True, no_store=True)
        return response

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        if _is_admin(request) and not _may_come(request):
            raise Http404


def _may_come(request: HttpRequest) -> bool:
    address = client_address(request)
    return not settings.ADMIN_ALLOW or any(address and address in network for network in settings.ADMIN_ALLOW)


def _leads_to_admin(request: HttpRequest) -> bool:
    """Whether it is the admin's address but for the stroke at its end, which Django's CommonMiddleware adds."""
    return f"{request.path_info}/" == f"/{settings.ADMIN_PATH}"


def _is_admin(request: HttpRequest) -> bool:
    return bool(request.resolver_match and "admin" in request.resolver_match.app_names)


def locked_out(request: HttpRequest, credentials: Any = None) -> HttpResponse:
    """The answer to whoever guessed too often: the same whether there is such a user or not."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    response = render(request, "admin/locked_out.html", {"title": "Too many attempts", "minutes": minutes}, status=429)
    response["Retry-After"] = str(minutes * 60)
    return response
