"""Two curators who save the same entry: the second is told, and nothing is lost silently."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from evidence.models import Label
from primitives.models import Primitive
from tests.admin_form import AdminForm
from tests.factories import make_claim, make_primitive, make_source

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
