"""Curators see who changed what and why, and put an earlier version back."""

import datetime
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audits.models import Posture
from evidence.models import Claim, Source
from history.tracking import event_model
from primitives.models import Primitive
from tests.admin_form import curator_client, text_of
from tests.factories import make_audit, make_claim, make_posture, make_primitive, make_source, make_tier
from tests.history.test_pages import because, rewrite

pytestmark = pytest.mark.django_db


def history(client: Client, row: Any) -> tuple[str, BeautifulSoup]:
    meta = row._meta
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_history", args=[row.pk])
    response = client.get(address)
    assert response.status_code == 200
    return text_of(response), BeautifulSoup(response.content, "html.parser")


def way_back(client: Client, row: Any, model: str, place: int = -1) -> str:
    """The address that the history gives to put a version of such a model back: the first recorded one."""
    links = history(client, row)[1].select(f'a[href*="/history/{model}/"]')
    return str(links[place]["href"])


def earlier() -> None:
    rewrite("pgh_created_at = pgh_created_at - interval '1 day'")


def test_a_claim_with_its_sources_is_put_back_for_a_reason_and_that_is_recorded() -> None:
    client = curator_client()
    claim = make_claim(make_primitive("gvisor"), sentence="The Sentry answers all calls.", sources=["doc", "code"])
    before = set(claim.sources.values_list("kind", "url", "repo", "lines"))
    earlier()
    with because("Misread."):
        Claim.objects.update(sentence="The Sentry answers no calls.", as_of=datetime.date(2026, 9, 1))
        claim.sources.filter(kind="code").delete()
        make_source(claim, url="https://example.com/", title="Elsewhere")

    said, _ = history(client, claim)
    assert "nobody logged in" in said
    address = way_back(client, claim, "evidence.claim")
    page = BeautifulSoup(client.get(address).content, "html.parser")
    assert [each.get_text().strip() for each in page.select(".fields ins")] == ["all", "21 August"]
    assert "Elsewhere" in page.select_one(".parts del").get_text()
    assert "google/gvisor" in page.select_one(".parts ins").get_text()

    assert "Say why" in text_of(client.post(address, {"why": ""}))
    assert Claim.objects.get().sentence == "The Sentry answers no calls."
    assert client.post(address, {"why": "It was right."}).status_code == 302
    claim.refresh_from_db()
    assert (claim.sentence, claim.as_of) == ("The Sentry answers all calls.", datetime.date(2026, 8, 21))
    assert set(claim.sources.values_list("kind", "url", "repo", "lines")) == before
    newest = event_model(Claim).objects.latest("pgh_id")
    assert newest.pgh_context.metadata == {"user": User.objects.get().pk, "why": "It was right."}
    said, _ = history(client, claim)
    assert "curie" in said
    assert "It was right." in said
    assert "nothing would change" in text_of(client.get(way_back(client, claim, "evidence.claim")))


def test_a_withdrawn_claim_is_put_back_where_it_was() -> None:
    client = curator_client()
    primitive = make_primitive("gvisor")
    claim = make_claim(primitive)
    pk, address = claim.pk, claim.address
    earlier()
    with because("Gone."):
        claim.delete()
    way = way_back(client, primitive, "evidence.claim", 0)
    assert client.post(way, {"why": "It is so after all."}).status_code == 302
    back = Claim.objects.get()
    assert (back.pk, back.address, Source.objects.get().claim_id) == (pk, address, pk)


def test_a_posture_and_the_fields_of_a_primitive_are_put_back() -> None:
    client = curator_client()
    audit = make_audit(postures=[])
    posture = make_posture(audit, "microvm", primitives=(make_primitive("libkrun"),), platforms=("linux", "macos"))
    entry = make_primitive("runc", summary="What it was.")
    earlier()
    with because("Wrongly."):
        Posture.objects.update(isolation="none", tier=None)
        posture.platforms.set([posture.platforms.get(slug="linux")])
        posture.primitives.clear()
        Primitive.objects.filter(slug="runc").update(summary="What it is.")
    assert client.post(way_back(client, audit, "audits.posture"), {"why": "Back."}).status_code == 302
    posture.refresh_from_db()
    assert (posture.isolation, posture.tier) == ("isolated", make_tier("microvm"))
    assert set(posture.platforms.values_list("slug", flat=True)) == {"linux", "macos"}
    assert [primitive.slug for primitive in posture.primitives.all()] == ["libkrun"]
    assert client.post(way_back(client, entry, "primitives.primitive"), {"why": "Back."}).status_code == 302
    entry.refresh_from_db()
    assert entry.summary == "What it was."


def test_what_the_database_refuses_is_said_in_words_and_nothing_is_written() -> None:
    client = curator_client()
    audit = make_audit(postures=[])
    old = make_posture(audit, claims=[make_claim(audit)])
    earlier()
    with because("Another default."):
        old.delete()
        make_posture(audit, mode="new")
    address = way_back(client, audit, "audits.posture")
    assert "has more than one default posture on linux" in text_of(client.post(address, {"why": "Both."}))
    assert [posture.mode for posture in audit.postures.all()] == ["new"]


def test_versions_of_something_else_or_nothing_are_not_found_and_rights_hold(client: Client) -> None:
    curator = curator_client()
    claim, other = make_claim(), make_claim()
    address = way_back(curator, claim, "evidence.claim")
    elsewhere = address.replace(f"/{claim.pk}/", f"/{other.pk}/")
    assert curator.get(elsewhere).status_code == 404
    assert curator.get(address.replace("evidence.claim", "auth.user")).status_code == 404
    assert curator.get(address.rsplit("/", 2)[0] + "/999999999/").status_code == 404
    user = User.objects.get()
    user.groups.clear()
    assert curator.post(address, {"why": "x"}).status_code == 403
    assert client.get(address).status_code in (302, 404)
