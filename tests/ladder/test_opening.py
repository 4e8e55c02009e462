"""A rung opens in place: what it says then, and that the address says which are open."""

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import RUNGS, make_audit, make_claim, make_posture, make_primitive, make_tier
from tests.htmx import Reader

pytestmark = pytest.mark.django_db


@pytest.fixture
def six_rungs() -> None:
    for slug in RUNGS:
        make_tier(slug)


def opened(page: BeautifulSoup) -> list[str]:
    return [rung["id"].removeprefix("rung-") for rung in page.select(".rung:has(.within)")]


@pytest.mark.usefixtures("six_rungs")
@pytest.mark.parametrize("address", ["/", "/ladder/"])
def test_rungs_open_and_close_each_for_itself_and_the_page_equals_a_fresh_one(client: Client, address: str) -> None:
    reader = Reader(client, address)
    for slug, now, query in [
        ("container", ["container"], "?open=container"),
        ("microvm", ["microvm", "container"], "?open=microvm&open=container"),
        ("container", ["microvm"], "?open=microvm"),
        ("microvm", [], ""),
    ]:
        link = reader.page.select_one(f"#open-{slug}")
        assert link["aria-expanded"] == ("false" if slug in now else "true")
        assert link["href"] == f"{link['hx-get']}#rung-{slug}"
        reader.follow(f"#open-{slug}")
        assert reader.address == address + query
        assert opened(reader.page) == now
        assert reader.shown() == reader.fresh()


@pytest.mark.usefixtures("six_rungs")
def test_an_open_rung_says_what_it_is_what_stands_on_it_and_who_runs_on_it(client: Client) -> None:
    known, unknown = make_primitive("known", tier=make_tier("microvm")), make_primitive("a", tier=make_tier("microvm"))
    make_primitive("draft", tier=make_tier("microvm"), is_published=False)
    make_posture(make_audit("agent", postures=[]), "microvm", primitives=(known,))
    make_posture(make_audit("raisable"), "microvm", is_default=False, primitives=(unknown,), platforms=("macos",))
    make_posture(make_audit("draft-agent", postures=[], is_published=False), "microvm")
    page = BeautifulSoup(client.get("/ladder/?open=microvm").content, "html.parser")
    (within,) = page.select(".within")
    said = {line.dt.get_text(): " ".join(line.dd.get_text().split()) for line in within.select("dl > div")}
    assert said == {
        "What a box shares": "The shares of microvm.",
        "What a break costs": "The break_cost of microvm.",
        "Start-up": "No figure with a source.",
        "Overhead": "No figure with a source.",
        "Most used here": "a, known",
        "Agents that run on it by default": "agent",
    }
    assert "The summary of microvm." in within.get_text()
    assert within.select_one('a[href="/ladder/microvm/"]').get_text() == "All about this rung: microvm"
    assert within.select_one(".core-sample.large")["aria-label"].startswith("microvm: ")
    assert page.select_one("#open-microvm")["aria-controls"] == within["id"]


@pytest.mark.usefixtures("six_rungs")
@pytest.mark.parametrize("slug", ["<script>", "nope", "%00", "x" * 5000])
def test_a_rung_that_there_is_not_is_said_not_to_be(client: Client, slug: str) -> None:
    page = BeautifulSoup(client.get("/ladder/", {"open": [slug, "container"]}).content, "html.parser")
    assert page.select_one(".notice").get_text() == f"There is no rung “{slug[:40]}” to open."
    assert opened(page) == ["container"]
    assert not page.select("main script")


@pytest.mark.parametrize("address", ["/ladder/", "/ladder/?open=container&open=microvm", "/?open=container"])
def test_open_rungs_cost_no_more_queries_for_much_than_for_little(client: Client, address: str) -> None:
    def grow(number: int) -> None:
        for slug in ("container", "microvm"):
            for _ in range(number):
                make_claim(make_primitive(tier=make_tier(slug)))
                make_posture(make_audit(postures=[]), slug)

    grow(1)
    costs = []
    for number in (0, 6):
        grow(number)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 8
