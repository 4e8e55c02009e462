"""Known errors in what somebody pasted, found in time linear in its length.

Patterns are content, so they run in RE2, which has no backtracking: no pattern and no paste can hang a worker. All of
them are looked for at once, a line at a time.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2
from django.core.exceptions import ValidationError

LONGEST_SHOWN = 240
LEAD = 60

# Colour and cursor codes: as bytes, as they are written where a log escapes them, or with their first byte lost. It is
# ours, not content, and no two of its repetitions can share a character: it does not backtrack.
_CODES = re.compile(
    r"(?:\x1b|\\x1b|\\u001b|\\033|\^\[)(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-Z]|[=>78@-Z])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?"
    r"|\[[0-9;]+m"
)
# What cannot be seen, or turns the direction of what can, goes; other control characters become blanks.
_UNSEEN = dict.fromkeys([0xAD, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_BLANKS: dict[int, Any] = dict.fromkeys([*range(0x20), *range(0x7F, 0xA1), 0x2028, 0x2029], " ")
_STRAIGHT = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_TIDY = str.maketrans({**_UNSEEN, **_BLANKS, **_STRAIGHT})


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def loosened(pattern: str) -> str:
    """The pattern as it is looked for: before what should begin a line, a prompt or a date may stand."""
    return rf"(?:^|\W)(?:{pattern[1:]})" if pattern.startswith("^") else pattern


def validate_pattern(pattern: str) -> None:
    """Refuse what RE2 cannot compile, such as a reference back to a group, and what finds every line."""
    try:
        found = re2.compile(loosened(pattern), _options()).search("")
    except re2.error as error:
        raise ValidationError(f"Not a regular expression that RE2 takes: {_words(error)}.") from None
    if found:
        raise ValidationError("The pattern finds an empty line, so it would find every line.")


def _words(error: Exception) -> str:
    word = error.args[0] if error.args else "it does not say why"
    return word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)


def lines_of(text: str) -> list[str]:
    """The lines of a paste as they are compared: without colour codes and what cannot be seen, quotes straight."""
    text = _CODES.sub("", text.encode("utf-8", "replace").decode())
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace('\\"', '"')
    return [line.translate(_TIDY).strip() for line in text.split("\n")]


def find(pattern: str, text: str) -> str | None:
    """The first line of `text` that the pattern finds."""
    matches = _Patterns((pattern,)).matches
    return next((line for line in lines_of(text) if matches(line)), None)


@dataclass
class Sighting:
    """A known error in a paste: which pattern (its place), in which line first, and in how many more."""

    place: int
    number: int
    line: str
    more: int = 0


class _Patterns:
    """Patterns compiled together. One that RE2 does not take finds nothing."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.places: list[int] = []
        self.each: dict[int, Any] = {}
        self.all = re2.Set.SearchSet(_options())
        for place, pattern in enumerate(patterns):
            try:
                self.each[place] = re2.compile(loosened(pattern), _options())
                self.all.Add(loosened(pattern))
            except re2.error:
                continue
            self.places.append(place)
        self.all.Compile()

    def matches(self, line: str) -> list[int]:
        """The places of the patterns that find something in a line."""
        return sorted(self.places[number] for number in self.all.Match(line) or ()) if self.places else []

    def shown(self, place: int, line: str) -> str:
        """The line, shortened around what the pattern finds in it."""
        start = max(0, self.each[place].search(line).start() - LEAD) if len(line) > LONGEST_SHOWN else 0
        end = start + LONGEST_SHOWN
        return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


@lru_cache(maxsize=8)
def _compiled(patterns: tuple[str, ...]) -> _Patterns:
    """Compiled once for one state of the content, since the patterns themselves are the key."""
    return _Patterns(patterns)


def sightings(patterns: tuple[str, ...], text: str) -> list[Sighting]:
    """Which of the patterns find something in `text`, in the order in which they are met."""
    known = _compiled(patterns)
    met: dict[int, Sighting] = {}
    seen: dict[str, list[int]] = {}
    for number, line in enumerate(lines_of(text), 1):
        if line not in seen:
            seen[line] = known.matches(line)
        for place in seen[line]:
            if place in met:
                met[place].more += 1
            else:
                met[place] = Sighting(place, number, known.shown(place, line))
    return list(met.values())


def matched_by(patterns: tuple[str, ...], texts: list[str]) -> set[int]:
    """The places of the patterns that find something in any of `texts`."""
    known = _compiled(patterns)
    return {place for text in texts for line in lines_of(text) for place in known.matches(line)}
