import re
from functools import partial
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.http import QueryDict
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evidence.models import Label
from primitives.filters import PrimitiveFilterSet
from primitives.models import Isolates, Primitive, Status
from tests.factories import make_break, make_claim, make_primitive, make_tier
from tests.htmx import Reader, shown
from tests.sql import numbers_of_queries

pytestmark = pytest.mark.django_db

REFERENCE = "/primitives/"
MOST_QUERIES = 8


def page_of(client: Client, **query: object) -> BeautifulSoup:
    response = client.get(REFERENCE, query)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def names(page: BeautifulSoup) -> list[str]:
    return [heading.get_text() for heading in page.select(".entry h3")]


def number_found(page: BeautifulSoup) -> int:
    return int(re.match(r"\d+", page.select_one("#count").get_text().strip())[0])


def counts(page: BeautifulSoup, facet: str) -> dict[str, int]:
    return {
        option.input["value"]: int(option.select_one(".count").get_text())
        for option in page.select("label.option")
        if option.input["name"] == facet
    }


# ---- what is found ----


@pytest.mark.usefixtures("content")
def test_every_entry_can_be_reached_page_by_page(client: Client) -> None:
    page, seen = page_of(client), []
    for number in range(1, 100):
        seen += names(page)
        if not page.select_one("[rel=next]"):
            break
        page = page_of(client, page=number + 1)
    assert sorted(seen) == sorted(Primitive.objects.values_list("name", flat=True))
    assert len(seen) == number_found(page)


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("bare", ["", "platform=linux", "q=docker&label=verified-code"])
def test_each_option_leads_to_as_many_entries_as_its_count_says(client: Client, bare: str) -> None:
    there = PrimitiveFilterSet(QueryDict(bare))
    page = BeautifulSoup(client.get(f"{REFERENCE}?{bare}").content, "html.parser")
    followed = 0
    for facet in there.facets():
        assert counts(page, facet.name) == {value: facet.numbers.get(value, 0) for value, _ in facet.options}
        for value, _ in facet.options:
            query = QueryDict(bare, mutable=True)
            before = [] if facet.name in PrimitiveFilterSet.ANY_OF else query.getlist(facet.name)
            query.setlist(facet.name, [*before, value])
            assert PrimitiveFilterSet(query).found().count() == facet.numbers.get(value, 0), query.urlencode()
            followed += 1
    assert followed > 30


def test_several_rungs_widen_and_several_platforms_narrow(client: Client) -> None:
    make_primitive("a", platforms=("linux",))
    make_primitive("b", platforms=("linux", "macos"))
    page = page_of(client, platform=["linux", "macos"])
    assert names(page) == ["b"]
    assert counts(page, "platform")["linux"] == 1


def test_a_label_filter_wants_at_least_one_such_claim(client: Client) -> None:
    verified, documented = make_primitive("verified"), make_primitive("documented")
    make_claim(verified, Label.VERIFIED_CODE)
    make_claim(verified, Label.DOCUMENTED)
    make_claim(documented, Label.DOCUMENTED)
    assert names(page_of(client, label="verified-code")) == ["verified"]
    assert names(page_of(client, label="documented")) == ["documented", "verified"]
    assert names(page_of(client, label=["documented", "verified-code"])) == ["verified"]


def test_isolates_filter_wants_all_that_is_ticked(client: Client) -> None:
    make_primitive("some", isolates=[Isolates.NETWORK])
    make_primitive("more", isolates=[Isolates.NETWORK, Isolates.KERNEL])
    assert names(page_of(client, isolates=["network", "kernel"])) == ["more"]


def test_sorts_by_name_whatever_the_case_by_rung_by_claims_and_by_last_check(client: Client) -> None:
    from datetime import date

    from tests.factories import make_tier

    old = make_primitive("alpha", name="alpha", tier=make_tier("microvm"))
    new = make_primitive("beta", name="Beta", tier=make_tier("container"))
    make_primitive("gamma", name="gamma", tier=make_tier("full-vm"))
    make_claim(old, as_of=date(2024, 1, 1))
    make_claim(old, as_of=date(2024, 1, 2))
    make_claim(new, as_of=date(2026, 1, 1))
    assert names(page_of(client)) == ["alpha", "Beta", "gamma"]
    assert names(page_of(client, sort="tier")) == ["gamma", "alpha", "Beta"]
    assert names(page_of(client, sort="claims")) == ["alpha", "Beta", "gamma"]
    assert names(page_of(client, sort="checked")) == ["Beta", "alpha", "gamma"]


@pytest.mark.usefixtures("content")
def test_the_entry_meant_comes_first_unless_another_order_is_asked_for(client: Client) -> None:
    assert names(page_of(client, q="bwrap"))[0] == "Bubblewrap"
    assert page_of(client, q="bwrap").select_one("option[selected]")["value"] == ""
    by_name = names(page_of(client, q="bwrap", sort="name"))
    assert by_name == sorted(by_name, key=str.lower)


def test_what_there_would_be_without_a_filter_is_said_to_be_more_where_counting_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tier("full-vm")
    for number in range(4):
        make_primitive(slug=f"box-{number}")
    for most, said in ((3, "there are more than 3."), (4, "there are 4.")):
        monkeypatch.setattr(PrimitiveFilterSet, "MOST_COUNTED", most)
        assert said in page_of(client, tier="full-vm").select_one(".nothing").get_text()


@pytest.mark.usefixtures("content")
def test_nothing_found_offers_to_leave_out_the_narrowest_filter(client: Client) -> None:
    page = page_of(client, tier="full-vm", platform="browser", status="active")
    assert number_found(page) == 0
    offer = page.select_one(".nothing a")
    number = int(re.search(r"(\d+)\.$", offer.parent.get_text().strip())[1])
    followed = BeautifulSoup(client.get(offer["href"]).content, "html.parser")
    assert number_found(followed) == number > 0
    others = [
        number_found(page_of(client, **query))
        for query in (
            {"platform": "browser", "status": "active"},
            {"tier": "full-vm", "status": "active"},
            {"tier": "full-vm", "platform": "browser"},
        )
    ]
    assert number == max(others)


def test_nothing_at_all_still_says_so_and_leads_back(client: Client) -> None:
    page = page_of(client, q="zzzzzz", tier="microvm")
    assert "Nothing in the reference" in page.select_one(".nothing").get_text()
    assert page.select_one('.nothing a[href="/primitives/"]')


# ---- hostile addresses ----

ODD = [
    "\x00",
    "a\x00b",
    "x" * 10_000,
    "'",
    '"><script>alert(1)</script>',
    "%",
    "\\",
    "ÿ",
    "🦀",
    "' OR 1=1 --",
    "-1",
    "0",
]
FIELDS = ["q", "p", "tier", "category", "platform", "isolates", "label", "status", "sort", "page", "unheard-of"]


@pytest.mark.parametrize("value", ODD)
def test_an_odd_value_is_left_out_or_refused_and_never_breaks(client: Client, value: str) -> None:
    make_primitive("one")
    everything = {field: [value, value] for field in FIELDS if field != "page"}
    for query in (everything, {"page": value}, {"q": value, "sort": "tier"}):
        response = client.get(REFERENCE, query)
        assert response.status_code in ((200, 404) if "page" in query else (200,)), query
        assert b"<script>alert" not in response.content


@pytest.mark.parametrize("page", ["99", "9" * 30, "9" * 5000, "0", "-1"])
def test_a_page_beyond_the_end_is_a_404_that_says_where_the_end_is(client: Client, page: str) -> None:
    response = client.get(REFERENCE, {"page": page})
    if response.status_code == 404:
        assert "ends with page 1" in response.content.decode()
    else:
        assert page == "9" * 5000  # more digits than Python reads as a number


def test_unknown_values_are_named_and_left_out_while_known_ones_hold(client: Client) -> None:
    make_primitive("here", status=Status.ACTIVE)
    make_primitive("gone", status=Status.ARCHIVED)
    page = page_of(client, status=["active", "nonsense"])
    assert names(page) == ["here"]
    assert "nonsense" in page.select_one(".notice").get_text()


def test_a_search_that_is_too_long_says_so_and_shows_all(client: Client) -> None:
    make_primitive("one")
    page = page_of(client, q="x" * 101)
    assert "at most 100 characters" in page.select_one(".notice").get_text()
    assert names(page) == ["one"]


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.text(max_size=60)), max_size=6))
def test_no_address_breaks_the_reference(query: list[tuple[str, str]]) -> None:
    address = f"{REFERENCE}?{urlencode(query, errors='surrogatepass')}"
    for headers in ({}, {"HX-Request": "true", "HX-Current-URL": address}):
        assert Client().get(address, headers=headers).status_code in (200, 404)


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_the_reference_only_reads(client: Client, method: str) -> None:
    assert getattr(client, method)(REFERENCE).status_code == 405


# ---- htmx ----


@pytest.mark.usefixtures("content")
def test_after_each_swap_the_page_equals_a_fresh_one(client: Client) -> None:
    reader = Reader(client, REFERENCE)
    steps = [
        lambda: reader.tick("tier", "container"),
        lambda: reader.tick("tier", "microvm"),
        lambda: reader.tick("platform", "linux"),
        lambda: reader.type("q", "docker"),
        lambda: reader.choose("sort", "claims"),
        lambda: reader.tick("isolates", "kernel"),
        lambda: reader.tick("label", "inferred"),
        lambda: reader.tick("status", "archived"),
        lambda: reader.tick("category", "unikernel"),
        lambda: reader.tick("status", "archived"),
        lambda: reader.type("q", ""),
        lambda: reader.tick("tier", "container"),
    ]
    for number, step in enumerate(steps):
        step()
        assert reader.shown() == reader.fresh(), f"step {number}: {reader.address}"
    assert "tier=microvm" in reader.address


@pytest.mark.usefixtures("content")
def test_the_address_holds_what_is_in_force_and_nothing_else(client: Client) -> None:
    reader = Reader(client, REFERENCE)
    reader.tick("tier", "microvm")
    assert reader.address == "/primitives/?tier=microvm"
    reader.choose("sort", "tier")
    assert reader.address == "/primitives/?tier=microvm&sort=tier"
    reader.tick("tier", "microvm")
    reader.choose("sort", "")
    assert reader.address == "/primitives/"


@pytest.mark.usefixtures("content")
def test_letters_typed_one_after_the_other_are_one_step_back_and_filters_a_step_each(client: Client) -> None:
    reader = Reader(client, REFERENCE)
    for text in ("f", "fi", "fir"):
        reader.type("q", text)
    reader.tick("tier", "microvm")
    assert reader.history == ["/primitives/", "/primitives/?q=fir", "/primitives/?q=fir&tier=microvm"]


@pytest.mark.usefixtures("content")
def test_a_history_restore_gets_the_whole_page(client: Client) -> None:
    asked = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    whole = client.get(REFERENCE, headers=asked)
    assert shown(BeautifulSoup(whole.content, "html.parser")) == shown(page_of(client))


def test_a_partial_is_never_cached_as_a_page(client: Client) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        assert "HX-Request" in client.get(REFERENCE, headers=headers)["Vary"]


# ---- cost ----


def test_the_reference_costs_as_many_queries_for_few_entries_as_for_many(client: Client) -> None:
    asks = [
        partial(page_of, client, **query)
        for query in ({}, {"q": "alpha"}, {"q": "zzzz", "tier": "container"}, {"platform": "linux", "sort": "checked"})
    ]

    def grow(start: int, end: int) -> None:
        for number in range(start, end):
            primitive = make_primitive(f"alpha-{number}", platforms=("linux", "macos"))
            make_claim(primitive)
            make_break(primitive)

    grow(0, 3)
    few = numbers_of_queries(asks)
    grow(3, 50)
    assert numbers_of_queries(asks) == few
    assert max(few) <= MOST_QUERIES


def test_every_sort_is_offered_the_bare_one_without_a_value(client: Client) -> None:
    offered = [option["value"] for option in page_of(client).select("#sort-by option")]
    assert offered == ["" if name == "name" else name for name in PrimitiveFilterSet.SORTS]
