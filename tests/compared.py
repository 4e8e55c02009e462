"""A comparison's page, as the tests of both comparisons read it."""

from typing import Any

from bs4 import BeautifulSoup, Tag
from django.test import Client


def page_at(client: Client, address: str, query: Any = None) -> BeautifulSoup:
    """The page there; it must be one."""
    response = client.get(address, query)
    assert response.status_code == 200, response
    return BeautifulSoup(response.content, "html.parser")


def text(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def columns(page: BeautifulSoup) -> list[str]:
    """The names of what is compared."""
    return [text(head.a) for head in page.select("table.compared thead th")]


def rows(page: BeautifulSoup) -> dict[str, list[str]]:
    """What each row says of each."""
    return {title(row): [text(cell) for cell in row.select("td")] for row in _rows(page)}


def differences(page: BeautifulSoup) -> dict[str, str]:
    """What each row says of its cells' difference: nothing where they are equal."""
    found = {title(row): text(row.select_one(".difference")) for row in _rows(page) if row.select_one(".difference")}
    assert set(found) == {title(row) for row in _rows(page) if "differs" in row.get("class", [])}
    return found


def title(row: Tag) -> str:
    return str(row.th.find(string=True, recursive=False)).strip()


def notices(page: BeautifulSoup) -> str:
    return " ".join(text(notice) for notice in page.select(".notice"))


def _rows(page: BeautifulSoup) -> list[Tag]:
    return [row for row in page.select("table.compared tbody tr:not(.section)") if row.th]
