"""Who may come to the admin's door at all, and what happens after too many wrong keys."""

import ipaddress
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control

Address = IPv4Address | IPv6Address


def client_address(request: HttpRequest) -> Address | None:
    """Whose request it is, as the outermost of the settings' `PROXIES` saw it. None where nobody can tell.

    What stands further left in X-Forwarded-For was written by the client, and may say anything.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        hops = forwarded.split(",") if forwarded else []
        # Fewer hops than proxies: the request came around some of them.
        address = hops[-settings.PROXIES] if len(hops) >= settings.PROXIES else address
    try:
        found = ipaddress.ip_address(address.strip())
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def counted_address(request: HttpRequest) -> str | None:
    """What wrong passwords are counted by: an IPv4 address, or the /64 that one IPv6 customer has."""
    found = client_address(request)
    if isinstance(found, IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False).network_address)
    return str(found) if found else None


class AllowedNetworks:
    """Middleware: where ADMIN_ALLOW names networks, nobody else finds an admin here; and nobody keeps its answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if _is_admin(request):
            # What one network gets must not be kept for another, least of all that there is nothing.
            patch_cache_control(response, private=True, no_store=True)
        return response

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        if settings.ADMIN_ALLOW and _is_admin(request):
            address = client_address(request)
            if not address or not any(address in network for network in settings.ADMIN_ALLOW):
                raise Http404


def _is_admin(request: HttpRequest) -> bool:
    return bool(request.resolver_match and "admin" in request.resolver_match.app_names)


def locked_out(request: HttpRequest, credentials: Any = None) -> HttpResponse:
    """The answer to whoever guessed too often: the same whether there is such a user or not."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    response = render(request, "admin/locked_out.html", {"title": "Too many attempts", "minutes": minutes}, status=429)
    response["Retry-After"] = str(minutes * 60)
    return response
