"""Postgres itself records what changes, whoever writes, with who and why where it is told."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pghistory.models import Event

from audits.models import Posture, Proposal
from evidence.models import Claim, FormerAddress, Source, Withdrawn
from history.tracking import event_model, is_tracked
from primitives.models import Primitive
from sandboxicon.content.loading import load
from tests.admin_form import WHY, AdminForm, curator_client, text_of
from tests.content import small
from tests.factories import make_claim, make_posture, make_primitive
from tests.sql import sql


def events(of: type[Any], *fields: str, **lookup: Any) -> list[tuple[Any, ...]]:
    """What was recorded, oldest first: the event's label, and these fields of it."""
    rows = event_model(of).objects.filter(**lookup).order_by("pgh_id")
    return list(rows.values_list("pgh_label", *fields))


@pytest.mark.django_db(transaction=True)
class TestEveryWayToWrite:
    def test_a_claim_changed_through_orm_bulk_sql_load_and_admin_is_in_the_history_each_time(
        self, tmp_path: Path
    ) -> None:
        small.write(tmp_path, small.documents())
        load(tmp_path)
        claim = Claim.objects.filter(primitive__isnull=False).earliest("pk")
        first = claim.sentence

        claim.sentence = "Through the ORM."
        claim.save()
        Claim.objects.filter(pk=claim.pk).update(sentence="In bulk.")
        sql("UPDATE evidence_claim SET sentence = 'In SQL.' WHERE id = %s", claim.pk)
        load(tmp_path, overwrite_all=True)
        client = curator_client()
        form = AdminForm(client, reverse("admin:evidence_claim_change", args=[claim.pk]))
        form.fields["sentence"] = "In the admin."
        assert form.send() is None
        Claim.objects.get(pk=claim.pk).delete()

        found = events(Claim, "sentence", "pgh_context__metadata", pgh_obj=claim.pk)
        curie = User.objects.get(username="curie").pk
        folder = tmp_path.name
        assert found == [
            ("insert", first, {"why": f"Content load from {folder}: {small_report(found)}", "first": True}),
            ("update", "Through the ORM.", None),
            ("update", "In bulk.", None),
            ("update", "In SQL.", None),
            ("update", first, found[4][2]),
            ("update", "In the admin.", {"user": curie, "why": WHY}),
            ("delete", "In the admin.", None),
        ]
        assert found[4][2]["why"].startswith(f"Content load from {folder}: 0 created, 1 updated")
        assert "first" not in found[4][2]


GONE = ("insert", "delete")


def small_report(found: list[tuple[Any, ...]]) -> str:
    """The rest of the first load's reason: how many files it created."""
    return str(found[0][2]["why"]).split(": ", 1)[1]


@pytest.mark.django_db
class TestWhatIsRecorded:
    def test_nothing_where_nothing_changed_or_only_what_is_no_content(self) -> None:
        primitive = make_primitive("runc")
        claim = make_claim(primitive)
        claim.save()
        Claim.objects.update(position=7)
        Claim.objects.update(sentence=claim.sentence)
        # The search columns of the primitive follow the claim.
        before = sql("SELECT search_vector::text FROM primitives_primitive")
        Claim.objects.update(sentence="Something about zebras.")
        assert sql("SELECT search_vector::text FROM primitives_primitive") != before
        assert events(Primitive) == [("insert",)]
        assert events(Claim, "sentence")[1:] == [("update", "Something about zebras.")]
        assert not any("search" in field.name for field in event_model(Primitive)._meta.fields)

    def test_a_posture_with_all_that_hangs_on_it_is_recorded_and_stays_so_when_it_is_gone(self) -> None:
        posture = make_posture(tier="microvm", primitives=(make_primitive("libkrun"),))
        pk, claim = posture.pk, posture.claims.get()
        posture.audit.delete()
        assert events(Posture, "isolation", "tier__slug") == [(label, "isolated", "microvm") for label in GONE]
        assert events(Posture.platforms.through, "posture_id", "platform__slug") == [(one, pk, "linux") for one in GONE]
        assert events(Posture.primitives.through, "primitive__slug") == [(one, "libkrun") for one in GONE]
        assert events(Posture.claims.through, "claim_id") == [(one, claim.pk) for one in GONE]

    def test_a_source_is_recorded_with_its_claim(self) -> None:
        claim = make_claim(label="verified-code")
        pk = claim.pk
        Source.objects.update(lines="40-44")
        claim.delete()
        found = events(Source, "claim_id", "lines")
        assert found == [("insert", pk, "12-30"), ("update", pk, "40-44"), ("delete", pk, "40-44")]

    @pytest.mark.parametrize(
        "change", ["UPDATE evidence_claimevent SET sentence = 'x'", "DELETE FROM evidence_claimevent"]
    )
    def test_history_is_not_rewritten(self, change: str) -> None:
        make_claim()
        with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
            sql(change)

    def test_every_model_of_the_content_has_a_history(self) -> None:
        # Where claims once were follows from their history, and a proposal is a record itself.
        derived = {FormerAddress, Withdrawn, Proposal}
        for app in ("ladder", "primitives", "audits", "nesting", "evidence"):
            for model in apps.get_app_config(app).get_models():
                if not issubclass(model, Event) and model not in derived:
                    assert is_tracked(model), model


@pytest.mark.django_db
class TestTheReason:
    def test_a_change_without_one_is_refused_with_what_was_typed_still_there(self, admin_client: Client) -> None:
        claim = make_claim()
        form = AdminForm(admin_client, reverse("admin:evidence_claim_change", args=[claim.pk]))
        form.fields |= {"why": " ", "sources-0-title": "Another title"}
        again = form.send()
        assert again
        assert "Say why, at the end of the form" in again.errors
        assert again.fields["sources-0-title"] == "Another title"
        assert Source.objects.get().title != "Another title"
        again.fields["why"] = "The page\0  was renamed."
        assert again.send() is None
        (found,) = events(Source, "pgh_context__metadata__why", pgh_label="update")
        assert found == ("update", "The page was renamed.")

    def test_none_is_needed_where_nothing_changed(self, admin_client: Client) -> None:
        form = AdminForm(admin_client, reverse("admin:evidence_claim_change", args=[make_claim().pk]))
        form.fields["why"] = ""
        assert form.send() is None

    def test_nothing_is_deleted_without_one(self, admin_client: Client) -> None:
        claim = make_claim()
        address = reverse("admin:evidence_claim_delete", args=[claim.pk])
        assert 'name="why"' in admin_client.get(address).content.decode()
        assert "Say why" in text_of(admin_client.post(address, {"post": "yes"}, follow=True))
        several = {"action": "delete_selected", "_selected_action": [claim.pk]}
        listed = reverse("admin:evidence_claim_changelist")
        assert 'name="why"' in admin_client.post(listed, several).content.decode()
        assert "Say why" in text_of(admin_client.post(listed, {**several, "post": "yes"}, follow=True))
        assert Claim.objects.filter(pk=claim.pk).exists()

    def test_public_pages_and_reading_in_the_admin_set_nothing(self, client: Client, admin_client: Client) -> None:
        claim = make_claim()
        with CaptureQueriesContext(connection) as captured:
            client.get(claim.get_absolute_url())
            client.post("/primitives/")
            admin_client.get(reverse("admin:evidence_claim_change", args=[claim.pk]))
        assert captured.captured_queries
        # A claim's page reads its history, from tables of this name; what is set is a variable, with a dot in its name.
        assert not [query for query in captured.captured_queries if "pghistory." in query["sql"]]
