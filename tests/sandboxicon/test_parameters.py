"""Which parameters of its address a page gets."""

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from evidence.filters import FacetedFilterSet
from sandboxicon.parameters import READ_ALL, READS
from tests.factories import make_agent, make_audit, make_claim, make_primitive, make_tier

pytestmark = pytest.mark.django_db


def names_of(patterns: list[Any]) -> set[str]:
    """Of all addresses but the admin's."""
    names: set[str] = set()
    for each in patterns:
        if isinstance(each, URLPattern):
            names.add(str(each.name))
        elif isinstance(each, URLResolver) and not each.namespace:
            names |= names_of(each.url_patterns)
    return names


def test_what_is_read_is_said_of_pages_that_there_are() -> None:
    names = names_of(get_resolver().url_patterns)
    assert {*READS} <= names
    assert names >= READ_ALL


def test_every_filter_of_every_list_is_among_what_its_page_reads() -> None:
    lists = FacetedFilterSet.__subclasses__()
    assert len(lists) == 4
    for filterset in lists:
        own = {*filterset.base_filters, "sort", *filter(None, [filterset.PICK])}
        assert any(own <= {*names} for names in READS.values()), filterset


@pytest.mark.parametrize(
    "address",
    ["/", "/ladder/", "/ladder/microvm/", "/models/", "/method/", "/about/", "/search/?q=box", "/changes/", "/feed/",
     "/primitives/", "/primitives/?tier=microvm", "/primitives/box/", "/primitives/box/history/", "/audits/",
     "/audits/claude/", "/nesting/", "/evidence/", "/evidence/?format=json", "/robots.txt", "/nowhere/"],
)  # fmt: skip
def test_a_page_is_the_same_whatever_else_its_address_says(client: Client, address: str) -> None:
    make_claim(make_primitive("box", tier=make_tier("microvm")))
    make_audit(make_agent("claude"))
    more = "utm_source=x&p%00=1&%3Cscript%3E=1&q[]=2&Page=2&__proto__=3"
    plain, other = client.get(address), client.get(f"{address}{'&' if '?' in address else '?'}{more}")
    assert (plain.status_code, b"".join(plain)) == (other.status_code, b"".join(other))
    assert plain.headers.get("No-Vary-Search") == other.headers.get("No-Vary-Search")


def test_an_answer_says_what_its_page_reads(client: Client) -> None:
    assert client.get("/about/").headers["No-Vary-Search"] == "key-order, params"
    assert client.get("/search/").headers["No-Vary-Search"] == 'key-order, params, except=("q")'
    assert "No-Vary-Search" not in client.get("/primitives/compare/").headers
    assert "No-Vary-Search" not in client.get("/admin/login/?next=/admin/").headers


def test_the_admin_gets_all_that_its_addresses_say(client: Client) -> None:
    page = client.get("/admin/login/?next=/admin/primitives/").content.decode()
    assert 'name="next" value="/admin/primitives/"' in page
