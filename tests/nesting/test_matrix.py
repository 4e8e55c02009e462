"""The matrix, the answer to two choices, and what leads to them."""

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evidence.models import Claim, Label
from nesting.models import Cell, Environment, Inner, Result
from tests.factories import (
    make_agent,
    make_audit,
    make_cell,
    make_environment,
    make_inner,
    make_posture,
    make_primitive,
)
from tests.htmx import Reader

pytestmark = pytest.mark.django_db

MOST_QUERIES = 8


def page_of(client: Client, address: str, status: int = 200) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == status
    return BeautifulSoup(response.content, "html.parser")


def words(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def states(page: BeautifulSoup) -> list[str]:
    return [state["class"][1] for state in page.select(".nest td > a .state")]


def number_beside(page: BeautifulSoup, name: str, value: str) -> int:
    return int(page.select_one(f'label[for="{name}-{value}"] .count').get_text())


@pytest.mark.usefixtures("content")
def test_every_combination_is_in_the_matrix_and_five_states_look_and_read_differently(client: Client) -> None:
    page = page_of(client, "/nesting/")
    everything = states(page)
    assert len(everything) == Inner.objects.count() * Environment.objects.count()
    for result in Result:
        number = Cell.objects.filter(result=result).count()
        assert everything.count(result.value) == number == number_beside(page, "result", result.value) > 0
    assert everything.count("not-looked") == len(everything) - Cell.objects.count() > 0
    assert {state.get_text(strip=True) for state in page.select(".nest td .state")} == {
        *("works", "needs a setting", "fails", "unknown", "not looked at")
    }
    labels = {small.get_text() for small in page.select(".nest td small")}
    assert labels == set(Label.values)
    assert words(page.select_one("#count")).startswith(f"{Cell.objects.count()} combinations looked at")


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"result": ["fails"], "label": ["inferred"]}, {"result": "fails", "claims__label": "inferred"}),
        ({"outer": ["docker-default"]}, {"outer__slug": "docker-default"}),
        ({"inner": ["seccomp", "gvisor"]}, {"inner__slug__in": ["seccomp", "gvisor"]}),
        ({"outer": ["wsl1"], "result": ["works", "fails"]}, {"outer__slug": "wsl1", "result__in": ["works", "fails"]}),
    ],
)
def test_a_filter_shows_what_it_promises(client: Client, query: dict[str, list[str]], found: dict[str, str]) -> None:
    page = BeautifulSoup(client.get("/nesting/", query).content, "html.parser")
    shown = [state for state in states(page) if state != "not-looked"]
    assert len(shown) == Cell.objects.filter(**found).count() > 0
    data = client.get("/nesting/", {**query, "format": "json"}).json()
    assert len(data["cells"]) == len(shown)


@pytest.mark.usefixtures("content")
def test_with_htmx_a_filter_and_an_opened_cell_give_what_their_address_gives(client: Client) -> None:
    reader = Reader(client, "/nesting/")
    reader.tick("outer", "docker-default")
    assert reader.address == "/nesting/?outer=docker-default"
    assert reader.shown() == reader.fresh()
    reader.follow("#at-bubblewrap-docker-default")
    assert reader.address == "/nesting/?outer=docker-default&open=bubblewrap.docker-default"
    assert reader.shown() == reader.fresh()
    opened = reader.page.select_one(".opened")
    assert "No permissions to create" in words(opened)
    assert reader.page.select_one("#at-bubblewrap-docker-default")["aria-expanded"] == "true"
    assert "Open: bubblewrap" in words(reader.page.select_one("#count"))
    reader.follow("#at-bubblewrap-docker-default")
    assert reader.address == "/nesting/?outer=docker-default"
    assert not reader.page.select(".opened")


@pytest.mark.usefixtures("content")
def test_a_hostile_address_is_answered_in_words(client: Client) -> None:
    page = page_of(client, "/nesting/?inner=zzz&result=%00&label=&open=..%00&sort=x&page=9&format=xml")
    assert "there is no “zzz”" in words(page.select_one(".notice"))
    page = page_of(client, "/nesting/?result=unknown&inner=seccomp")
    assert "Nothing that was looked at fits" in words(page.select_one(".nothing"))


@pytest.mark.usefixtures("content")
def test_two_choices_lead_to_the_answer_which_stands_first(client: Client) -> None:
    answer = client.get("/nesting/answer/", {"in": "docker-default", "want": "bubblewrap"}, follow=True)
    assert answer.redirect_chain == [("/nesting/bubblewrap/docker-default/", 302)]
    page = BeautifulSoup(answer.content, "html.parser")
    assert words(page.h1) == "bubblewrap in a Docker container with default settings"
    assert words(page.select_one("#answer .verdict-line")).startswith("fails No. Docker's default seccomp profile")
    at_once = page.select_one(".at-once")
    assert [words(dt) for dt in at_once.select("dt")] == ["You will see", "Least dangerous fix", "It costs"]
    assert len(at_once.select("pre")) == 4
    assert [option["value"] for option in page.select("#choice option[selected]")] == ["docker-default", "bubblewrap"]
    assert "/errors/bwrap-no-permissions/" in {link["href"] for link in page.select(".error-links a")}
    assert page.select_one("#answer .claim#result .stamp.verified-code")
    for nonsense in ({}, {"in": "docker-default"}, {"in": "../..", "want": "\0"}, {"in": "a" * 99, "want": "b"}):
        assert client.get("/nesting/answer/", nonsense).headers["Location"] == "/nesting/"
    assert client.get("/nesting/answer/", {"in": "moon", "want": "bubblewrap"}, follow=True).status_code == 404


@pytest.mark.usefixtures("content")
def test_another_choice_with_htmx_gives_what_the_answers_address_gives(client: Client) -> None:
    reader = Reader(client, "/nesting/bubblewrap/docker-default/")
    response = client.get("/nesting/gvisor/wsl2/", headers={"HX-Request": "true"})
    assert response["HX-Push-Url"] == "/nesting/gvisor/wsl2/"
    part = BeautifulSoup(response.content, "html.parser")
    fresh = page_of(client, "/nesting/gvisor/wsl2/")
    assert str(part.select_one("#answer")) == str(fresh.select_one("#answer"))
    assert words(part.title) == words(fresh.title)
    assert reader.page.select_one("#choice")["hx-target"] == "#answer"


@pytest.mark.usefixtures("content")
def test_what_nobody_looked_at_says_so_and_asks_for_a_report(client: Client) -> None:
    page = page_of(client, "/nesting/nsjail/codespaces/")
    assert "Nobody has looked yet whether nsjail runs in a GitHub codespace" in words(page.select_one("#answer"))
    assert page.select_one('#answer a[href="/method/#correct"]')
    page = page_of(client, "/nesting/nsjail/")
    assert len(page.select(".everywhere li")) == Environment.objects.count()
    assert len(page.select(".everywhere .not-looked")) == Environment.objects.count() - 7
    page_of(client, "/nesting/nsjail/moon/", status=404)
    page_of(client, "/nesting/moon/", status=404)


@pytest.mark.usefixtures("content")
def test_every_cell_has_its_page_and_its_claim_leads_there(client: Client) -> None:
    for cell in Cell.objects.named().filter(inner__slug="rootless-podman"):
        page = page_of(client, cell.get_absolute_url())
        assert page.select_one("#answer .verdict-line .state")["class"][1] == cell.result
        assert len(page.select(".at-once pre")) == len(cell.error_lines)
        assert len(page.select("h1")) == 1
        ids = [element["id"] for element in page.select("[id]")]
        assert len(ids) == len(set(ids))
    claim = Claim.objects.get(address="cell.bubblewrap.docker-default.result")
    assert claim.get_place_url() == "/nesting/bubblewrap/docker-default/#result"
    page = page_of(client, claim.get_absolute_url())
    assert page.find("a", href=claim.get_place_url())


def test_pages_cost_as_many_queries_whatever_they_hold(client: Client) -> None:
    inner = make_inner("small")
    cell = make_cell(inner, make_environment("small"))
    numbers = {}
    for size in ("small", "large"):
        if size == "large":
            for number in range(12):
                make_cell(inner, make_environment(f"e{number}"), fixes=[{}] * 5)
        for address in (
            *("/nesting/", "/nesting/?open=small.small", "/nesting/?result=fails", "/nesting/?format=json"),
            *(cell.get_absolute_url(), inner.get_absolute_url(), "/nesting/?inner=zzz&result=unknown"),
        ):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address).status_code == 200
            assert len(queries) <= MOST_QUERIES, (address, len(queries))
            assert numbers.setdefault(address, len(queries)) == len(queries), address


def test_a_primitive_and_an_agent_lead_to_where_they_run(client: Client) -> None:
    part = make_primitive("bubblewrap")
    whole = make_primitive("codex-sandbox", builds_on=(part,))
    inner = make_inner("bubblewrap")
    inner.primitives.add(part)
    cell = make_cell(inner, make_environment("docker-default"))
    make_cell(inner, make_environment("wsl2"), result="works")
    own = page_of(client, "/primitives/bubblewrap/").select_one(".runs-inside")
    assert [link["href"] for link in own.select(".inside a")] == [
        cell.get_absolute_url(),
        "/nesting/bubblewrap/wsl2/",
    ]
    of_part = page_of(client, "/primitives/codex-sandbox/").select_one(".runs-inside")
    assert words(of_part).endswith("What it is built of: bubblewrap (fails in 1, works in 1).")
    assert not page_of(client, f"/primitives/{make_primitive('other').slug}/").select(".runs-inside")
    agent = make_agent("codex")
    make_posture(make_audit(agent, postures=[]), "container", primitives=(whole,))
    section = page_of(client, "/audits/codex/").select_one(".runs-inside")
    assert section.select_one('a[href="/nesting/bubblewrap/"]')
    make_posture(make_audit("bare", postures=[]))
    assert not page_of(client, "/audits/bare/").select(".runs-inside")
