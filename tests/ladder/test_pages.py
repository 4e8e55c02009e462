from functools import partial

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from ladder.models import Tier
from tests.factories import RUNGS, make_audit, make_claim, make_primitive, make_tier
from tests.sql import numbers_of_queries

pytestmark = pytest.mark.django_db


def page_of(client: Client, address: str) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


@pytest.mark.parametrize("address", ["/", "/ladder/", "/ladder/container/"])
def test_the_kernel_line_runs_between_the_fourth_rung_and_the_fifth(client: Client, address: str) -> None:
    for slug in RUNGS:
        make_tier(slug)
    steps = page_of(client, address).select_one(".ladder").find_all("li", recursive=False)
    shown = ["line" if "kernel-line" in step["class"] else step.select_one(".rank").get_text() for step in steps]
    assert shown == ["6", "5", "line", "4", "3", "2", "1"]


@pytest.mark.parametrize("address", ["/", "/ladder/"])
def test_the_count_on_a_rung_is_counted(client: Client, address: str) -> None:
    for slug in RUNGS:
        make_tier(slug)
    make_primitive(tier=make_tier("microvm"))
    make_primitive(tier=make_tier("microvm"))
    make_primitive(tier=make_tier("container"))
    rungs = page_of(client, address).select(".rung")
    shown = {rung.select_one(".name").get_text(): rung.select_one(".count").get_text().strip() for rung in rungs}
    assert shown["microvm"] == "2 technologies"
    assert shown["container"] == "1 technology"
    assert shown["full-vm"] == "0 technologies"


def test_a_rung_shows_its_claims_and_its_primitives(client: Client) -> None:
    tier = make_tier("container")
    make_claim(tier, slug="shared-kernel")
    make_primitive("box", tier=tier)
    make_primitive("other", tier=make_tier("microvm"))
    page = page_of(client, "/ladder/container/")
    assert page.select_one("#shared-kernel .stamp")
    assert [heading.get_text() for heading in page.select(".entry h3")] == ["box"]
    assert page.select_one('a[href="/primitives/?tier=container"]')


def test_a_rungs_markdown_is_shown_and_its_markup_is_not(client: Client) -> None:
    make_tier(
        "container", description="A *view*.\n\n<script>x</script>\n\n[a](javascript:alert(1)) [b](https://b.example)"
    )
    prose = page_of(client, "/ladder/container/").select_one(".prose")
    assert prose.em.get_text() == "view"
    assert not prose.select("script")
    assert [link.get("href") for link in prose.select("a[href]")] == ["https://b.example"]


def test_a_rung_that_never_was_is_a_404(client: Client) -> None:
    assert client.get("/ladder/seventh/").status_code == 404


def test_pages_cost_as_many_queries_for_few_entries_as_for_many(client: Client) -> None:
    asks = [partial(page_of, client, address) for address in ("/", "/ladder/", "/ladder/container/")]

    def grow(number: int) -> None:
        for _ in range(number):
            make_claim(make_primitive(platforms=("linux", "macos")))
            make_claim(make_tier())
            make_audit(postures=[{"tier": "container"}])

    grow(2)
    few = numbers_of_queries(asks)
    grow(30)
    assert numbers_of_queries(asks) == few
    assert max(few) <= 8


@pytest.mark.usefixtures("content")
def test_every_rung_has_a_page_with_claims(client: Client) -> None:
    assert Tier.objects.count() == 6
    for tier in Tier.objects.all():
        page = page_of(client, f"/ladder/{tier.slug}/")
        assert len(page.select("li.claim")) == tier.claims.count() > 0
        assert len(page.select("h1")) == 1
