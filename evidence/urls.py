"""Addresses of the ledger and of the claims' own pages."""

from django.urls import path, register_converter

from evidence import addresses, views


class AddressConverter:
    """A claim's public address, or at least something that could be one."""

    regex = addresses.PATTERN

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(AddressConverter, "address")

urlpatterns = [
    path("evidence/", views.ledger, name="ledger"),
    path("claims/<address:address>/", views.claim_detail, name="claim"),
]
