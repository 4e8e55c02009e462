import datetime
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from evidence.models import Label
from primitives.models import Isolates, Primitive
from tests.compared import columns, differences, notices, page_at, rows, text
from tests.factories import make_break, make_claim, make_primitive, make_tier
from tests.htmx import Reader

pytestmark = pytest.mark.django_db

COMPARE = "/primitives/compare/"
MOST_QUERIES = 8


def compared(client: Client, *slugs: str, **query: str):
    return page_at(client, COMPARE, {"p": list(slugs), **query})


# ---- what is shown ----


@pytest.mark.usefixtures("content")
def test_docker_gvisor_and_firecracker_as_the_pack_has_them(client: Client) -> None:
    page = compared(client, "docker-engine", "gvisor", "firecracker")
    shown = rows(page)
    assert shown["Rung"] == ["Container shared kernel", "User-space kernel shared kernel", "microVM own kernel"]
    assert shown["Runs on"] == ["Linux, Windows", "Linux", "Linux"]
    assert shown["Written in"] == ["Go", "Go", "Rust"]
    assert shown["First release"][1:] == ["2018", "2018"]
    assert "KVM" in shown["Builds on"][2]
    assert shown["Kernel"] == ["no", "yes", "yes"]
    marked = differences(page)
    assert marked["Rung"] == marked["Kernel"] == "differs"
    assert "Status" not in marked


@pytest.mark.usefixtures("content")
def test_every_entry_can_be_compared(client: Client) -> None:
    slugs = list(Primitive.objects.values_list("slug", flat=True))
    assert len(slugs) > 100
    for first in range(0, len(slugs) - 3, 4):
        response = client.get(COMPARE, {"p": slugs[first : first + 4]})
        assert response.content.count(b'<th scope="col">') == 4


def test_a_row_that_differs_says_so_and_the_others_do_not(client: Client) -> None:
    make_primitive("one", isolates=[Isolates.NETWORK, Isolates.KERNEL], license="MIT", tier=make_tier("microvm"))
    make_primitive("two", isolates=[Isolates.NETWORK], license="MIT")
    page = compared(client, "one", "two")
    assert differences(page) == {"Rung": "differs", "Kernel": "differs"}
    assert rows(page)["Network"] == ["yes", "yes"]
    assert rows(page)["Kernel"] == ["yes", "no"]
    assert rows(page)["Rung"] == ["microvm own kernel", "container shared kernel"]


def test_only_differences_hides_what_is_equal(client: Client) -> None:
    make_primitive("one", license="MIT")
    make_primitive("two", license="GPL-2.0-only")
    page = compared(client, "one", "two", only="differences")
    assert rows(page) == {"Licence": ["MIT", "GPL-2.0-only"]}
    assert "1 of 20 rows differ" in page.get_text()


def test_several_names_are_equal_in_whatever_order(client: Client) -> None:
    part, other = make_primitive("part"), make_primitive("other")
    make_primitive("one", builds_on=(part, other), platforms=("linux", "macos"))
    make_primitive("two", builds_on=(other, part), platforms=("macos", "linux"))
    assert differences(compared(client, "one", "two")) == {}


def test_unknown_is_shown_as_unknown(client: Client) -> None:
    make_primitive("one")
    make_primitive("two", license="MIT", maintainer="Somebody", first_release=2018, written_in="Go")
    shown = rows(compared(client, "one", "two"))
    assert shown["Licence"] == ["unknown", "MIT"]
    assert shown["Maintainer"] == ["unknown", "Somebody"]
    assert shown["First release"] == ["unknown", "2018"]
    assert shown["Written in"] == ["unknown", "Go"]
    assert shown["Newest claim as of"] == ["unknown", "unknown"]
    assert shown["Builds on"] == ["nothing in this guide", "nothing in this guide"]


def test_counts_claims_by_label_their_newest_day_and_breaks(client: Client) -> None:
    one = make_primitive("one")
    make_primitive("two")
    make_claim(one, Label.INFERRED, as_of=datetime.date(2026, 1, 2))
    make_claim(one, Label.VERIFIED_CODE, as_of=datetime.date(2025, 1, 2))
    make_break(one, "CVE-2019-5736", year=2019)
    make_break(one, "CVE-2024-21626", year=2024)
    shown = rows(compared(client, "one", "two"))
    assert shown["Claims by label"] == [
        "verified-code 1 documented 0 inferred 1 undisclosed 0",
        "verified-code 0 documented 0 inferred 0 undisclosed 0",
    ]
    assert shown["Newest claim as of"] == ["2 January 2026", "unknown"]
    assert shown["Known breaks"] == ["2, the newest of 2024", "none that we know of"]


# ---- addresses ----


@pytest.mark.parametrize("query", ["", "?p=one", "?p=one&p=one", "?p=none", "?p=one&p=none", "?only=differences"])
def test_fewer_than_two_say_so_and_how_to_pick_with_the_known_one_kept(client: Client, query: str) -> None:
    make_primitive("one")
    page = page_at(client, COMPARE + query)
    assert "two to four primitives" in page.get_text()
    assert not page.select("table")
    kept = "?p=one" if "p=one" in query else ""
    assert page.select_one(f'main a.button[href="/primitives/{kept}"]')


def test_more_than_four_show_the_first_four_and_name_the_others(client: Client) -> None:
    for slug in "abcdef":
        make_primitive(slug)
    page = compared(client, *"fedcba")
    assert columns(page) == ["f", "e", "d", "c"]
    assert "At most four stand side by side. Left out: b, a." in notices(page)


def test_unknown_ones_are_named_and_left_out_and_doubles_dropped(client: Client) -> None:
    make_primitive("one")
    make_primitive("two")
    page = compared(client, "two", "nothing", "one", "two", "x" * 10_000, "\x00")
    assert columns(page) == ["two", "one"]
    assert "there is no “nothing”, “" + "x" * 40 + "”" in notices(page)


def test_what_the_lists_form_sends_along_is_dropped_from_the_address(client: Client) -> None:
    make_primitive("one")
    make_primitive("two")
    response = client.get(f"{COMPARE}?q=&sort=tier&platform=linux&p=one&p=two")
    assert response.status_code == 302
    assert response["Location"] == f"{COMPARE}?p=one&p=two"


FIELDS = ["p", "only", "q", "unheard-of"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "value", ["\x00", "a\x00b", "x" * 10_000, "'", '"><script>alert(1)</script>', "%", "ÿ", "🦀", "-1"]
)
def test_an_odd_value_is_left_out_and_never_breaks(client: Client, field: str, value: str) -> None:
    make_primitive("one")
    make_primitive("two")
    for known in ([], ["one", "two"]):
        response = client.get(COMPARE, {"p": known, field: [value, *known, value]}, follow=True)
        assert response.status_code == 200
        assert b"<script>alert" not in response.content


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.text(max_size=60) | st.sampled_from(["one", "two"])), max_size=9))
def test_no_address_breaks_the_comparison(query: list[tuple[str, str]]) -> None:
    for slug in ("one", "two"):
        if not Primitive.objects.filter(slug=slug).exists():
            make_primitive(slug)
    address = f"{COMPARE}?{urlencode(query, errors='surrogatepass')}"
    assert Client().get(address, follow=True).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_the_comparison_only_reads(client: Client, method: str) -> None:
    assert getattr(client, method)(COMPARE).status_code == 405


# ---- cost ----


def test_costs_as_many_queries_for_little_as_for_much(client: Client) -> None:
    def grow(slugs: str, size: int) -> None:
        for slug in slugs:
            parts = tuple(make_primitive() for _ in range(size))
            primitive = make_primitive(slug, platforms=("linux", "macos"), builds_on=parts)
            for number in range(size):
                make_claim(primitive)
                make_break(primitive, f"CVE-{number}")

    grow("ab", 1)
    with CaptureQueriesContext(connection) as few:
        compared(client, "a", "b")
    grow("cdef", 6)
    with CaptureQueriesContext(connection) as many:
        compared(client, *"cdef", *(f"unknown-{number}" for number in range(50)))
    assert len(few) == len(many) <= MOST_QUERIES


# ---- picked from the list ----

REFERENCE = "/primitives/"


def picked(page: BeautifulSoup) -> list[str]:
    """The names in the bar."""
    return [text(item).split(" Take out")[0] for item in page.select("#picks li")]


def sent(reader: Reader, key: str = "p") -> list[str]:
    """What the form would send as picked; nothing twice."""
    asked = parse_qs(urlsplit(reader.press("#picks button")).query).get(key, [])
    assert len(asked) == len(set(asked))
    return asked


def test_each_entry_has_a_box_with_its_name_and_what_is_picked_is_ticked_and_named(client: Client) -> None:
    make_primitive("one", name="One")
    make_primitive("two", name="Two")
    page = page_at(client, REFERENCE, {"p": ["two"]})
    assert [text(label) for label in page.select(".entry .pick")] == ["Compare One", "Compare Two"]
    assert [box["value"] for box in page.select(".pick input[checked]")] == ["two"]
    assert picked(page) == ["Two"]
    assert page.select_one("#picks button").get_text() == "Compare (1)"
    assert page.select_one("#picks button")["formaction"] == COMPARE


@pytest.mark.usefixtures("content")
def test_after_each_swap_with_picks_the_page_equals_a_fresh_one(client: Client) -> None:
    reader = Reader(client, REFERENCE)
    steps = [
        (lambda: reader.tick("p", "apparmor"), ["apparmor"]),
        (lambda: reader.tick("platform", "linux"), ["apparmor"]),
        (lambda: reader.tick("p", "bubblewrap"), ["apparmor", "bubblewrap"]),
        (lambda: reader.tick("tier", "microvm"), ["apparmor", "bubblewrap"]),
        (lambda: reader.tick("p", "firecracker"), ["apparmor", "bubblewrap", "firecracker"]),
        (lambda: reader.choose("sort", "claims"), ["apparmor", "bubblewrap", "firecracker"]),
        (lambda: reader.type("q", "zzzzzz"), ["apparmor", "bubblewrap", "firecracker"]),
        (lambda: reader.type("q", ""), ["apparmor", "bubblewrap", "firecracker"]),
        (lambda: reader.follow('#picks a[hx-get*="p=bubblewrap&p=firecracker"]'), ["bubblewrap", "firecracker"]),
        (lambda: reader.tick("p", "firecracker"), ["bubblewrap"]),
        (lambda: reader.tick("tier", "microvm"), ["bubblewrap"]),
        (lambda: reader.follow("#clear-picks"), []),
    ]
    for number, (step, now) in enumerate(steps):
        step()
        assert sorted(sent(reader)) == now, number
        assert reader.shown() == reader.fresh(), f"step {number}: {reader.address}"
    assert reader.address == "/primitives/?platform=linux&sort=claims"


@pytest.mark.usefixtures("content")
def test_a_tick_leaves_the_list_alone_and_the_later_page_where_it_is(client: Client) -> None:
    reader = Reader(client, f"{REFERENCE}?sort=tier&page=2")
    first = reader.page.select_one(".entry .pick input")["value"]
    results = reader.page.select_one(".entries")
    reader.tick("p", first)
    assert reader.page.select_one(".entries") is results
    assert reader.address == f"{REFERENCE}?p={first}&sort=tier&page=2"
    assert reader.shown() == reader.fresh()
    assert f"p={first}" in reader.page.select_one("[rel=prev]")["href"]


@pytest.mark.usefixtures("content")
def test_a_tick_while_a_filter_is_under_way_gets_the_whole_answer(client: Client) -> None:
    reader = Reader(client, REFERENCE)
    reader.page.select_one("#tier-microvm")["checked"] = ""
    reader.tick("p", "apparmor")
    assert reader.address == "/primitives/?tier=microvm&p=apparmor"
    assert reader.shown() == reader.fresh()


@pytest.mark.usefixtures("content")
def test_links_of_the_list_keep_the_picks(client: Client) -> None:
    page = page_at(client, f"{REFERENCE}?p=gvisor&q=zzzzzz&tier=microvm")
    links = [*page.select(".nothing a"), page.select_one("#clear-filters a")]
    assert len(links) >= 2
    for link in links:
        assert parse_qs(urlsplit(link["href"]).query)["p"] == ["gvisor"]
    assert "p=gvisor" in page_at(client, f"{REFERENCE}?p=gvisor").select_one("[rel=next]")["href"]


def test_unknown_picks_are_named_and_left_out(client: Client) -> None:
    make_primitive("one")
    page = page_at(client, REFERENCE, {"p": ["one", "nothing", "one", "\x00"]})
    assert picked(page) == ["one"]
    assert "there is no “nothing”" in notices(page)


def test_more_than_four_can_be_picked_and_the_bar_says_how_many_fit(client: Client) -> None:
    for slug in "abcde":
        make_primitive(slug)
    page = page_at(client, REFERENCE, {"p": list("abcde")})
    assert text(page.select_one("#picked")) == "5 picked , of which the first 4 stand side by side"


def test_the_button_leads_to_the_comparison_by_the_form_alone(client: Client) -> None:
    for slug in ("one", "two", "three"):
        make_primitive(slug, tier=make_tier("microvm" if slug == "one" else "container"))
    reader = Reader(client, f"{REFERENCE}?tier=container&p=one")
    reader.page.select_one("#pick-three")["checked"] = ""
    response = client.get(reader.press("#picks button"), follow=True)
    ((address, status),) = response.redirect_chain
    assert status == 302
    assert address in (f"{COMPARE}?p=three&p=one", f"{COMPARE}?p=one&p=three")
    assert sorted(columns(BeautifulSoup(response.content, "html.parser"))) == ["one", "three"]


def test_an_entry_links_to_the_list_with_it_picked(client: Client) -> None:
    make_primitive("one")
    page = page_at(client, "/primitives/one/")
    assert page.select_one(".compare-with a")["href"] == "/primitives/?p=one"


def test_the_list_costs_one_query_for_picks_however_many(client: Client) -> None:
    slugs = [make_primitive().slug for _ in range(20)]
    costs = []
    for number in (1, 20):
        with CaptureQueriesContext(connection) as queries:
            page_at(client, REFERENCE, {"p": slugs[:number], "tier": "container"})
        costs.append(len(queries))
    assert costs[0] == costs[1] <= MOST_QUERIES


def test_the_answer_of_a_tick_is_never_taken_for_another(client: Client) -> None:
    for header in ("HX-Request", "HX-Current-URL"):
        assert header in client.get(REFERENCE)["Vary"]
