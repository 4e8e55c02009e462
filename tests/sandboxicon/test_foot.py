"""The foot of every page: the date of the newest claim, and what it costs."""

import datetime

import pytest
from bs4 import BeautifulSoup
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import make_audit, make_claim, make_primitive

pytestmark = pytest.mark.django_db


def foot(client: Client, address: str = "/ladder/") -> str:
    return " ".join(BeautifulSoup(client.get(address).content, "html.parser").footer.get_text(" ").split())


def test_it_says_as_of_when_the_newest_claim_holds_and_leaves_drafts_out(client: Client) -> None:
    make_claim(make_primitive(), as_of=datetime.date(2026, 3, 1))
    make_claim(make_primitive(), as_of=datetime.date(2025, 3, 1))
    make_claim(make_audit(is_published=False, postures=[]), as_of=datetime.date(2026, 9, 9))
    cache.clear()
    assert "The newest claim here holds as of 1 March 2026 ." in foot(client)


def test_it_says_nothing_where_there_is_no_claim(client: Client) -> None:
    cache.clear()
    assert "newest claim" not in foot(client)


def test_it_is_asked_for_once_and_by_no_page_after(client: Client) -> None:
    cache.clear()
    with CaptureQueriesContext(connection) as first:
        foot(client)
    with CaptureQueriesContext(connection) as second:
        foot(client)
    assert len(first) == len(second) + 1


def test_a_page_that_needs_no_database_stands_without_one(client: Client) -> None:
    def refuse(*args: object) -> None:
        raise DatabaseError("down")

    cache.clear()
    with connection.execute_wrapper(refuse):
        response = client.get("/no/such/page/")
    assert response.status_code == 404
    assert b"newest claim" not in response.content
