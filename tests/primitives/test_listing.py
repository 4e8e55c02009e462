"""The columns that Postgres writes beside an entry, where two write at the same time."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections, transaction

from ladder.models import Tier
from primitives.models import Category, Platform, Primitive
from tests.factories import make_category, make_platform, make_primitive, make_tier

pytestmark = pytest.mark.django_db(transaction=True)


def while_another(changes: Callable[[], Any], this: Callable[[], Any]) -> None:
    """Do `this` from another connection after one has made its changes and before it commits."""

    def elsewhere() -> None:
        try:
            this()
        finally:
            connections.close_all()

    other = threading.Thread(target=elsewhere)
    with transaction.atomic():
        changes()
        other.start()
        other.join(0.5)  # or it waits
    other.join(20)
    assert not other.is_alive()


def listed() -> tuple[int, list[str]]:
    entry = Primitive.objects.get(slug="box")
    return entry.tier_rank, sorted(entry.facets)


def written_anew() -> tuple[int, list[str]]:
    Primitive.objects.update(slug="box")
    return listed()


def test_an_entry_that_comes_to_what_is_just_renamed_or_moved_is_listed_by_what_that_became() -> None:
    make_primitive(slug="box", tier=make_tier("container"), platforms=("linux",))
    tier, category = make_tier("microvm"), make_category("old")
    mac = make_platform("macos")
    entries = Primitive.objects.filter(slug="box")
    for rename, join in (
        (lambda: Tier.objects.filter(pk=tier.pk).update(rank=6), lambda: entries.update(tier=tier)),
        (lambda: Category.objects.filter(pk=category.pk).update(slug="new"), lambda: entries.update(category=category)),
        (
            lambda: Platform.objects.filter(pk=mac.pk).update(slug="mac"),
            lambda: Primitive.objects.get(slug="box").platforms.add(mac),
        ),
    ):
        while_another(rename, join)
        assert listed() == written_anew()
    assert listed()[0] == 6
    assert {"category:new", "platform:mac"} <= set(listed()[1])


def test_a_platform_that_is_renamed_while_an_entry_comes_to_it_is_listed_by_its_new_name() -> None:
    make_primitive(slug="box", platforms=("linux",))
    mac = make_platform("macos")
    while_another(
        lambda: Primitive.objects.get(slug="box").platforms.add(mac),
        lambda: Platform.objects.filter(pk=mac.pk).update(slug="mac"),
    )
    assert "platform:mac" in listed()[1]
    assert listed() == written_anew()
