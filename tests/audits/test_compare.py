from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from audits.models import Agent, Isolation
from evidence.models import Label
from primitives.models import Primitive
from tests.compared import columns, differences, notices, page_at, rows, text
from tests.factories import make_agent, make_agent_break, make_audit, make_claim, make_posture, make_primitive
from tests.htmx import Reader

pytestmark = pytest.mark.django_db

COMPARE = "/audits/compare/"
MOST_QUERIES = 8


def compared(client: Client, *slugs: str, **query: str):
    return page_at(client, COMPARE, {"a": list(slugs), **query})


# ---- what is shown ----


@pytest.mark.usefixtures("content")
def test_codex_and_claude_code_on_macos_as_the_pack_has_them(client: Client) -> None:
    page = compared(client, "codex", "claude-code", platform="macos")
    assert columns(page) == ["Codex", "Claude Code"]
    shown = rows(page)
    assert shown["Runs commands in"] == ["Process sandbox shared kernel", "None your own rights"]
    assert shown["Stands on"] == ["Seatbelt (macOS sandbox)", "nothing"]
    assert [cell.split()[0] for cell in shown["Network"]] == ["off", "open"]
    assert shown["Sandbox cannot start"][1] == "there is none"
    assert shown["Vendor"] == ["OpenAI", "Anthropic"]
    assert shown["Licence"] == ["Apache-2.0", "proprietary"]
    assert "by default already" in shown["Strongest rung here"][0]
    assert "/sandbox" in shown["Strongest rung here"][1]


@pytest.mark.usefixtures("content")
def test_every_agent_can_be_compared_and_what_is_undisclosed_has_no_rung(client: Client) -> None:
    slugs = list(Agent.objects.published().values_list("slug", flat=True))
    assert len(slugs) > 50
    undisclosed = 0
    for first in range(0, len(slugs) - 1, 2):
        page = compared(client, *slugs[first : first + 2])
        for platform in page.select(".compared-platforms a"):
            page = page_at(client, COMPARE + platform["href"])
            row = next(row for row in page.select("table.compared tbody tr") if "Runs commands in" in row.th.get_text())
            for cell in row.select("td"):
                if "Undisclosed" in cell.get_text():
                    undisclosed += 1
                    assert not cell.select(".own, .shared")
                    assert [use["href"] for use in cell.select("use")] == ["#sample-undisclosed"]
    assert undisclosed > 10


def test_a_row_that_differs_says_so_and_the_others_do_not(client: Client) -> None:
    for slug, network in (("one", "off"), ("two", "open")):
        make_posture(make_audit(slug, postures=[]), "container", network_level=network, read_level="box", mode="m")
    marked = differences(compared(client, "one", "two"))
    assert marked["Network"] == "differs"
    assert not {"Reads", "Runs commands in", "Surface", "Mode", "Vendor", "Claims by label"} & set(marked)


def test_the_same_level_in_other_words_differs_in_detail(client: Client) -> None:
    for slug, words in (("one", "the whole disk"), ("two", "every file")):
        make_posture(make_audit(slug, postures=[]), read_level="everything", filesystem_read=words)
    page = compared(client, "one", "two")
    assert differences(page)["Reads"] == "differs in detail"
    assert rows(page)["Reads"] == ["everything the user can the whole disk", "everything the user can every file"]


def test_only_differences_hides_what_is_equal_and_says_how_much(client: Client) -> None:
    for slug, network in (("one", "off"), ("two", "open")):
        make_posture(make_audit(slug, postures=[]), network_level=network)
    page = compared(client, "one", "two", only="differences")
    assert list(rows(page)) == ["Network"]
    assert "1 of 17 rows differ. The others are hidden." in " ".join(page.get_text().split())
    everything = page_at(client, COMPARE + page.find("a", string="Show every row")["href"])
    assert len(rows(everything)) == 17
    assert COMPARE + everything.find("a", string="Show only what differs")["href"] == (
        f"{COMPARE}?a=one&a=two&only=differences"
    )


def test_where_nothing_differs_it_says_so(client: Client) -> None:
    make_audit("one")
    make_audit("two")
    page = compared(client, "one", "two", only="differences")
    assert rows(page) == {}
    assert "No row differs" in page.get_text()


def test_unknown_is_shown_as_unknown(client: Client) -> None:
    make_posture(make_audit("one", postures=[]), "container")
    make_audit("two")
    shown = rows(compared(client, "one", "two"))
    for title in ("Reads", "Writes", "Network", "Credentials", "A person is asked", "Licence"):
        assert shown[title] == ["unknown", "unknown"], title
    assert shown["Stands on"] == ["unknown", "nothing"]
    assert shown["Sandbox cannot start"] == ["unknown", "there is none"]


def test_an_undisclosed_default_shows_no_rung_and_an_unknown_strongest(client: Client) -> None:
    make_posture(make_audit("closed", postures=[]), isolation=Isolation.UNDISCLOSED)
    make_audit("open")
    shown = rows(compared(client, "closed", "open"))
    assert shown["Runs commands in"] == ["Undisclosed the vendor does not say", "None your own rights"]
    assert shown["Stands on"] == ["undisclosed", "nothing"]
    assert shown["Strongest rung here"] == ["unknown", "no box that we know of"]


def test_the_strongest_rung_is_that_of_this_surface_on_this_platform_with_its_flag(client: Client) -> None:
    audit = make_audit("one")
    make_posture(audit, "container", is_default=False, mode="docker", how="--docker")
    make_posture(audit, "microvm", is_default=False, mode="vm", how="--vm", platforms=("macos",))
    other = make_audit(audit.agent, "ide", position=2000)
    make_posture(other, "full-vm", is_default=False, mode="far", how="--far")
    make_posture(make_audit("two", postures=[]), "container")
    shown = rows(compared(client, "one", "two", platform="linux"))
    assert shown["Strongest rung here"] == [
        "container shared kernel with --docker",
        "container shared kernel by default already",
    ]


def test_the_first_surface_that_is_offered_there_speaks_for_the_agent(client: Client) -> None:
    first = make_audit("one", "web", kind="cloud", postures=[{"platforms": ("cloud",)}], position=1)
    make_audit(first.agent, "editor", kind="ide", position=2)
    make_audit("two")
    assert rows(compared(client, "one", "two", platform="linux"))["Surface"] == [
        "editor one editor",
        "command line two cli",
    ]


def test_where_one_is_not_offered_its_cells_say_so(client: Client) -> None:
    make_audit("here")
    make_audit("there", postures=[{"platforms": ("linux", "windows")}])
    page = compared(client, "here", "there", platform="windows")
    shown = rows(page)
    for title in ("Runs commands in", "Known how well", "Surface", "Stands on", "Network", "Strongest rung here"):
        assert shown[title][0] == "not offered", title
        assert differences(page)[title] == "differs"
    assert shown["Vendor"] == ["A vendor", "A vendor"]


def test_counts_claims_by_label_of_published_surfaces_and_breaks(client: Client) -> None:
    audit = make_audit("one", postures=[])
    make_posture(audit, claims=[make_claim(audit, Label.INFERRED), make_claim(audit, Label.DOCUMENTED)])
    make_claim(make_audit(audit.agent, "draft", is_published=False, postures=[]), Label.VERIFIED_CODE)
    make_agent_break(audit.agent, "CVE-2024-1", year=2024)
    make_agent_break(audit.agent, "CVE-2025-1", year=2025)
    make_audit("two")
    shown = rows(compared(client, "one", "two"))
    assert shown["Claims by label"][0] == "verified-code 0 documented 1 inferred 1 undisclosed 0"
    assert shown["Known breaks"] == ["2, the newest of 2025", "none that we know of"]
    assert shown["Known how well"] == ["inferred", "documented"]


# ---- platforms ----


def test_shows_the_platform_that_most_are_offered_on_and_links_to_the_others(client: Client) -> None:
    make_audit("one", postures=[{"platforms": ("linux", "macos")}])
    make_audit("two", postures=[{"platforms": ("macos",)}])
    make_audit("three", postures=[{"platforms": ("macos",)}])
    page = compared(client, "one", "two", "three", only="differences")
    (current,) = page.select(".compared-platforms [aria-current]")
    assert current.get_text() == "macos 3 of 3"
    assert [link["href"] for link in page.select(".compared-platforms a")] == [
        "?a=one&a=two&a=three&only=differences&platform=linux",
        "?a=one&a=two&a=three&only=differences&platform=macos",
    ]


def test_a_platform_that_none_is_offered_on_is_named_and_left_out(client: Client) -> None:
    make_audit("one")
    make_audit("two")
    page = compared(client, "one", "two", platform="amiga")
    assert "None of these is offered on “amiga”: shown is linux." in notices(page)
    assert page.select_one(".compared-platforms [aria-current]").get_text().startswith("linux")


# ---- addresses ----


@pytest.mark.parametrize("query", ["", "?a=one", "?a=one&a=one", "?a=nobody", "?a=one&a=nobody", "?only=differences"])
def test_fewer_than_two_say_so_and_how_to_pick_with_the_known_one_kept(client: Client, query: str) -> None:
    make_audit("one")
    page = page_at(client, COMPARE + query)
    assert "two to four agents" in page.get_text()
    assert not page.select("table")
    kept = "?a=one" if "one" in query else ""
    assert page.select_one(f'main a.button[href="/audits/{kept}"]')


def test_more_than_four_show_the_first_four_and_name_the_others(client: Client) -> None:
    for slug in "abcdef":
        make_audit(slug)
    page = compared(client, *"fedcba")
    assert columns(page) == ["f", "e", "d", "c"]
    assert "At most four stand side by side. Left out: b, a." in notices(page)


def test_unknown_ones_are_named_and_left_out_and_doubles_dropped(client: Client) -> None:
    make_audit("one")
    make_audit("two")
    page = compared(client, "two", "nobody", "one", "two", "x" * 10_000, "\x00")
    assert columns(page) == ["two", "one"]
    assert "there is no “nobody”, “" + "x" * 40 + "”" in notices(page)
    assert "x" * 41 not in page.get_text()


def test_a_draft_is_not_there(client: Client) -> None:
    make_audit("one")
    make_audit("draft", is_published=False)
    make_agent("bare")
    page = compared(client, "one", "draft", "bare")
    assert not page.select("table")
    assert "“draft”, “bare”" in notices(page)


def test_a_draft_surface_is_not_shown(client: Client) -> None:
    audit = make_audit("one", "draft", is_published=False, position=1, postures=[{"tier": "microvm"}])
    make_audit(audit.agent)
    make_audit("two")
    page = compared(client, "one", "two")
    assert "microvm" not in page.get_text()
    assert rows(page)["Surface"][0] == "command line one cli"


def test_one_of_three_can_be_left_out_and_none_of_two(client: Client) -> None:
    for slug in ("one", "two", "three"):
        make_audit(slug)
    page = compared(client, "one", "two", "three", only="differences")
    assert page.select_one("thead th a.leave-out")["href"] == "?a=two&a=three&only=differences"
    assert not compared(client, "one", "two").select(".leave-out")


def test_what_the_lists_form_sends_along_is_dropped_from_the_address(client: Client) -> None:
    make_audit("one")
    make_audit("two")
    response = client.get(f"{COMPARE}?q=&sort=tier&platform=linux&a=one&network=off&a=two&rows=surfaces")
    assert response.status_code == 302
    assert response["Location"] == f"{COMPARE}?a=one&a=two&platform=linux"


FIELDS = ["a", "platform", "only", "q", "unheard-of"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "value", ["\x00", "a\x00b", "x" * 10_000, "'", '"><script>alert(1)</script>', "%", "ÿ", "🦀", "-1"]
)
def test_an_odd_value_is_left_out_and_never_breaks(client: Client, field: str, value: str) -> None:
    make_audit("one")
    make_audit("two")
    for known in ([], ["one", "two"]):
        response = client.get(COMPARE, {"a": known, field: [value, *known, value]}, follow=True)
        assert response.status_code == 200
        assert b"<script>alert" not in response.content


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.text(max_size=60) | st.sampled_from(["one", "two"])), max_size=9))
def test_no_address_breaks_the_comparison(query: list[tuple[str, str]]) -> None:
    for slug in ("one", "two"):
        if not Agent.objects.filter(slug=slug).exists():
            make_audit(slug)
    address = f"{COMPARE}?{urlencode(query, errors='surrogatepass')}"
    assert Client().get(address, follow=True).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_the_comparison_only_reads(client: Client, method: str) -> None:
    assert getattr(client, method)(COMPARE).status_code == 405


# ---- cost ----


def test_costs_as_many_queries_for_little_as_for_much(client: Client) -> None:
    def grow(slugs: str, size: int) -> None:
        for slug in slugs:
            agent = Agent.objects.filter(slug=slug).first() or make_agent(slug)
            for number in range(size):
                primitives: tuple[Primitive, ...] = (make_primitive(), make_primitive())
                audit = make_audit(agent, f"s{agent.audits.count()}", postures=[])
                make_posture(audit, "container", platforms=("linux", "macos"), primitives=primitives)
                make_posture(audit, "microvm", platforms=("linux",), primitives=primitives, is_default=False)
                make_agent_break(agent, f"CVE-{size}-{number}")

    grow("ab", 1)
    with CaptureQueriesContext(connection) as few:
        compared(client, "a", "b")
    grow("abcd", 6)
    with CaptureQueriesContext(connection) as many:
        compared(client, "a", "b", "c", "d", *(f"unknown-{number}" for number in range(50)), platform="macos")
    assert len(few) == len(many) <= MOST_QUERIES


# ---- picked from the matrix ----

MATRIX = "/audits/"


def test_each_agent_has_one_box_among_the_surfaces_too(client: Client) -> None:
    audit = make_audit("one", position=1)
    make_audit(audit.agent, "ide", position=2)
    make_audit("two")
    for rows_of in ("", "surfaces"):
        page = page_at(client, MATRIX, {"rows": rows_of, "a": ["one"]})
        assert [box["value"] for box in page.select(".pick input")] == ["one", "two"]
        assert [text(label) for label in page.select(".pick")] == ["Compare one", "Compare two"]
        assert [box["value"] for box in page.select(".pick input[checked]")] == ["one"]


@pytest.mark.usefixtures("content")
def test_after_each_swap_with_picks_the_page_equals_a_fresh_one(client: Client) -> None:
    reader = Reader(client, MATRIX)
    steps = [
        (lambda: reader.tick("a", "codex"), ["codex"]),
        (lambda: reader.tick("platform", "macos"), ["codex"]),
        (lambda: reader.tick("a", "claude-code"), ["claude-code", "codex"]),
        (lambda: reader.choose_one("rows", "surfaces"), ["claude-code", "codex"]),
        (lambda: reader.tick("a", "cursor"), ["claude-code", "codex", "cursor"]),
        (lambda: reader.tick("isolation", "isolated"), ["claude-code", "codex", "cursor"]),
        (lambda: reader.choose("sort", "tier"), ["claude-code", "codex", "cursor"]),
        (lambda: reader.type("q", "google"), ["claude-code", "codex", "cursor"]),
        (lambda: reader.type("q", "zzzzzz"), ["claude-code", "codex", "cursor"]),
        (lambda: reader.type("q", ""), ["claude-code", "codex", "cursor"]),
        (lambda: reader.choose_one("rows", ""), ["claude-code", "codex", "cursor"]),
        (lambda: reader.tick("isolation", "isolated"), ["claude-code", "codex", "cursor"]),
        (lambda: reader.tick("a", "cursor"), ["claude-code", "codex"]),
    ]
    for number, (step, now) in enumerate(steps):
        step()
        asked = parse_qs(urlsplit(reader.press("#picks button")).query).get("a", [])
        assert sorted(asked) == now, number
        assert reader.shown() == reader.fresh(), f"step {number}: {reader.address}"
    response = client.get(reader.press("#picks button"), follow=True)
    page = BeautifulSoup(response.content, "html.parser")
    assert sorted(columns(page)) == ["Claude Code", "Codex"]
    assert page.select_one(".compared-platforms [aria-current]").get_text().startswith("macOS")


@pytest.mark.usefixtures("content")
def test_a_tick_leaves_the_matrix_alone(client: Client) -> None:
    reader = Reader(client, MATRIX)
    matrix = reader.page.select_one("table.matrix")
    reader.tick("a", "codex")
    assert reader.page.select_one("table.matrix") is matrix
    assert reader.address == "/audits/?a=codex"


def test_a_draft_cannot_be_picked(client: Client) -> None:
    make_audit("one")
    make_audit("draft", is_published=False)
    page = page_at(client, MATRIX, {"a": ["draft", "one"]})
    assert [text(item).split()[0] for item in page.select("#picks li")] == ["one"]
    assert "there is no “draft”" in notices(page)


def test_an_agent_links_to_the_matrix_with_it_picked(client: Client) -> None:
    make_audit("one")
    assert page_at(client, "/audits/one/").select_one(".compare-with a")["href"] == "/audits/?a=one"


@pytest.mark.usefixtures("content")
def test_the_matrix_with_picks_needs_no_more_queries_than_allowed(client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        page_at(client, MATRIX, {"a": ["codex", "cursor", "jules"], "platform": "macos", "rows": "surfaces"})
    assert len(queries) <= MOST_QUERIES


@pytest.mark.parametrize("value", ["\x00", "x" * 10_000, "'", '"><script>alert(1)</script>', "🦀"])
def test_an_odd_pick_never_breaks_the_matrix(client: Client, value: str) -> None:
    make_audit("one")
    for headers in ({}, {"HX-Request": "true", "HX-Trigger": "filters", "HX-Current-URL": f"http://x{MATRIX}?a=\x00"}):
        headers = {name: told.replace("\x00", "%00") for name, told in headers.items()}
        response = client.get(MATRIX, {"a": [value, "one", value]}, headers=headers)
        assert response.status_code == 200
        assert b"<script>alert" not in response.content
