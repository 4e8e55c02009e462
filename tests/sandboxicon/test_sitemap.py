"""The sitemap has every public page once and nothing else; robots.txt names it."""

import datetime
import re
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audits.models import Agent
from evidence.models import Claim
from ladder.models import Tier
from nesting.models import Cell, ErrorText, Inner
from primitives.models import Primitive
from sandboxicon.sitemaps import LISTS, Entries
from tests.factories import make_audit, make_claim, make_primitive, make_tier

pytestmark = pytest.mark.django_db

SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"
# What has an address and is no page of its own: states of pages, forms, files, and what machines ask.
NO_PAGES = {"/search/", "/primitives/compare/", "/audits/compare/", "/nesting/answer/"}


def texts(client: Client, address: str, *names: str) -> list[list[str]]:
    """What the elements of a file's rows say, row by row."""
    response = client.get(urlsplit(address)._replace(scheme="", netloc="").geturl())
    assert response.status_code == 200
    return [
        [row.findtext(f"{{{SCHEMA}}}{name}") or "" for name in names]
        for row in ElementTree.fromstring(response.content)
    ]


def pages(client: Client) -> list[tuple[str, str]]:
    """Each address of the sitemap, with the day on which it changed."""
    return [
        (page.removeprefix("http://testserver"), changed)
        for (part,) in texts(client, "/sitemap.xml", "loc")
        for page, changed in texts(client, part, "loc", "lastmod")
    ]


@pytest.mark.usefixtures("content")
def test_it_lists_every_public_page_exactly_once(client: Client) -> None:
    listed = [address for address, _ in pages(client)]
    assert len(set(listed)) == len(listed)
    entries = [Tier.objects, Primitive.objects.published(), Agent.objects.published(), Claim.objects.published()]
    entries += [Inner.objects, Cell.objects.select_related("inner", "outer"), ErrorText.objects]
    expected = {entry.get_absolute_url() for entries in entries for entry in entries.all()}
    expected |= {f"{entry.get_absolute_url()}history/" for entries in entries[:3] for entry in entries.all()}
    assert expected < {*listed}
    assert len(listed) == len(expected) + len(LISTS)
    # What the pages link to is listed, but for states, forms and files; and what is listed can be read.
    linked = set()
    for address in {*listed[:40], *listed[:: len(listed) // 30]}:
        response = client.get(address)
        assert response.status_code == 200, address
        links = BeautifulSoup(response.content, "html.parser").select("a[href^='/']")
        linked |= {link["href"].partition("#")[0].partition("?")[0] for link in links}
    cells_that_nobody_looked_at = {it for it in linked if re.fullmatch(r"/nesting/[^/]+/[^/]+/", it)}
    forms = {it for it in linked if it.endswith(("/correction/", "/feed/")) or it.startswith("/feed")}
    assert linked - {*listed} - NO_PAGES - cells_that_nobody_looked_at - forms == set()


def test_no_draft_is_in_it(client: Client) -> None:
    hidden = make_primitive("hidden", is_published=False)
    make_claim(hidden)
    make_claim(make_audit("secret", postures=[], is_published=False))
    make_claim(make_tier(), slug="drafted", is_published=False)
    listed = " ".join(address for address, _ in pages(client))
    assert not any(word in listed for word in ("hidden", "secret", "drafted"))
    assert "/ladder/container/" in listed


def test_it_says_when_an_entry_or_a_claim_about_it_last_changed(client: Client) -> None:
    claim = make_claim(make_primitive("gvisor"), slug="a")
    changed = dict(pages(client))
    today = timezone.now().date()
    assert {changed[f"/{page}"][:10] for page in ("", "primitives/gvisor/", "claims/primitive.gvisor.a/")} == {
        str(today)
    }
    assert changed["/models/"] == ""
    entries = Entries(Primitive.objects.published(), "primitive")
    before = entries.items().get().changed
    Claim.objects.filter(pk=claim.pk).update(version="2")
    assert isinstance(before, datetime.datetime)
    assert entries.items().get().changed >= before


def test_a_part_costs_as_many_queries_for_few_pages_as_for_many(client: Client) -> None:
    def queries() -> list[int]:
        numbers = []
        for address in ("/sitemap.xml", "/sitemap-claims.xml", "/sitemap-lists.xml", "/sitemap-agents.xml"):
            with CaptureQueriesContext(connection) as captured:
                assert client.get(address).status_code == 200
            numbers.append(len(captured))
        return numbers

    make_claim(make_audit())
    few = queries()
    for _ in range(10):
        make_claim(make_audit())
    assert queries() == few


def test_parts_and_pages_that_there_are_not_are_not_found(client: Client) -> None:
    for address in ("/sitemap-x.xml", "/sitemap-claims.xml?p=9", "/sitemap-claims.xml?p=%00", "/sitemap-.xml"):
        assert client.get(address).status_code == 404, address


def test_robots_are_told_of_it_and_not_of_the_admin(client: Client) -> None:
    response = client.get("/robots.txt")
    assert response["Content-Type"].startswith("text/plain")
    words = response.content.decode()
    assert "Sitemap: http://testserver/sitemap.xml\n" in words
    assert "admin" not in words
