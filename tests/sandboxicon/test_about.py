"""The page on why this exists: its numbers are counted, and what it says of the world has a source."""

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audits.models import Agent
from evidence.models import Claim, Label, Source
from primitives.models import Primitive
from tests.factories import make_audit, make_claim, make_primitive

pytestmark = pytest.mark.django_db

ABOUT = "/about/"
MOST_QUERIES = 8


def page_of(client: Client) -> BeautifulSoup:
    response = client.get(ABOUT)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def text_of(client: Client) -> str:
    return " ".join(page_of(client).main.get_text(" ").split())


@pytest.mark.usefixtures("content")
def test_what_it_counts_is_what_the_database_holds(client: Client) -> None:
    text = text_of(client)
    assert f"{Primitive.objects.count()} technologies" in text
    assert f"{Agent.objects.published().count()} coding agents" in text
    assert f"{Claim.objects.count()} claims" in text
    assert f"{Source.objects.filter(kind='code').count()} times to exact lines of code" in text
    assert f"{Source.objects.filter(kind='doc').count()} times to a document" in text
    assert f"{Source.objects.filter(kind='package').count()} times to a published package" in text


def test_drafts_are_not_counted(client: Client) -> None:
    before = text_of(client)
    make_claim(make_audit(is_published=False, postures=[]), Label.DOCUMENTED)
    assert text_of(client) == before


def test_what_it_says_of_the_worm_leads_to_three_sources_at_a_commit(client: Client) -> None:
    section = page_of(client).select_one("section[aria-labelledby=now]")
    links = [link["href"] for link in section.select("a[rel~=external]")]
    assert [link.split("/")[3] for link in links] == ["PostHog", "asyncapi", "ossf"]
    assert all(len(link.split("/blob/")[1].split("/")[0]) == 40 for link in links)


def test_it_says_what_it_is_not(client: Client) -> None:
    text = text_of(client)
    for sentence in ("Not a ranking of vendors", "Not a scanner", "Not a certificate"):
        assert sentence in text


def test_every_page_leads_to_method_and_about(client: Client) -> None:
    for address in ("/", ABOUT, "/method/", "/ladder/", "/primitives/"):
        page = BeautifulSoup(client.get(address).content, "html.parser")
        links = [link["href"] for link in page.select("footer a")]
        assert {"/method/", "/about/"} <= set(links), address


def test_it_costs_as_many_queries_for_few_entries_as_for_many(client: Client) -> None:
    make_claim(make_primitive())
    with CaptureQueriesContext(connection) as few:
        page_of(client)
    for _ in range(10):
        make_claim(make_primitive())
        make_audit()
    with CaptureQueriesContext(connection) as many:
        page_of(client)
    assert len(few) == len(many) <= MOST_QUERIES
