"""The page on how we know: what it counts is what the database holds, and its examples are real."""

import datetime

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audits.models import Posture
from evidence.models import Claim, Freshness, Label
from sandboxicon.distribution import distribution
from tests.factories import make_audit, make_claim, make_posture, make_primitive, make_tier

pytestmark = pytest.mark.django_db

METHOD = "/method/"
MOST_QUERIES = 8


def page_of(client: Client) -> BeautifulSoup:
    response = client.get(METHOD)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def text(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def table(page: BeautifulSoup) -> dict[str, list[int]]:
    """The numbers of the spread: of each kind of subject, by label, and all."""
    return {
        text(row.th): [int(text(cell).split()[0]) for cell in row.select("td")]
        for row in page.select(".spread-table tbody tr")
    }


def figures(page: BeautifulSoup) -> dict[str, int]:
    """What is counted beside the text."""
    return {text(line.dt): int(text(line.dd)) for line in page.select(".numbers div")}


@pytest.mark.usefixtures("content")
def test_each_label_has_what_it_must_carry_and_a_real_example_that_leads_to_its_claim(client: Client) -> None:
    page = page_of(client)
    plates = page.select(".label-plate")
    assert [plate.select_one(".stamp")["class"][1] for plate in plates] == Label.values
    for plate, label in zip(plates, Label, strict=True):
        assert label.meaning in text(plate)
        assert label.requirement in text(plate)
        address = plate.select_one("figcaption a")["href"]
        claim = Claim.objects.at(address.split("/")[2]).get()
        assert claim.label == label
        assert text(plate.select_one(".sentence")) == " ".join(claim.sentence.replace("`", "").split())
        shown = [link["href"] for link in plate.select(".sources a")]
        assert shown == [source.href for source in claim.sources.all() if source.href]
        target = BeautifulSoup(client.get(address).content, "html.parser")
        assert text(target.h1) == text(plate.select_one(".sentence"))


@pytest.mark.usefixtures("content")
def test_the_spread_is_counted_in_the_database(client: Client) -> None:
    shown = table(page_of(client))
    kinds = {"All claims": {}, "Rungs": {"tier__isnull": False}}
    kinds |= {"Primitives": {"primitive__isnull": False}, "Agents": {"audit__isnull": False}}
    kinds |= {"One inside another": {"cell__isnull": False}, "Error texts": {"error_text__isnull": False}}
    assert list(shown) == list(kinds)
    for name, condition in kinds.items():
        claims = Claim.objects.filter(**condition)
        assert shown[name] == [*(claims.filter(label=label).count() for label in Label), claims.count()]


@pytest.mark.usefixtures("content")
def test_the_drawing_shows_the_table_and_has_a_name(client: Client) -> None:
    page = page_of(client)
    drawing = page.select_one("svg.distribution")
    assert drawing["role"] == "img"
    assert "table below" in drawing["aria-label"]
    for bar, numbers in zip(drawing.find_all("svg"), table(page).values(), strict=True):
        widths = [float(share["width"].rstrip("%")) for share in bar.select("rect.share")]
        assert sum(widths) == pytest.approx(100, abs=0.1)
        assert widths == [pytest.approx(100 * number / numbers[-1], abs=0.01) for number in numbers[:-1] if number]


def test_a_bar_of_nothing_has_no_length() -> None:
    bars = distribution({})
    assert [bar.total for bar in bars] == [0] * 6
    assert {part.share for bar in bars for part in bar.parts} == {0.0}


@pytest.mark.usefixtures("content")
def test_freshness_and_silence_are_counted_in_the_database(client: Client) -> None:
    shown = figures(page_of(client))
    for freshness in Freshness:
        assert shown[freshness.label] == Claim.objects.with_freshness(freshness).count()
    silent = Posture.objects.filter(isolation="undisclosed")
    agents = silent.values("audit__agent").distinct().count()
    assert shown[f"postures undisclosed, of {agents} agents"] == silent.count() > 0
    assert shown["claims that say who is silent"] == Claim.objects.filter(label="undisclosed").count() > 0


@override_settings(CLAIM_AGES={"audit": (1, 2), "primitive": (10, 20), "tier": (30, 40)})
def test_days_come_from_the_settings_and_move_the_counts(client: Client) -> None:
    today = timezone.localdate()
    for age in (0, 10, 11, 20, 21, 22):
        make_claim(as_of=today - datetime.timedelta(days=age))
    page = page_of(client)
    ages = [text(row).split(" days") for row in page.select(".ages tbody tr")]
    assert [row[:2] for row in ages] == [["an agent 1", " 2"], ["a primitive 10", " 20"], ["a rung 30", " 40"]]
    shown = figures(page)
    assert (shown["fresh"], shown["due for a check"], shown["stale"]) == (2, 2, 2)


def test_drafts_are_in_none_of_the_numbers(client: Client) -> None:
    make_claim(make_tier())
    before = table(page_of(client)), figures(page_of(client))
    draft = make_audit(is_published=False, postures=[])
    claim = make_claim(draft, Label.UNDISCLOSED)
    make_posture(draft, claims=[claim], isolation="undisclosed")
    assert (table(page_of(client)), figures(page_of(client))) == before


@pytest.mark.usefixtures("content")
def test_the_figures_of_the_checks_are_those_of_the_review(client: Client) -> None:
    draws = [[int(text(cell)) for cell in row.select("td")] for row in page_of(client).select(".draws tbody tr")]
    assert draws == [[71, 19, 6, 4], [86, 12, 0, 2]]
    assert [sum(draw) for draw in draws] == [100, 100]


def test_an_empty_guide_still_says_how_it_knows(client: Client) -> None:
    page = page_of(client)
    assert len(page.select(".label-plate")) == 4
    assert page.select(".example") == []


def test_it_costs_as_many_queries_for_few_claims_as_for_many(client: Client) -> None:
    def grow() -> None:
        primitive = make_primitive()
        for label in Label:
            make_claim(primitive, label, sentence="A sentence that is long enough to be an example of its label " * 2)

    grow()
    with CaptureQueriesContext(connection) as few:
        page_of(client)
    for _ in range(10):
        grow()
    with CaptureQueriesContext(connection) as many:
        page_of(client)
    assert len(few) == len(many) <= MOST_QUERIES


@pytest.mark.parametrize("http_method", ["post", "put", "delete", "patch"])
def test_it_only_reads(client: Client, http_method: str) -> None:
    assert getattr(client, http_method)(METHOD).status_code == 405
