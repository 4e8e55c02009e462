"""What a box on a rung costs: only what claims say, and Postgres sees to it."""

import re

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from evidence.models import Claim
from ladder.models import CostClaim, CostRange, Tier
from primitives.models import Primitive
from tests.admin_form import AdminForm
from tests.factories import make_claim, make_primitive, make_tier
from tests.sql import accepted, refused

pytestmark = pytest.mark.django_db


def make_cost(*claims: Claim, tier: str = "microvm", **fields: str) -> CostRange:
    defaults = {"kind": "start-up", "low": "50 ms", "high": "300 ms", "measured_by": "What two projects say."}
    cost = CostRange.objects.create(tier=make_tier(tier), **{**defaults, **fields})
    CostClaim.objects.bulk_create(CostClaim(cost=cost, claim=claim) for claim in claims)
    return cost


def quick_and_slow() -> tuple[Claim, Claim]:
    tier = make_tier("microvm")
    quick = make_claim(make_primitive("quick", tier=tier), sentence="It starts within 50 ms.", slug="fast")
    slow = make_claim(make_primitive("slow", tier=tier), "inferred", sentence="It boots in about 300 ms.", slug="slow")
    return quick, slow


def page_of(client: Client, address: str) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


class TestWhatPostgresRefuses:
    def test_figures_that_claims_of_the_rung_say_are_taken(self) -> None:
        with accepted():
            make_cost(*quick_and_slow())
        with accepted():
            own = make_claim(make_tier("full-vm"), sentence="It takes less than 6 seconds.")
            make_cost(own, tier="full-vm", low="6 seconds", high="")

    @pytest.mark.parametrize("figures", [{"low": "51 ms"}, {"high": "0.3 s"}, {"low": "50 MS"}])
    def test_a_figure_that_none_of_them_says_is_refused(self, figures: dict[str, str]) -> None:
        with refused("No claim that the start-up rests on says"):
            make_cost(*quick_and_slow(), **figures)

    def test_a_cost_without_claims_or_without_a_figure_is_refused(self) -> None:
        with refused("No claim that the start-up rests on says"):
            make_cost()
        with refused("cost_has_a_figure"):
            make_cost(*quick_and_slow(), low="starts")

    def test_a_claim_about_another_rung_is_refused(self) -> None:
        quick, slow = quick_and_slow()
        elsewhere = make_claim(make_primitive(tier=make_tier("container")), sentence="50 ms")
        with refused("which is about another rung"):
            make_cost(quick, slow, elsewhere)

    def test_what_a_cost_rests_on_does_not_change_under_it(self) -> None:
        with accepted():
            quick, slow = quick_and_slow()
            make_cost(quick, slow)
        with refused("says “50 ms”"):
            Claim.objects.filter(pk=quick.pk).update(sentence="It starts within 40 ms.")
        with refused("about another rung"):
            Primitive.objects.filter(slug="slow").update(tier=make_tier("container"))
        with refused("says “300 ms”"):
            slow.delete()
        with accepted():
            Claim.objects.filter(pk=quick.pk).update(sentence="It starts within 50 ms, says its README.")


class TestWhatIsShown:
    @pytest.mark.parametrize("address", ["/ladder/", "/ladder/microvm/", "/ladder/?open=microvm", "/?open=microvm"])
    def test_a_range_with_its_weakest_label_whose_it_is_and_its_claims(self, client: Client, address: str) -> None:
        quick, slow = quick_and_slow()
        make_cost(quick, slow)
        for cost in page_of(client, address).select(".cost"):
            assert cost.b.get_text() == "50 ms to 300 ms"
            assert cost.select_one(".stamp").get_text() == "inferred"
            assert "What two projects say." in cost.get_text()
            links = {link.get_text(): link["href"] for link in cost.select(".grounds a")}
            assert links == {"quick": "/claims/primitive.quick.fast/", "slow": "/claims/primitive.slow.slow/"}

    def test_where_no_claim_gives_a_figure_it_says_so(self, client: Client) -> None:
        make_tier("container")
        page = page_of(client, "/ladder/container/")
        assert [said.get_text() for said in page.select(".no-figure")] == ["No figure with a source."] * 2

    def test_a_draft_bears_nothing_that_is_shown(self, client: Client) -> None:
        quick, slow = quick_and_slow()
        make_cost(quick, slow)
        Claim.objects.filter(pk=slow.pk).update(is_published=False)
        assert not page_of(client, "/ladder/microvm/").select(".cost")


def test_a_curator_edits_a_cost_and_is_told_what_no_claim_says(admin_client: Client) -> None:
    cost = make_cost(*quick_and_slow())
    form = AdminForm(admin_client, reverse("admin:ladder_tier_change", args=[cost.tier.pk]))
    form.fields["costs-0-high"] = "400 ms"
    again = form.send()
    assert again is not None
    assert "No claim that the start-up rests on says “400 ms”." in again.errors
    again.fields |= {"costs-0-high": "", "costs-0-measured_by": "What one says."}
    assert again.send() is None
    cost.refresh_from_db()
    assert (cost.figures, cost.measured_by) == ("50 ms", "What one says.")


@pytest.mark.usefixtures("content")
def test_every_range_of_the_content_is_what_claims_of_its_rung_say(client: Client) -> None:
    costs = list(CostRange.objects.select_related("tier").prefetch_related("claims__primitive__tier", "claims__tier"))
    assert len(costs) >= 9
    for cost in costs:
        claims = list(cost.claims.all())
        assert claims
        for figure in filter(None, (cost.low, cost.high)):
            assert re.search(r"\d", figure)
            assert any(re.search(rf"(?<![\d.,]){re.escape(figure)}", claim.sentence) for claim in claims), cost
        for claim in claims:
            assert claim.aspect == "performance"
            assert cost.tier in (claim.tier, claim.primitive and claim.primitive.tier)
    # A primitive on the rung wherever one has a figure: of the two outermost rungs only the rung itself has.
    only_the_rung = {cost.tier.slug for cost in costs if not any(claim.primitive for claim in cost.claims.all())}
    on_primitives = {cost.tier.slug for cost in costs if any(claim.primitive for claim in cost.claims.all())}
    assert only_the_rung - on_primitives == {"kernel-feature", "full-vm"}
    for tier in Tier.objects.all():
        page = page_of(client, f"/ladder/{tier.slug}/")
        shown = [figures.get_text() for figures in page.select(".cost .figures b")]
        assert sorted(shown) == sorted(cost.figures for cost in costs if cost.tier == tier)
        for link in page.select(".grounds a"):
            assert client.get(link["href"]).status_code == 200
