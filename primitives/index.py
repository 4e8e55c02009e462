"""Which entries of the reference have which facets, as a process keeps it in memory (`evidence.kept`).

What filters find and what their options count is asked with every page of the reference, in ever new combinations. To
put the question to Postgres costs more than all the rest of such a page, and to answer it from these costs a hundredth.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from operator import and_, or_
from typing import Any

# What parts the facets of an entry in a row; none of them has one.
COMMA = ","

# So many entries are looked through at once for those found.
PART = 4_096


class Found(Sequence[int]):
    """The keys of the first `most` entries found, in the order of the list; those that nobody asks for are not made."""

    def __init__(self, index: "FacetIndex", found: int, most: int) -> None:
        self._index = index
        self._found = found
        self._length = min(found.bit_count(), most)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: Any) -> Any:
        stop = part.indices(self._length)[1] if isinstance(part, slice) else self._length
        return self._index.first(self._found, stop)[part]


class FacetIndex:
    """The entries of a list in its order, by their facets: one integer each, whose bit n is set if entry n has it.

    Made from rows of a key and the entry's facets, each a name, a colon and a value, with commas between. What it takes
    and gives as found is such an integer too. With 100,000 entries it holds about 15 MB, and no method takes as long as
    a millisecond.
    """

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self._keys: list[int] = []
        self._facets_of: dict[int, list[str]] = {}
        places: dict[str, list[int]] = defaultdict(list)
        for place, (key, facets) in enumerate(rows):
            self._keys.append(key)
            places[facets].append(place)
        of_facet: dict[str, list[int]] = defaultdict(list)
        for row, there in places.items():
            facets_there = row.split(COMMA)
            for facet in facets_there:
                of_facet[facet] += there
            for place in there:
                self._facets_of[self._keys[place]] = facets_there
        # By name, then by value.
        self._having: dict[str, dict[str, int]] = defaultdict(dict)
        for facet, there in of_facet.items():
            name, _, value = facet.partition(":")
            self._having[name][value] = _integer(there, len(self._keys))
        self.all = (1 << len(self._keys)) - 1

    def any_of(self, name: str, values: Iterable[str]) -> int:
        """The entries that have the facet of that name with one of the values or more."""
        return reduce(or_, (self._having[name].get(value, 0) for value in values))

    def all_of(self, name: str, values: Iterable[str]) -> int:
        """The entries that have the facet of that name with each of the values."""
        return reduce(and_, (self._having[name].get(value, 0) for value in values))

    def first(self, found: int, most: int) -> list[int]:
        """The keys of the first `most` entries found, in the order of the list."""
        keys: list[int] = []
        # Part by part, since a page shows few of many.
        for start in range(0, len(self._keys), PART):
            bits, place = f"{found >> start & (1 << PART) - 1:b}"[::-1], -1
            while len(keys) < most and (place := bits.find("1", place + 1)) >= 0:
                keys.append(self._keys[start + place])
            if len(keys) == most:
                break
        return keys

    def beginning(self, found: int, most: int) -> int:
        """Those found at the beginning of the list, up to where there are more than `most` of them: the shorter, the
        sooner they are counted.
        """
        stop = PART
        while stop < len(self._keys):
            some = found & (1 << stop) - 1
            if some.bit_count() > most:
                return some
            stop *= 2
        return found

    def numbers(self, found: int, name: str) -> dict[str, int]:
        """How many of the entries found have the facet of that name with each of its values."""
        return {value: (found & having).bit_count() for value, having in self._having[name].items()}

    def numbers_of(self, keys: Iterable[int]) -> dict[str, dict[str, int]]:
        """How many of the entries with these keys have each facet, by its name and value; for those that are few.
        Those that it does not know do not count.
        """
        numbers: dict[str, dict[str, int]] = defaultdict(dict)
        for facet, number in Counter(chain.from_iterable(self._facets_of.get(key, ()) for key in keys)).items():
            name, _, value = facet.partition(":")
            numbers[name][value] = number
        return numbers


def _integer(places: Iterable[int], length: int) -> int:
    """The integer whose bits at these places are set, all below `length`."""
    bits = bytearray(length // 8 + 1)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")
