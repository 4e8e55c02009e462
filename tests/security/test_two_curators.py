"""Two curators who save the same entry: the second is told, and nothing is lost silently."""

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from evidence.models import Claim, Label
from history.events import last_change
from primitives.models import Primitive
from tests.admin_form import AdminForm
from tests.factories import make_audit, make_claim, make_primitive, make_source
from tests.races import at_the_same_time

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def entry() -> Primitive:
    runc = make_primitive(slug="runc", name="runc")
    claim = make_claim(runc, Label.INFERRED)
    make_source(claim)
    return runc


def clients() -> list[Client]:
    found = []
    for name in ("ada", "grace"):
        client = Client()
        client.force_login(User.objects.create_superuser(name))
        found.append(client)
    return found


def test_the_second_is_told_and_keeps_what_was_typed(entry: Primitive) -> None:
    page = f"/admin/primitives/primitive/{entry.pk}/change/"
    first, second = (AdminForm(client, page) for client in clients())
    # The first changes what belongs to the entry, the second the entry itself.
    first.fields["claims-0-sentence"] = "Of the first."
    assert first.send() is None
    second.fields["summary"] = "Of the second."
    again = second.send()
    assert again is not None
    assert "Somebody else has changed this since you opened it" in again.errors
    assert again.fields["summary"] == "Of the second."
    assert entry.claims.get().sentence == "Of the first."
    assert Primitive.objects.get().summary != "Of the second."
    # Now that the second knows, their word holds.
    assert again.send() is None
    assert Primitive.objects.get().summary == "Of the second."


def test_of_two_at_the_same_moment_one_is_told(entry: Primitive) -> None:
    page = f"/admin/primitives/primitive/{entry.pk}/change/"
    forms = [AdminForm(client, page) for client in clients()]
    start, told = threading.Barrier(2, timeout=30), []

    def save(form: AdminForm, words: str) -> None:
        form.fields["summary"] = words
        start.wait()
        try:
            again = form.send()
            told.append(again.errors if again else "")
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=pair) for pair in zip(forms, ("One.", "Other."), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bool(errors) for errors in told) == [False, True]
    assert "Somebody else" in "".join(told)


def write(claims: Any, outcomes: list[str], start: threading.Barrier | None = None) -> None:
    """Change claims from a thread, and say what came of it."""
    try:
        if start:
            start.wait()
        claims.update(version="1.2")
        outcomes.append("written")
    except Exception as error:
        outcomes.append(repr(error))
    finally:
        connection.close()


def test_two_who_write_different_claims_of_one_entry_are_both_let_through(entry: Primitive) -> None:
    with transaction.atomic():
        pair = [entry.claims.get(), make_claim(entry)]
    outcomes: list[str] = []

    for _ in range(15):
        start = threading.Barrier(2, timeout=30)
        threads = [
            threading.Thread(target=write, args=[Claim.objects.filter(pk=claim.pk), outcomes, start]) for claim in pair
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert outcomes == ["written"] * 30


def test_who_says_that_a_surface_stands_on_an_entry_and_who_saves_that_entry_are_both_let_through() -> None:
    with transaction.atomic():
        runc = make_primitive("runc")
        audit = make_audit("codex", postures=[{"tier": "container", "primitives": (runc,)}, {"is_default": False}])
    other = audit.postures.get(is_default=False)

    def ada() -> None:
        audit.save()
        other.primitives.add(runc)

    assert at_the_same_time(ada, runc.save) == ["committed", "committed"]


def test_a_claim_written_while_its_entry_is_being_saved_waits_for_that(
    entry: Primitive, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = AdminForm(clients()[0], f"/admin/primitives/primitive/{entry.pk}/change/")
    form.fields["summary"] = "Saved."
    outcomes: list[str] = []
    writer = threading.Thread(target=write, args=[Claim.objects.all(), outcomes])

    def look(*row: Any) -> str:
        """What the admin does when it has locked the entry, and before it saves."""
        writer.start()
        writer.join(0.5)
        return last_change(*row)

    monkeypatch.setattr("evidence.admin.last_change", look)
    assert form.send() is None
    writer.join(20)
    assert outcomes == ["written"]
    assert Primitive.objects.get().summary == "Saved."
