"""What a reader pasted, looked up among the known errors: nothing is kept, and only matched lines are shown."""

import re
from dataclasses import dataclass, field

from nesting.models import Cell, ErrorText
from nesting.patterns import lines_of, sightings

MOST_BYTES = 64 * 1024
MOST_IN_ADDRESS = 500
# How much is compared for similarity where nothing is recognised: the lines that speak of trouble first.
MOST_LINES = 20
MOST_OF_LINE = 300
_TROUBLE = re.compile(r"error|fail|denied|permit|permission|cannot|can't|unable|refused|invalid|not ", re.IGNORECASE)


@dataclass
class Finding:
    """A known error in what was pasted: the line that matched, where, how many more lines did, and its cells."""

    error: ErrorText
    line: str
    number: int
    more: int
    cells: list[Cell]


@dataclass
class LookUp:
    """What came of a paste. `notice` says why nothing was looked up; `nearest` are errors spelt most like it."""

    notice: str = ""
    findings: list[Finding] = field(default_factory=list)
    nearest: list[ErrorText] = field(default_factory=list)


def look_up(text: str) -> LookUp:
    """The known errors in a text of at most MOST_BYTES (at most six queries)."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        return LookUp(f"That is more than {MOST_BYTES // 1024} KB. Paste the lines around the error.")
    if not text.strip():
        return LookUp("There was nothing in it. Paste a line, or a whole log.")
    known = list(ErrorText.objects.only("pattern").order_by("pk"))
    met = sightings(tuple(error.pattern for error in known), text)
    if not met:
        return LookUp(nearest=list(ErrorText.objects.nearest(_telling(text))))
    errors = ErrorText.objects.for_answer().in_bulk([known[sighting.place].pk for sighting in met])
    cells = Cell.objects.that_print(list(errors.values()))
    return LookUp(
        findings=[
            Finding(errors[pk], sighting.line, sighting.number, sighting.more, cells[pk])
            for sighting in met
            if (pk := known[sighting.place].pk) in errors
        ]
    )


def _telling(text: str) -> list[str]:
    """The lines worth comparing: each once, those that speak of trouble first, shortened."""
    lines = [line[:MOST_OF_LINE] for line in dict.fromkeys(lines_of(text)) if len(line) > 3]
    return sorted(lines, key=lambda line: not _TROUBLE.search(line))[:MOST_LINES]
