"""Rungs in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from ladder.models import Tier
from primitives.models import Primitive
from tests.admin_form import AdminForm, amid, curator_client, text_of
from tests.factories import make_category, make_claim, make_primitive, make_tier

LIST = "/admin/ladder/tier/"


def change(tier: Tier) -> str:
    return reverse("admin:ladder_tier_change", args=[tier.pk])


def delete(tier: Tier) -> str:
    return reverse("admin:ladder_tier_delete", args=[tier.pk])


@pytest.mark.django_db
def test_a_rung_in_use_is_not_deleted_on_its_page(admin_client: Client) -> None:
    tier = make_primitive("gvisor").tier
    for page in (
        admin_client.get(delete(tier)),
        admin_client.post(delete(tier), {"post": "yes", "why": "Gone upstream."}),
    ):
        assert page.status_code == 200
        assert "would require deleting the following protected related objects" in text_of(page)
        assert "gvisor" in text_of(page)
    assert Tier.objects.get() == tier


@pytest.mark.django_db
def test_a_rung_in_use_is_not_deleted_through_the_list(admin_client: Client) -> None:
    used, unused = make_primitive().tier, make_tier("microvm")
    data = {
        "action": "delete_selected",
        "_selected_action": [used.pk, unused.pk],
        "post": "yes",
        "why": "Gone upstream.",
    }
    page = admin_client.post(LIST, data)
    assert page.status_code == 200
    assert "would require deleting the following protected related objects" in text_of(page)
    assert Tier.objects.count() == 2


@pytest.mark.django_db
def test_a_rung_in_no_use_is_deleted(admin_client: Client) -> None:
    tier = make_tier()
    assert admin_client.post(delete(tier), {"post": "yes", "why": "Gone upstream."}).status_code == 302
    assert not Tier.objects.exists()


INSERT = (
    "INSERT INTO primitives_primitive (slug, name, aliases, summary, tier_id, category_id, status, license, written_in,"
    " maintainer, homepage, repo, docs, isolates, search_keys, search_names)"
    " VALUES ('new', 'New', '{}', 'New.', %s, %s, 'active', '', '', '', '', '', '', '{}', '{}', '')"
)


@pytest.mark.django_db(transaction=True)
def test_a_rung_that_comes_into_use_at_the_same_moment_is_not_deleted(admin_client: Client) -> None:
    tier, category = make_tier(), make_category()
    page = amid(
        INSERT,
        [tier.pk, category.pk],
        lambda: admin_client.post(delete(tier), {"post": "yes", "why": "Gone upstream."}, follow=True),
    )
    assert page.status_code == 200
    assert "The database refuses this" in text_of(page)
    assert "is still referenced" in text_of(page)
    assert "was deleted successfully" not in text_of(page)
    assert Primitive.objects.get().tier == tier


@pytest.mark.django_db(transaction=True)
def test_nor_through_the_list(admin_client: Client) -> None:
    tier, category = make_tier(), make_category()
    data = {"action": "delete_selected", "_selected_action": [tier.pk], "post": "yes", "why": "Gone upstream."}
    page = amid(INSERT, [tier.pk, category.pk], lambda: admin_client.post(LIST, data, follow=True))
    assert page.status_code == 200
    assert "is still referenced" in text_of(page)
    assert "Successfully deleted" not in text_of(page)
    assert Primitive.objects.get().tier == tier


@pytest.mark.django_db
def test_a_rung_above_the_line_that_shares_a_kernel_is_refused(admin_client: Client) -> None:
    tier = make_tier("microvm")
    form = AdminForm(admin_client, change(tier))
    form.fields |= {"kernel": "shared", "summary": "Typed, and kept."}
    again = form.send()
    assert again is not None
    assert "Ranks 1 to 4 share the host's kernel; ranks 5 and 6 bring their own." in again.errors
    assert again.fields["summary"] == "Typed, and kept."


@pytest.mark.django_db
def test_a_curator_edits_a_rung_and_its_claims_and_the_page_shows_it() -> None:
    tier = make_tier("microvm")
    make_claim(tier)
    client = curator_client()
    form = AdminForm(client, change(tier))
    form.fields |= {"slug": "other", "summary": "A new summary.", "claims-0-sentence": "A new sentence."}
    assert form.send() is None
    tier.refresh_from_db()
    assert tier.slug == "microvm"
    page = text_of(client.get("/ladder/microvm/"))
    assert "A new summary." in page
    assert "A new sentence." in page


@pytest.mark.django_db
def test_a_claim_about_a_rung_without_its_evidence_is_refused(admin_client: Client) -> None:
    tier = make_tier()
    form = AdminForm(admin_client, change(tier))
    form.add("claims", slug="one", aspect="boundary", label="documented", sentence="Kept.", as_of="2026-08-21")
    again = form.send()
    assert again is not None
    assert "Claim one: documented needs a document" in again.errors
    assert again.fields["claims-0-sentence"] == "Kept."


@pytest.mark.django_db
def test_the_list_shows_the_rungs(admin_client: Client) -> None:
    make_tier("microvm")
    assert "microvm" in text_of(admin_client.get(LIST))
