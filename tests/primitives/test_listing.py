"""The columns that Postgres writes beside an entry, where two write at the same time."""

import pytest
from django.db import connection, transaction

from audits.models import Agent
from ladder.models import Tier
from primitives.models import Category, Platform, Primitive
from tests.factories import (
    make_audit,
    make_break,
    make_category,
    make_claim,
    make_platform,
    make_primitive,
    make_tier,
)
from tests.races import while_another

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_what_is_deleted_and_comes_back_as_another_one_within_a_transaction_lists_its_entries_as_that() -> None:
    tier, category = make_tier("container"), make_category("old")
    make_primitive(slug="box", tier=tier, category=category, platforms=("linux",))
    for table, values, changed in (
        ("ladder_tier", {"rank": 4, "slug": "vm"}, "tier:vm"),
        ("primitives_category", {"slug": "new"}, "category:new"),
        ("primitives_platform", {"slug": "tux"}, "platform:tux"),
    ):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table} RETURNING *")
            names = [column.name for column in cursor.description]
            row = dict(zip(names, cursor.fetchone(), strict=True)) | values
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})", list(row.values())
            )
        assert changed in listed()[1]
        assert listed() == written_anew()
    assert listed()[0] == 4


def test_emptied_tables_leave_nothing_behind_in_what_an_entry_is_listed_and_searched_by() -> None:
    with transaction.atomic():
        box = make_primitive(slug="box", platforms=("linux",))
        make_claim(box, sentence="It has a moat.")
        make_break(box, "CVE-2019-5736")
        make_claim(make_audit("helper", name="Lookout"), sentence="It has a drawbridge.")

    def found() -> list[int]:
        return [
            Primitive.objects.with_words("moat").count(),
            Primitive.objects.with_words("CVE-2019-5736").count(),
            Agent.objects.with_words("drawbridge").count(),
            Agent.objects.with_words("Lookout").count(),
            int("platform:linux" in listed()[1]),
        ]

    assert found() == [1, 1, 1, 1, 1]
    for tables, left in (
        ("primitives_supportedplatform", [1, 1, 1, 1, 0]),
        ("primitives_break", [1, 0, 1, 1, 0]),
        ("evidence_claim", [0, 0, 0, 1, 0]),
        ("audits_agentaudit", [0, 0, 0, 0, 0]),
    ):
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {tables} CASCADE")
        assert found() == left
        assert listed() == written_anew()


def test_what_an_entry_names_twice_counts_once() -> None:
    make_primitive(slug="box", isolates=["network", "network"])
    assert listed()[1].count("isolates:network") == 1
