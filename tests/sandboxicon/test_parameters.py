"""Which parameters of its address a page gets."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from audits.filters import AuditFilterSet
from evidence.filters import FacetedFilterSet
from evidence.ledger import LedgerFilterSet
from ladder.two_models import STEPS
from nesting.filters import CellFilterSet
from primitives.filters import PrimitiveFilterSet
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


def first_options(filterset: FacetedFilterSet) -> dict[str, str]:
    """Of each filter with options the first one."""
    fields = filterset.fields.items()
    return {name: field.choices[0][0] for name, field in fields if getattr(field, "choices", None)}


def asked() -> dict[str, tuple[str, dict[str, str]]]:
    """Of each page that reads something: where it is, and of each parameter something that it answers otherwise."""
    ledger = LedgerFilterSet(QueryDict("agent=codex&primitive=gvisor&source=github.com/google/gvisor"))
    return {
        "home": ("/", {"open": "microvm"}),
        "ladder": ("/ladder/", {"open": "microvm"}),
        "two_models": ("/models/", {"step": STEPS[1].slug}),
        "search": ("/search/", {"q": "gvisor"}),
        "changes": ("/changes/", {"kind": "claim", "only": "defaults", "page": "900"}),
        "tier_history": ("/ladder/microvm/history/", {"page": "900"}),
        "agent_history": ("/audits/codex/history/", {"page": "900"}),
        "primitive_history": ("/primitives/gvisor/history/", {"page": "900"}),
        "primitives": (
            "/primitives/",
            {**first_options(PrimitiveFilterSet(QueryDict())), "q": "kernel", "p": "gvisor", "sort": "tier",
             "page": "2"},
        ),
        "audits": (
            "/audits/",
            {**first_options(AuditFilterSet(QueryDict())), "q": "codex", "a": "codex", "sort": "tier", "page": "900",
             "rows": "surfaces"},
        ),
        "agent": ("/audits/codex/", {"platform": "windows"}),
        "ledger": (
            "/evidence/",
            {**first_options(ledger), "q": "kernel", "sort": "oldest", "page": "2", "format": "json"},
        ),
        "nesting": (
            "/nesting/",
            {**first_options(CellFilterSet(QueryDict())), "open": "bubblewrap.docker-default", "format": "json"},
        ),
        "cell": ("/nesting/bubblewrap/docker-default/", {"format": "json"}),
        "errors": ("/errors/", {"q": "/dev/kvm: Permission denied", "format": "json"}),
        "error": ("/errors/kvm-absent/", {"format": "json"}),
        "django.contrib.sitemaps.views.sitemap": ("/sitemap-claims.xml", {"p": "2"}),
    }  # fmt: skip


def said(client: Client, address: str) -> tuple[Any, ...]:
    """What an answer says, but for a form's token."""
    response = client.get(address)
    token = rb'name="csrfmiddlewaretoken" value="[^"]*"'
    headers = [response.headers.get(name) for name in ("Location", "Cache-Control", "Content-Type")]
    return response.status_code, *headers, re.sub(token, b"", b"".join(response))


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("name", sorted(READS.keys() - {"answer", "card"}))  # its version: test_cards.py
def test_a_page_reads_each_parameter_that_it_is_said_to_read(client: Client, name: str) -> None:
    address, values = asked()[name]
    assert {*values} == {*READS[name]}
    plain = said(client, address)
    assert said(client, address) == plain
    for parameter, value in values.items():
        assert said(client, f"{address}?{urlencode({parameter: value})}") != plain, parameter


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


def test_two_choices_lead_to_the_cell_of_both(client: Client) -> None:
    found = client.get("/nesting/answer/?in=docker-default&want=bubblewrap")
    assert found.headers["Location"] == "/nesting/bubblewrap/docker-default/"


def test_an_answer_says_what_its_page_reads(client: Client) -> None:
    assert client.get("/about/").headers["No-Vary-Search"] == "key-order, params"
    assert client.get("/search/").headers["No-Vary-Search"] == 'key-order, params, except=("q")'
    assert "No-Vary-Search" not in client.get("/primitives/compare/").headers
    assert "No-Vary-Search" not in client.get("/admin/login/?next=/admin/").headers


def test_the_admin_gets_all_that_its_addresses_say(client: Client) -> None:
    page = client.get("/admin/login/?next=/admin/primitives/").content.decode()
    assert 'name="next" value="/admin/primitives/"' in page
