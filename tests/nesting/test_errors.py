"""What a reader pastes is looked up, answered with causes, checks and fixes, and forgotten."""

import os

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from nesting.lookup import MOST_BYTES
from nesting.models import Cell, ErrorText, Fix
from tests.factories import make_cell, make_environment, make_error
from tests.nesting.test_patterns import PASTE

pytestmark = pytest.mark.django_db

MOST_QUERIES = 8
PASTES = int(os.environ.get("PASTES", "0")) // 10 or 15


def paste(client: Client, text: str, **headers: str) -> BeautifulSoup:
    response = client.post("/errors/", {"text": text}, headers=headers)
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    return BeautifulSoup(response.content, "html.parser")


def words(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def found(page: BeautifulSoup) -> list[str]:
    return [finding["aria-labelledby"].removeprefix("found-") for finding in page.select(".finding")]


@pytest.mark.usefixtures("content")
def test_a_long_log_shows_each_known_error_once_with_all_that_is_known_of_it(client: Client) -> None:
    errors = list(ErrorText.objects.order_by("slug"))
    log = [f"step {number} ok" for number in range(2000)]
    for number, error in enumerate(errors):
        log[number * 30] = f"12:00:{number:02} \x1b[31m{error.example.splitlines()[0]}\x1b[0m"
    with CaptureQueriesContext(connection) as queries:
        page = paste(client, "\r\n".join(log))
    assert len(queries) <= MOST_QUERIES
    assert all(query["sql"].startswith("SELECT") for query in queries), "nothing of it is stored"
    assert sorted(found(page)) == [error.slug for error in errors]
    cells = Cell.objects.that_print(errors)
    assert sum(map(len, cells.values())) > 60
    for error in errors:
        finding = page.select_one(f'[aria-labelledby="found-{error.slug}"]')
        text = " ".join(finding.get_text(" ").split())
        assert " ".join(error.tool.split()) in text
        assert len(finding.select(".causes li")) == len(error.causes)
        assert len(finding.select(".to-check li")) == len(error.checks)
        assert [link["href"] for link in finding.select(".met a")] == [
            cell.get_absolute_url() for cell in cells[error.pk]
        ]
        assert finding.select_one(".known-by .stamp").get_text() == error.claims.get().label


@pytest.mark.usefixtures("content")
def test_no_fix_is_shown_without_its_cost_and_a_last_resort_comes_last(client: Client) -> None:
    fixes = Fix.objects.all()
    assert fixes.filter(last_resort=True).count() > 40
    assert all(fix.cost.strip() for fix in fixes)
    for text in ("--privileged", "seccomp=unconfined", "apparmor_restrict_unprivileged_userns=0", "docker.sock"):
        assert set(fixes.filter(do__contains=text).values_list("last_resort", flat=True)) == {True}, text
    for address in ("/errors/bwrap-no-permissions/", "/nesting/bubblewrap/docker-default/"):
        page = BeautifulSoup(client.get(address).content, "html.parser")
        shown = page.select(".fixes li")
        assert all(words(fix.select_one(".cost")).removeprefix("Costs:").strip() for fix in shown)
        resorts = ["last-resort" in fix.get("class", []) for fix in shown]
        assert resorts == sorted(resorts)
        assert [len(set(resorts)), resorts[0]] == [2, False]


@pytest.mark.usefixtures("content")
def test_what_nobody_knows_says_so_and_offers_what_is_spelt_most_like_it(client: Client) -> None:
    page = paste(client, "Error: cannot clonne: Operation not permited\nsecond line of sk-secret")
    text = page.select_one("#results").get_text(" ")
    assert "We do not know it" in text
    assert page.select_one("#results .error-links a")["href"] == "/errors/podman-cannot-clone/"
    assert page.select_one('#results a[href="/method/#correct"]')
    assert "sk-secret" not in str(page)
    assert not paste(client, "completely unrelated: 12345").select("#results .error-links")


def test_only_the_line_that_matched_comes_back_as_text_and_short(client: Client) -> None:
    make_error("no", pattern="^bwrap: no", example="bwrap: no")
    page = paste(client, "PASSWORD=hunter2\n<b onclick=x>$ bwrap: no <script>alert(1)</script>\nhunter3")
    assert page.select_one(".finding pre").get_text() == "<b onclick=x>$ bwrap: no <script>alert(1)</script>"
    assert "hunter" not in str(page)
    assert not page.select("b[onclick], #results script")
    assert page.select_one("textarea").get_text() == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * (MOST_BYTES + 1), "more than 64 KB"),
        ("é" * (MOST_BYTES // 2 + 1), "more than 64 KB"),
        (" \r\n ", "nothing in it"),
        ("", "nothing in it"),
    ],
)
def test_too_much_or_nothing_is_said_in_words(client: Client, text: str, words: str) -> None:
    page = paste(client, text)
    assert words in page.select_one("#count").get_text()
    assert not page.select("#results > *")


def test_exactly_as_much_as_is_promised_is_looked_through(client: Client) -> None:
    make_error("no", pattern="^bwrap: no", example="bwrap: no")
    assert found(paste(client, "x" * (MOST_BYTES - 10) + "\nbwrap: no")) == ["no"]


def test_a_page_of_another_site_cannot_paste_and_a_form_can(client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/errors/", {"text": "x"}).status_code == 403
    token = BeautifulSoup(strict.get("/errors/").content, "html.parser").select_one("[name=csrfmiddlewaretoken]")
    assert strict.post("/errors/", {"text": "x", "csrfmiddlewaretoken": token["value"]}).status_code == 200
    assert client.put("/errors/").status_code == 405


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"text=\xff\xfe&text=%00", "application/x-www-form-urlencoded"),
        (b"\x00\x01", "multipart/form-data; boundary=x"),
        (b"{", "application/json"),
        (b"text=x", "application/x-www-form-urlencoded; charset=utf-7"),
        (b"text=" + b"x" * 3_000_000, "application/x-www-form-urlencoded"),
    ],
)
def test_a_broken_request_is_no_error_of_ours(client: Client, body: bytes, kind: str) -> None:
    assert client.post("/errors/", body, content_type=kind).status_code in (200, 400)


def test_one_line_can_be_asked_for_in_the_address(client: Client) -> None:
    make_error("no", pattern="^bwrap: no", example="bwrap: no")
    response = client.get("/errors/", {"q": "bwrap: no"})
    assert response["Cache-Control"] == "no-store"
    assert found(BeautifulSoup(response.content, "html.parser")) == ["no"]


def test_with_htmx_the_parts_that_change_come_and_no_address_is_pushed(client: Client) -> None:
    make_error("no", pattern="^bwrap: no", example="bwrap: no")
    response = client.post("/errors/", {"text": "bwrap: no"}, headers={"HX-Request": "true"})
    page = BeautifulSoup(response.content, "html.parser")
    assert not page.select(".masthead, form")
    assert page.title.get_text(strip=True).startswith("1 known")
    assert page.select_one("#count")["data-hx-swap-oob"] == "innerHTML"
    assert not {"HX-Push-Url", "HX-Replace-Url"} & set(response.headers)
    assert str(page.select_one("#results")) == str(paste(client, "bwrap: no").select_one("#results"))


def test_an_edited_pattern_is_in_force_at_once(client: Client) -> None:
    error = make_error("no", pattern="^bwrap: no", example="bwrap: no")
    assert found(paste(client, "bwrap: no")) == ["no"]
    ErrorText.objects.filter(pk=error.pk).update(pattern="^bwrap: yes", example="bwrap: yes")
    assert found(paste(client, "bwrap: no")) == []
    assert found(paste(client, "bwrap: yes")) == ["no"]


def test_it_costs_as_many_queries_whatever_is_found(client: Client) -> None:
    numbers = []
    for many in (1, 20):
        for number in range(many):
            error = make_error(f"e{many}-{number}", fixes=[{}, {}])
            make_cell(outer=make_environment(f"place-{many}-{number}"), error_lines=[error.example])
        text = "\n".join(ErrorText.objects.values_list("example", flat=True))
        with CaptureQueriesContext(connection) as queries:
            assert len(found(paste(client, text))) == ErrorText.objects.count()
        numbers.append(len(queries))
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/errors/e{many}-0/")
        assert len(queries) <= MOST_QUERIES
    assert numbers[0] == numbers[1] <= MOST_QUERIES


@pytest.mark.usefixtures("content")
def test_the_same_as_data(client: Client) -> None:
    everything = client.get("/errors/", {"format": "json"}).json()["errors"]
    assert {error["slug"] for error in everything} == set(ErrorText.objects.values_list("slug", flat=True))
    (one,) = (error for error in everything if error["slug"] == "bwrap-uid-map-eacces")
    assert one == client.get("/errors/bwrap-uid-map-eacces/", {"format": "json"}).json()
    assert one["claims"][0]["sources"]
    assert one["fixes"][0]["cost"]
    assert one["cells"]
    answer = client.post("/errors/?format=json", {"text": "x\nbwrap: setting up uid map: Permission denied"})
    assert answer["Cache-Control"] == "no-store"
    (sighting,) = answer.json()["found"]
    assert (sighting["line_number"], sighting["error"]) == (2, one)
    assert client.post("/errors/?format=json", {"text": ""}).status_code == 400


@pytest.mark.usefixtures("content")
@hypothesis_settings(max_examples=PASTES, deadline=None, suppress_health_check=list(HealthCheck))
@given(PASTE)
def test_any_paste_is_answered_and_no_markup_comes_back(client: Client, text: str) -> None:
    page = paste(client, f"<zq9 x='1'>{text}\n<zq9>bwrap: pivot_root: Operation not permitted<zq9/>")
    assert "bwrap-pivot-root" in found(page) or "64 KB" in page.select_one("#count").get_text()
    assert not page.select("zq9")
