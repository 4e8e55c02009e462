import re

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evidence.models import Label
from primitives.models import Isolates, Primitive
from tests.factories import COMMIT, make_break, make_claim, make_primitive, make_tier

pytestmark = pytest.mark.django_db


def entry(client: Client, slug: str) -> BeautifulSoup:
    response = client.get(f"/primitives/{slug}/")
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def test_the_verdict_says_rung_and_kernel_side(client: Client) -> None:
    make_primitive("above", tier=make_tier("microvm"))
    make_primitive("below", tier=make_tier("container"))
    assert "brings its own kernel" in entry(client, "above").select_one(".verdict").get_text()
    assert "rung 3 of 6" in entry(client, "below").select_one(".verdict").get_text()
    assert "kernel is shared" in entry(client, "below").select_one(".verdict").get_text()


def test_says_what_is_isolated_and_what_not(client: Client) -> None:
    make_primitive("box", isolates=[Isolates.NETWORK])
    marks = {item.get_text(" ", strip=True): item["class"][0] for item in entry(client, "box").select(".isolation li")}
    assert marks["network isolated"] == "yes"
    assert marks["kernel not isolated"] == "no"
    assert len(marks) == len(Isolates)


def test_names_what_it_builds_on_and_what_is_built_on_it(client: Client) -> None:
    part = make_primitive("part")
    make_primitive("whole", builds_on=(part,))
    assert entry(client, "whole").select_one('.links a[href="/primitives/part/"]')
    assert entry(client, "part").select_one('.links a[href="/primitives/whole/"]')


def test_each_claim_shows_label_date_version_and_sources(client: Client) -> None:
    primitive = make_primitive("box")
    make_claim(primitive, Label.VERIFIED_CODE, slug="own-kernel", version="v1.2")
    claim = entry(client, "box").select_one("#own-kernel")
    assert claim.select_one(".stamp").get_text(strip=True) == "verified-code"
    assert "21 August 2026" in claim.get_text()
    assert "v1.2" in claim.get_text()
    source = claim.select_one(".sources a")
    assert source["href"] == f"https://github.com/google/gvisor/blob/{COMMIT}/pkg/sentry/kernel/kernel.go#L12-L30"


def test_an_inferred_claim_shows_its_reasoning_and_an_undisclosed_one_where_it_was_looked_for(client: Client) -> None:
    primitive = make_primitive("box")
    make_claim(primitive, Label.INFERRED, slug="inferred")
    make_claim(primitive, Label.UNDISCLOSED, slug="silent")
    page = entry(client, "box")
    assert "It follows from the two claims above." in page.select_one("#inferred .reasoning").get_text()
    assert "The documentation and the help text." in page.select_one("#silent .looked").get_text()


def test_claims_are_grouped_by_aspect_and_breaks_by_year(client: Client) -> None:
    primitive = make_primitive("box")
    make_claim(primitive, aspect="network")
    make_claim(primitive, aspect="boundary")
    make_break(primitive, "CVE-2024-1", year=2024)
    make_break(primitive, "CVE-2019-1", year=2019, nickname="Leaky Box")
    page = entry(client, "box")
    assert [heading.get_text() for heading in page.select(".claims h3")] == ["Boundary", "Network"]
    assert [heading.get_text() for heading in page.select(".breaks h3")] == ["2024", "2019"]
    assert "Leaky Box" in page.select_one(".breaks").get_text()


def test_what_is_not_known_is_called_unknown(client: Client) -> None:
    make_primitive("box")
    facts = entry(client, "box").select_one("section dl.facts").get_text(" ", strip=True)
    for name in ("Licence", "Written in", "First release", "Maintainer"):
        assert f"{name} unknown" in facts


def test_curators_text_cannot_become_markup(client: Client) -> None:
    nasty = '<script>alert(1)</script> `<b>` "><img src=x onerror=alert(1)>'
    primitive = make_primitive("box", name="Box <i>x</i>", summary=nasty, aliases=["<b>alias</b>"])
    make_claim(primitive, Label.INFERRED, sentence=nasty, reasoning=nasty, version="<u>1</u>")
    make_break(primitive, "<s>CVE</s>", summary=nasty)
    page = entry(client, "box")
    assert not page.select("main script, main img, main u, main s, main i, main b b")
    assert "<b>" in page.select_one(".claim code").get_text()


def test_an_entry_that_never_was_is_a_404_in_the_sites_own_dress(client: Client) -> None:
    response = client.get("/primitives/never-was/")
    assert response.status_code == 404
    page = BeautifulSoup(response.content, "html.parser")
    assert page.select_one(".masthead")
    assert page.select_one("h1").get_text() == "There is nothing at this address"


def test_an_entry_costs_as_many_queries_whatever_it_holds(client: Client) -> None:
    small = make_primitive("small", builds_on=(make_primitive(),))
    make_claim(small)
    make_break(small)
    make_primitive(builds_on=(small,))
    large = make_primitive("large", platforms=("linux", "macos"), builds_on=tuple(make_primitive() for _ in range(10)))
    for number in range(20):
        make_claim(large, Label.VERIFIED_CODE, sources=["code", "doc", "package"])
        make_break(large, f"CVE-2024-{number}")
        make_primitive(builds_on=(large,))
    with CaptureQueriesContext(connection) as few:
        entry(client, "small")
    with CaptureQueriesContext(connection) as many:
        entry(client, "large")
    assert len(few) == len(many) <= 8


@pytest.mark.usefixtures("content")
def test_every_entry_shows_all_of_its_claims_and_breaks(client: Client) -> None:
    for primitive in Primitive.objects.prefetch_related("claims", "breaks"):
        # Not by way of a parser, which takes longer than the page.
        page = client.get(f"/primitives/{primitive.slug}/").content.decode()
        assert set(re.findall(r'<li class="claim" id="([^"]+)"', page)) == {
            item.slug for item in primitive.claims.all()
        }
        lists = re.findall(r'<ul class="break-list">(.*?)</ul>', page, re.DOTALL)
        assert sum(found.count("<li>") for found in lists) == len(primitive.breaks.all())
        assert page.count("<h1") == 1
