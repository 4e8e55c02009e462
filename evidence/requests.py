"""Whose request it is, as far as that can be told."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

from django.conf import settings
from django.http import HttpRequest

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
    """What is limited by address is counted by: an IPv4 address, or the /64 that one IPv6 customer has."""
    found = client_address(request)
    if isinstance(found, IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False).network_address)
    return str(found) if found else None
