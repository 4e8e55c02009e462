"""The ledger: what its filters find is what the database holds, in one address, for few claims as for many."""

import csv
import datetime
import io
import json
import re
from functools import partial
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from evidence import ledger
from evidence.ledger import LedgerFilterSet
from evidence.models import Claim, Label
from tests.factories import make_audit, make_claim, make_primitive, make_source, make_tier
from tests.htmx import Reader, shown
from tests.sql import numbers_of_queries

pytestmark = pytest.mark.django_db

LEDGER = "/evidence/"
MOST_QUERIES = 8
FIELDS = [*LedgerFilterSet.base_filters, "sort", "page", "p", "unheard-of"]


def page_of(client: Client, **query: object) -> BeautifulSoup:
    response = client.get(LEDGER, query)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def slugs(page: BeautifulSoup) -> list[str]:
    return [link["href"].strip("/").split(".")[-1] for link in page.select("#results .sentence a")]


def number_found(page: BeautifulSoup) -> int:
    return int(re.search(r"\d+", page.select_one("#count").get_text())[0])


def counts(page: BeautifulSoup, facet: str) -> dict[str, str]:
    return {
        option.input["value"]: option.select_one(".count").get_text()
        for option in page.select("label.option")
        if option.input["name"] == facet
    }


# ---- what is found ----


@pytest.mark.usefixtures("content")
def test_every_published_claim_can_be_reached_page_by_page_and_no_other(client: Client) -> None:
    page, seen = page_of(client), set()
    for number in range(2, 100):
        seen |= {link["href"] for link in page.select("#results .sentence a")}
        if not page.select_one("[rel=next]"):
            break
        page = page_of(client, page=number)
    assert seen == {claim.get_absolute_url() for claim in Claim.objects.published()}
    assert len(seen) == number_found(page)


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("others", [{}, {"q": "network", "label": "documented"}])
def test_each_option_leads_to_as_many_claims_as_its_count_says(client: Client, others: dict) -> None:
    page = page_of(client, **others)
    for facet in LedgerFilterSet.FACETS:
        options = counts(page, facet)
        assert options, facet
        # Of a long list the first, one amid and the last: those with most and with fewest.
        for value in dict.fromkeys([*options][:: max(1, len(options) // 2)]) if len(options) > 4 else options:
            if others.get(facet) != value:
                found = page_of(client, **{**others, facet: [value]})
                assert str(number_found(found)) == options[value], (facet, value)


def test_each_filter_finds_what_it_says(client: Client) -> None:
    today = timezone.localdate()
    on_tier = make_claim(make_tier("microvm"), Label.DOCUMENTED, slug="on-tier", as_of=today, aspect="usage")
    primitive = make_primitive("gvisor", tier=make_tier("microvm"))
    on_primitive = make_claim(primitive, Label.VERIFIED_CODE, slug="on-primitive", as_of=datetime.date(2001, 1, 1))
    audit = make_audit("codex", postures=[{"claims": []}], is_published=False)
    on_audit = make_claim(audit, Label.UNDISCLOSED, slug="on-audit", as_of=today - datetime.timedelta(days=120))
    audit.postures.get().claims.add(on_audit)
    type(audit).objects.update(is_published=True)
    make_source(on_audit, "package")
    for query, expected in [
        ({}, {"on-tier", "on-primitive", "on-audit"}),
        ({"label": ["documented", "undisclosed"]}, {"on-tier", "on-audit"}),
        ({"kind": "audit"}, {"on-audit"}),
        ({"tier": "microvm"}, {"on-tier", "on-primitive"}),
        ({"aspect": "usage"}, {"on-tier"}),
        ({"agent": "codex"}, {"on-audit"}),
        ({"primitive": "gvisor"}, {"on-primitive"}),
        ({"source_kind": "package"}, {"on-audit"}),
        ({"source_kind": ["doc", "code"]}, {"on-tier", "on-primitive", "on-audit"}),
        ({"source": "github.com/google/gvisor"}, {"on-primitive"}),
        ({"source": ["gvisor.dev", "pkg:npm"]}, {"on-tier", "on-audit"}),
        ({"freshness": "fresh"}, {"on-tier"}),
        ({"freshness": ["due", "stale"]}, {"on-primitive", "on-audit"}),
        ({"freshness": "due", "kind": "primitive"}, set()),
    ]:
        assert set(slugs(page_of(client, **query))) == expected, query
    assert slugs(page_of(client)) == ["on-tier", "on-audit", "on-primitive"]
    assert slugs(page_of(client, sort="oldest")) == ["on-primitive", "on-audit", "on-tier"]
    assert {on_tier.address, on_primitive.address} < {*Claim.objects.values_list("address", flat=True)}


def test_a_search_finds_words_the_best_match_first_or_by_date(client: Client) -> None:
    make_claim(slug="once", sentence="The quokka is kept away from the file system of the host and so on.")
    make_claim(slug="twice", sentence="A quokka sees no quokka.", as_of=datetime.date(2001, 1, 1))
    make_claim(slug="never")
    assert slugs(page_of(client, q="quokkas")) == ["twice", "once"]
    assert slugs(page_of(client, q="quokkas", sort="newest")) == ["once", "twice"]


def test_drafts_are_neither_found_nor_counted_nor_named(client: Client) -> None:
    draft = make_claim(make_audit("secret", postures=[], is_published=False), slug="hidden", sentence="A quokka.")
    make_source(draft, url="https://secret.example/")
    for query in ({}, {"q": "quokka"}, {"agent": "secret"}, {"source": "secret.example"}):
        page = page_of(client, **query)
        assert slugs(page) == []
        for notice in page.select(".notice"):
            notice.extract()
        assert "secret" not in page.find("main").get_text()
        assert counts(page, "agent") == counts(page, "source") == {}
        assert set(counts(page, "label").values()) == {"0"}


def test_nothing_found_offers_to_leave_out_the_narrowest_filter(client: Client) -> None:
    make_claim(label=Label.DOCUMENTED)
    make_claim(label=Label.INFERRED)
    page = page_of(client, label="undisclosed", kind="primitive")
    offer = page.select_one(".nothing a")
    assert "there are 2" in offer.parent.get_text()
    assert number_found(BeautifulSoup(client.get(offer["href"]).content, "html.parser")) == 2
    assert "No claim fits" in page_of(client, q="zzzz", tier="nowhere").select_one(".nothing").get_text()


# ---- many ----


def test_above_a_number_it_counts_no_further_and_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LedgerFilterSet, "MOST_COUNTED", 3)
    primitive = make_primitive()
    for number in range(5):
        make_claim(primitive, Label.DOCUMENTED if number else Label.INFERRED)
    page = page_of(client)
    assert page.select_one("#count").get_text().strip() == "More than 3 claims"
    assert {count[-1] for count in counts(page, "label").values()} == {"+"}
    assert "more than the ledger turns pages for" in page.select_one("#results .notice").get_text()
    # Each filter is counted over what the others find: of the inferred there is one, and of all labels there are many.
    page = page_of(client, label="inferred")
    assert page.select_one("#count").get_text().strip() == "1 claim"
    assert counts(page, "kind")["primitive"] == "1"
    assert counts(page, "label")["documented"].endswith("+")


def test_of_a_long_list_of_options_those_with_most_are_shown_and_those_chosen(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MOST_OPTIONS", 2)
    for number in range(4):
        primitive = make_primitive(f"p{number}")
        for _ in range(number + 1):
            make_claim(primitive)
    page = page_of(client, primitive="p0")
    assert counts(page, "primitive") == {"p3": "4", "p2": "3", "p0": "1"}
    assert "and 2 more" in page.select_one(".more").get_text()


def test_it_costs_as_many_queries_for_few_claims_as_for_many(client: Client) -> None:
    asks = [
        partial(page_of, client, **query)
        for query in ({}, {"q": "sentry", "sort": "oldest"}, {"q": "zz", "label": "inferred"})
    ]

    def grow(number: int) -> None:
        for _ in range(number):
            make_claim(make_primitive(), sources=["doc", "package"])
            make_claim(make_audit())

    grow(2)
    few = numbers_of_queries(asks)
    grow(20)
    assert numbers_of_queries(asks) == few
    assert max(few) <= MOST_QUERIES


# ---- hostile addresses ----


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.text(max_size=60)), max_size=6))
def test_no_address_breaks_the_ledger(query: list[tuple[str, str]]) -> None:
    address = f"{LEDGER}?{urlencode(query, errors='surrogatepass')}"
    for headers in ({}, {"HX-Request": "true", "HX-Current-URL": address, "HX-Trigger": "filters"}):
        assert Client().get(address, headers=headers).status_code in (200, 404)


def test_odd_values_are_named_and_left_out(client: Client) -> None:
    make_claim(slug="here")
    odd = ["\x00", "x" * 10_000, "'", '"><script>alert(1)</script>', "%", "🦀", "-1"]
    for field in FIELDS:
        response = client.get(LEDGER, {field: odd * 10})
        assert response.status_code == (404 if field == "page" else 200), field
        assert b"<script>alert" not in response.content
    page = page_of(client, label=["documented", "nonsense"], agent="nobody")
    assert slugs(page) == ["here"]
    assert "nonsense" in page.select("#results .notice")[0].get_text()
    assert "nobody" in page.select("#results .notice")[1].get_text()
    assert "ends with page 1" in client.get(LEDGER, {"page": "99"}).content.decode()
    assert client.post(LEDGER).status_code == 405


# ---- htmx ----


@pytest.mark.usefixtures("content")
def test_after_each_swap_the_page_equals_a_fresh_one_and_the_address_says_what_is_in_force(client: Client) -> None:
    reader = Reader(client, LEDGER)
    steps = [
        lambda: reader.tick("label", "verified-code"),
        lambda: reader.tick("kind", "audit"),
        lambda: reader.type("q", "sandbox"),
        lambda: reader.choose("sort", "oldest"),
        lambda: reader.tick("source", "github.com/openai/codex"),
        lambda: reader.tick("label", "verified-code"),
        lambda: reader.type("q", ""),
    ]
    for number, step in enumerate(steps):
        step()
        assert reader.shown() == reader.fresh(), f"step {number}: {reader.address}"
    assert reader.address == "/evidence/?kind=audit&source=github.com%2Fopenai%2Fcodex&sort=oldest"
    asked = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    whole = client.get(LEDGER, headers=asked)
    assert shown(BeautifulSoup(whole.content, "html.parser")) == shown(page_of(client))
    assert {"HX-Request", "HX-Current-URL"} <= {*whole["Vary"].split(", ")}


# ---- for programs ----


def test_what_is_found_comes_as_json_and_as_a_table_in_which_nothing_is_a_formula(client: Client) -> None:
    make_claim(make_primitive("gvisor"), Label.VERIFIED_CODE, slug="a", sentence="=HYPERLINK(1)")
    make_claim(make_primitive("runc"), Label.INFERRED, slug="b")
    make_claim(make_primitive("secret", is_published=False), slug="c")
    response = client.get(LEDGER, {"label": "verified-code", "format": "json", "kind": "nonsense"})
    assert response["Content-Type"] == "application/json"
    data = json.loads(b"".join(response))
    assert data["url"] == "http://testserver/evidence/?label=verified-code"
    assert data["licence"] == "CC BY 4.0"
    assert "nonsense" in data["notices"][0]
    (claim,) = data["claims"]
    assert claim["id"] == "primitive.gvisor.a"
    assert claim["url"] == "http://testserver/claims/primitive.gvisor.a/"
    assert claim["sentence"] == "=HYPERLINK(1)"
    assert claim["sources"][0]["href"].startswith("https://github.com/google/gvisor/blob/")
    table = list(csv.reader(io.StringIO(b"".join(client.get(LEDGER, {"format": "csv"})).decode())))
    assert [row[0] for row in table] == ["address", "primitive.runc.b", "primitive.gvisor.a"]
    assert table[2][4] == "'=HYPERLINK(1)"
    assert json.loads(b"".join(client.get(LEDGER, {"q": "zzzz", "format": "json"})))["claims"] == []
    assert b"<!doctype html>" in client.get(LEDGER, {"format": "xml"}).content
    links = {link["href"] for link in page_of(client, label="inferred").select("#results .note a")}
    assert links == {"?label=inferred&format=json", "?label=inferred&format=csv"}
