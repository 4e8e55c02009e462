"""The curator's desk: what needs hands comes first, in few queries, and some of it is done from there."""

import datetime

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from corrections.models import Correction
from evidence.models import Claim
from tests.admin_form import AdminForm, curator_client, queries, text_of
from tests.factories import make_agent, make_audit, make_claim, make_posture, make_primitive, make_tier

pytestmark = pytest.mark.django_db

DESK = "/admin/"
CLAIMS = "/admin/evidence/claim/"


def piles(client: Client) -> dict[str, list[str]]:
    page = BeautifulSoup(client.get(DESK).content, "html.parser")
    return {
        " ".join(pile.select_one("h2").get_text(" ").split()): [  # type: ignore[union-attr]
            " ".join(row.get_text(" ").split()) for row in pile.select("li, .quiet")
        ]
        for pile in page.select("#desk section")
    }


def make_work(number: int) -> None:
    """So many of all that needs hands."""
    old = timezone.localdate() - datetime.timedelta(days=400)
    for place in range(number):
        claim = make_claim(make_primitive(), as_of=old - datetime.timedelta(days=place))
        Correction.objects.create(
            claim=claim, address=claim.address, wrong="It is not so.", sending=f"00000000-0000-0000-0000-{place:012}"
        )
        make_claim(make_tier(), is_published=False, as_of=timezone.localdate())
        make_primitive(is_published=False)
        make_posture(make_audit(make_agent(), postures=[], is_published=False), is_default=False, claims=[])


def test_what_needs_hands_is_on_the_start_page() -> None:
    client = curator_client()
    assert [rows[0] for rows in piles(client).values()] == [
        "No reader waits for an answer.",
        "No change of a default waits.",
        "Every surface is published.",
        "Every claim is fresh.",
        "No primitive is a draft.",
        "No claim is a draft.",
    ]
    make_work(2)
    corrections, _, surfaces, claims, primitives, drafts = piles(client).values()
    assert "It is not so." in corrections[0]
    assert surfaces[0].endswith("it has no default posture; 1 of its postures rest on no claim")
    oldest = Claim.objects.order_by("as_of").first()
    assert oldest is not None
    assert claims[0].startswith(f"{oldest.address} stale")
    assert [len(rows) for rows in (corrections, surfaces, claims, primitives, drafts)] == [2] * 5
    few = queries(client, DESK)
    make_audit("whole", is_published=False)
    assert any(row.endswith("all is there: it can be published") for row in list(piles(client).values())[2])
    for _ in range(10):
        make_primitive(is_published=False)
    assert "Primitives in draft 12" in piles(client)
    assert queries(client, DESK) <= few + 2


def test_who_may_not_see_something_does_not_see_it_on_the_desk(client: Client) -> None:
    make_work(1)
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    assert piles(client) == {}


def test_claims_checked_again_are_fresh_and_the_reason_is_kept() -> None:
    client = curator_client()
    old = datetime.date(2024, 1, 1)
    claims = [make_claim(make_primitive(), as_of=old, version=version) for version in ("1.0", "2.0")]
    chosen = {"action": "checked_again", "_selected_action": [claim.pk for claim in claims]}
    form = AdminForm(client, CLAIMS, client.post(CLAIMS, chosen))
    assert all(claim.sentence in form.page.get_text() for claim in claims)
    assert form.fields["as_of"] == timezone.localdate().isoformat()

    def answered(**typed: str) -> str:
        fields = {**form.fields, "_selected_action": chosen["_selected_action"], "apply": "Still true", **typed}
        return text_of(client.post(CLAIMS, fields, follow=True))

    assert "That day has not come yet." in answered(as_of="2999-01-01")
    assert "Known to hold at a later day already" in answered(as_of="2023-12-31")
    assert "This field is required" in answered(why="")
    assert set(Claim.objects.values_list("as_of", flat=True)) == {old}
    assert "Checked again: 2." in answered(why="Read at the newest release.")
    assert set(Claim.objects.values_list("as_of", "version")) == {
        (timezone.localdate(), "1.0"),
        (timezone.localdate(), "2.0"),
    }
    assert "Checked again: 2." in answered(version="3.1")
    assert set(Claim.objects.values_list("version", flat=True)) == {"3.1"}
    event = claims[0].events.order_by("-pgh_id")[1]  # type: ignore[attr-defined]
    assert event.pgh_context.metadata["why"] == "Read at the newest release."
