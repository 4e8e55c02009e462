"""The tests' own ground: what one test does, no other test sees."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection

from audits.models import Agent
from evidence.models import Claim
from ladder.models import CostRange
from primitives.models import Primitive
from sandboxicon.models import LoadedDocument
from tests.factories import make_primitive


def searched() -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT slug, search_vector::text, search_keys::text FROM primitives_primitive ORDER BY slug")
        return cursor.fetchall()


@pytest.mark.django_db(transaction=True)
def test_a_committing_test_starts_without_content_where_it_does_not_ask_for_it() -> None:
    assert not Primitive.objects.exists()
    make_primitive("left-behind")
    Group.objects.create(name="Left behind")


@pytest.mark.django_db(transaction=True)
def test_what_the_test_before_committed_is_gone() -> None:
    assert not Primitive.objects.filter(slug="left-behind").exists()
    assert not Group.objects.filter(name="Left behind").exists()


class TestWithContent:
    """In this order, so that each sees what the one before left."""

    before: list[tuple[str, ...]] | None = None

    @pytest.mark.django_db
    def test_the_content_is_there(self, content: None) -> None:
        type(self).before = searched()
        assert len(self.before) == Primitive.objects.count() > 100

    @pytest.mark.django_db(transaction=True)
    def test_a_committing_test_may_delete_all_of_it(self, content: None) -> None:
        Group.objects.all().delete()
        CostRange.objects.all().delete()  # they rest on claims, which go with their primitives
        Agent.objects.all().delete()
        Primitive.objects.all().delete()
        LoadedDocument.objects.all().delete()

    @pytest.mark.django_db(transaction=True)
    def test_the_next_one_has_the_same_content_again(self, content: None) -> None:
        if self.before is None:
            pytest.skip("needs the tests before it")
        assert searched() == self.before
        assert Claim.objects.filter(primitive__isnull=False).count() > 1000
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'")
            assert cursor.fetchone() == (0,)
