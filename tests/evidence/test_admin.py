"""Claims and sources in the admin: a refusal of the database is said on the page, and what was typed is kept."""

import datetime

import pytest
from bs4 import BeautifulSoup
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evidence.models import Claim, Label, Source
from tests.admin_form import AdminForm, amid, curator_client, queries, text_of
from tests.factories import COMMIT, make_claim, make_primitive, make_source, make_tier

ADD = "/admin/evidence/claim/add/"
LIST = "/admin/evidence/claim/"


def change(claim: Claim) -> str:
    return reverse("admin:evidence_claim_change", args=[claim.pk])


def fill_in(form: AdminForm, **fields: object) -> None:
    form.fields |= {
        "slug": "own-kernel",
        "aspect": "boundary",
        "label": "documented",
        "as_of": "2026-08-21",
        "sentence": "It brings its own kernel.",
        **{name: str(value) for name, value in fields.items()},
    }


@pytest.mark.django_db
@pytest.mark.parametrize("subjects", [[], ["primitive", "tier"]], ids=["without a subject", "with two subjects"])
def test_a_claim_is_refused(admin_client: Client, subjects: list[str]) -> None:
    form = AdminForm(admin_client, ADD)
    rows = {"primitive": make_primitive(), "tier": make_tier()}
    fill_in(form, label="inferred", reasoning="So it follows.", **{name: rows[name].pk for name in subjects})
    again = form.send()
    assert again is not None
    assert "A claim is about exactly one subject: a tier, a primitive, an audit, " in again.errors
    assert again.fields["sentence"] == "It brings its own kernel."
    assert again.fields["reasoning"] == "So it follows."
    assert not Claim.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("verified-code", "Claim own-kernel: verified-code needs a code source with repo, commit, path and lines."),
        ("documented", "Claim own-kernel: documented needs a document with an https URL, or a package"),
        ("inferred", "Claim own-kernel: inferred needs its reasoning."),
        ("undisclosed", "Claim own-kernel: undisclosed needs where it was looked for, and a source."),
    ],
)
def test_a_label_without_its_evidence_is_refused(admin_client: Client, label: str, message: str) -> None:
    primitive = make_primitive()
    form = AdminForm(admin_client, ADD)
    fill_in(form, label=label, primitive=primitive.pk)
    again = form.send()
    assert again is not None
    assert message in again.errors
    assert again.fields["sentence"] == "It brings its own kernel."
    assert again.fields["primitive"] == str(primitive.pk)
    assert not Claim.objects.exists()


@pytest.mark.django_db
def test_a_claim_is_saved_with_its_source(admin_client: Client) -> None:
    form = AdminForm(admin_client, ADD)
    fill_in(form, label="verified-code", tier=make_tier().pk)
    form.add("sources", kind="code", repo="google/gvisor", commit=COMMIT, path="a.go", lines="1-2")
    assert form.send() is None
    claim = Claim.objects.get(slug="own-kernel")
    assert claim.tier == make_tier()
    assert claim.sources.get().lines == "1-2"


@pytest.mark.django_db
def test_a_refused_claim_can_be_mended_and_saved(admin_client: Client) -> None:
    form = AdminForm(admin_client, ADD)
    fill_in(form, label="documented", primitive=make_primitive().pk)
    again = form.send()
    assert again is not None
    again.add("sources", kind="doc", title="Its page", url="https://example.org/")
    assert again.send() is None
    assert Claim.objects.get().sources.get().title == "Its page"


@pytest.mark.django_db
def test_the_last_source_that_a_label_needs_cannot_be_deleted(admin_client: Client) -> None:
    claim = make_claim(label="documented", slug="own-kernel")
    form = AdminForm(admin_client, change(claim))
    form.fields |= {"sources-0-DELETE": "on", "sentence": "Typed, and kept."}
    again = form.send()
    assert again is not None
    assert "Claim own-kernel: documented needs a document with an https URL, or a package" in again.errors
    assert again.fields["sentence"] == "Typed, and kept."
    assert again.fields["sources-0-DELETE"]
    assert claim.sources.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_refusal_that_comes_with_a_real_commit_is_a_message_too(admin_client: Client) -> None:
    with transaction.atomic():
        claim = make_claim(label="documented", slug="own-kernel")
    form = AdminForm(admin_client, change(claim))
    form.fields |= {"label": "verified-code", "sentence": "Typed, and kept."}
    again = form.send()
    assert again is not None
    assert "Claim own-kernel: verified-code needs a code source" in again.errors
    assert "was changed successfully" not in text_of(again.response)
    assert again.fields["sentence"] == "Typed, and kept."
    claim.refresh_from_db()
    assert claim.label == Label.DOCUMENTED
    # The message of success does not turn up later either, and the history knows nothing of the attempt.
    assert "successfully" not in text_of(admin_client.get(LIST))
    assert "Typed" not in text_of(admin_client.get(reverse("admin:evidence_claim_history", args=[claim.pk])))


@pytest.mark.django_db(transaction=True)
def test_a_slug_that_somebody_takes_at_the_same_moment_is_a_message(admin_client: Client) -> None:
    primitive = make_primitive()
    form = AdminForm(admin_client, ADD)
    fill_in(form, label="inferred", reasoning="So it follows.", primitive=primitive.pk)
    again = amid(
        "INSERT INTO evidence_claim"
        " (primitive_id, slug, aspect, sentence, label, version, as_of, reasoning, looked, says_how_to_check, position)"
        " VALUES (%s, 'own-kernel', 'boundary', 'First.', 'inferred', '', now(), 'So.', '', false, 1)",
        [primitive.pk],
        form.send,
    )
    assert "This primitive already has a claim with this slug." in again.errors
    assert again.fields["sentence"] == "It brings its own kernel."
    assert Claim.objects.get().sentence == "First."


@pytest.mark.django_db
def test_a_source_with_fields_of_another_kind_is_refused(admin_client: Client) -> None:
    claim = make_claim()
    form = AdminForm(admin_client, change(claim))
    form.add("sources", kind="doc", title="Its page", url="https://example.org/", repo="google/gvisor")
    again = form.send()
    assert again is not None
    assert "a document a title and an https URL" in again.errors
    assert again.fields["sources-1-repo"] == "google/gvisor"
    assert claim.sources.count() == 1


@pytest.mark.django_db
def test_a_source_that_somebody_else_deleted_is_named(admin_client: Client) -> None:
    claim = make_claim()
    extra = make_source(claim)
    form = AdminForm(admin_client, change(claim))
    extra.delete()
    again = form.send()
    assert again is not None
    assert "Somebody else has deleted this since you opened the page." in again.errors


@pytest.mark.django_db
def test_the_slug_of_a_claim_stays_but_on_its_own_page(admin_client: Client) -> None:
    claim = make_claim(slug="own-kernel")
    assert "slug" in AdminForm(admin_client, change(claim)).fields  # which moves it: tests/evidence/test_moves.py
    form = AdminForm(admin_client, reverse("admin:primitives_primitive_change", args=[claim.primitive_id]))
    assert "claims-0-slug" not in form.fields
    form.fields["claims-0-slug"] = "other"
    assert form.send() is None
    claim.refresh_from_db()
    assert claim.slug == "own-kernel"


@pytest.mark.django_db
def test_a_claim_is_deleted_with_its_sources() -> None:
    claim = make_claim()
    client = curator_client()
    response = client.post(
        reverse("admin:evidence_claim_delete", args=[claim.pk]), {"post": "yes", "why": "Gone upstream."}
    )
    assert response.status_code == 302
    assert not Source.objects.exists()


@pytest.mark.django_db
def test_the_list_shows_subject_and_freshness(admin_client: Client) -> None:
    today = timezone.localdate()
    for slug, age in [("new", 180), ("old", 181), ("ancient", 366)]:
        make_claim(make_primitive(f"of-{slug}"), slug=slug, as_of=today - datetime.timedelta(days=age))
    rows = {
        row.select_one(".field-slug").text: row  # type: ignore[union-attr]
        for row in BeautifulSoup(admin_client.get(LIST).content, "html.parser").select("#result_list tbody tr")
    }
    assert rows["new"].select_one(".badge-good").text == "fresh"  # type: ignore[union-attr]
    assert rows["old"].select_one(".badge-soon").text == "due for a check"  # type: ignore[union-attr]
    assert rows["ancient"].select_one(".badge-bad").text == "stale"  # type: ignore[union-attr]
    assert rows["ancient"].select_one(".field-subject").text == "of-ancient"  # type: ignore[union-attr]


def slugs(client: Client, query: str) -> set[str]:
    response = client.get(LIST + query)
    assert response.status_code == 200
    return {cell.text for cell in BeautifulSoup(response.content, "html.parser").select("#result_list .field-slug")}


@pytest.mark.django_db
def test_the_list_is_narrowed_by_label_freshness_aspect_and_tier(admin_client: Client) -> None:
    long_ago = timezone.localdate() - datetime.timedelta(days=1000)
    make_claim(make_primitive(tier=make_tier("microvm")), "inferred", slug="a", aspect="network", as_of=long_ago)
    make_claim(make_primitive(), "documented", slug="b", as_of=timezone.localdate())
    make_claim(make_tier("microvm"), "verified-code", slug="c", as_of=timezone.localdate())
    assert slugs(admin_client, "") == {"a", "b", "c"}
    assert slugs(admin_client, "?label__exact=inferred") == {"a"}
    assert slugs(admin_client, "?aspect__exact=network") == {"a"}
    assert slugs(admin_client, "?freshness=stale") == {"a"}
    assert slugs(admin_client, "?freshness=nonsense") == {"a", "b", "c"}
    assert slugs(admin_client, "?tier=microvm") == {"a", "c"}
    assert slugs(admin_client, "?_facets=True") == {"a", "b", "c"}


@pytest.mark.django_db
def test_the_list_is_searched_by_slug_sentence_and_subject(admin_client: Client) -> None:
    make_claim(make_primitive("gvisor"), slug="a", sentence="One.")
    make_claim(slug="b", sentence="The Sentry answers.")
    assert slugs(admin_client, "?q=gvisor") == {"a"}
    assert slugs(admin_client, "?q=sentry") == {"b"}
    assert slugs(admin_client, "?q=b") == {"b"}


@pytest.mark.django_db
def test_the_list_asks_as_much_for_many_claims_as_for_few(admin_client: Client) -> None:
    for _ in range(10):
        make_claim(make_primitive())
    few = queries(admin_client, LIST)
    for _ in range(50):
        make_claim(make_primitive())
    assert queries(admin_client, LIST) == few <= 8


@pytest.mark.django_db
def test_claims_are_deleted_through_the_list(admin_client: Client) -> None:
    claim, other = make_claim(), make_claim()
    data = {"action": "delete_selected", "_selected_action": [claim.pk], "post": "yes", "why": "Gone upstream."}
    assert "Successfully deleted 1 claim." in text_of(admin_client.post(LIST, data, follow=True))
    assert Claim.objects.get() == other
