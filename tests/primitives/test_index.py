"""The facets of all entries in memory say what the database says."""

import itertools

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from primitives.filters import PrimitiveFilterSet
from primitives.index import FacetIndex, Found

FACETS = ["tier:microvm", "tier:container", "platform:linux", "platform:macos", "label:inferred"]
entries = st.lists(st.sets(st.sampled_from(FACETS), min_size=1), max_size=40)
VALUES = {"tier": ["microvm", "container"], "platform": ["linux", "macos"], "label": ["inferred"]}
names = st.sampled_from(sorted(VALUES))
some = st.lists(st.sampled_from([*itertools.chain(*VALUES.values()), "unknown"]), min_size=1, max_size=3)


@given(entries, names, some, names, some, st.integers(0, 12))
def test_it_finds_and_counts_what_a_look_at_each_entry_finds(
    have: list[set[str]], one: str, any_of: list[str], other: str, all_of: list[str], most: int
) -> None:
    index = FacetIndex((100 + place, ",".join(sorted(facets))) for place, facets in enumerate(have))
    found = index.any_of(one, any_of) & index.all_of(other, all_of)
    expected = [
        100 + place
        for place, facets in enumerate(have)
        if facets.intersection(f"{one}:{it}" for it in any_of) and facets.issuperset(f"{other}:{it}" for it in all_of)
    ]
    assert index.first(found, most) == expected[:most]
    for name, values in VALUES.items():
        numbers = {value: sum(f"{name}:{value}" in have[key - 100] for key in expected) for value in values}
        counted = index.numbers(found, name)
        assert {value: counted.get(value, 0) for value in values} == numbers
        of_keys = index.numbers_of([*expected, 7]).get(name, {})
        assert {value: of_keys.get(value, 0) for value in values} == numbers
    assert (list(Found(index, found, most)), len(Found(index, found, most))) == (expected[:most], len(expected[:most]))
    assert Found(index, found, most)[2:5] == expected[:most][2:5]
    assert index.first(index.all, 100) == [100 + place for place in range(len(have))]


@pytest.mark.django_db
@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("sort", PrimitiveFilterSet.SORTS)
def test_filters_find_the_same_entries_in_the_same_order_as_the_database(sort: str) -> None:
    followed = 0
    for query in (
        "",
        "tier=microvm&tier=container",
        "platform=linux&platform=macos",
        "isolates=network&label=verified-code&label=documented",
        "category=runtime&status=active&tier=microvm",
    ):
        filterset = PrimitiveFilterSet(QueryDict(f"{query}&sort={sort}"))
        found = list(filterset.found().values_list("pk", flat=True))
        assert list(filterset.keys()) == found
        assert filterset.keys()[3:9] == found[3:9]
        followed += len(found)
    assert followed > 100


def test_of_very_many_found_the_beginning_has_more_than_are_asked_for_and_ends_soon() -> None:
    index = FacetIndex((place, "tier:microvm" if place % 5 else "tier:container") for place in range(100_000))
    found = index.any_of("tier", ["container"])
    beginning = index.beginning(found, 1_000)
    assert index.first(beginning, 100_000) == [*range(0, 8_192, 5)]
    assert index.numbers(beginning, "tier") == {"microvm": 0, "container": 1_639}
    assert index.beginning(found, 20_000) == found


def test_it_finds_the_last_of_very_many() -> None:
    index = FacetIndex((place, "tier:microvm" if place % 5_000 else "tier:container") for place in range(20_001))
    assert index.first(index.any_of("tier", ["container"]), 9) == [0, 5_000, 10_000, 15_000, 20_000]
    assert index.first(index.all_of("tier", ["microvm"]), 20_000)[-1] == 19_999
