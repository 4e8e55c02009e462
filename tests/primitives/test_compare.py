import datetime
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.models import Label
from primitives.models import Isolates, Primitive
from tests.compared import columns, differences, notices, page_at, rows
from tests.factories import make_break, make_claim, make_primitive, make_tier

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
        assert len(columns(compared(client, *slugs[first : first + 4]))) == 4


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
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
