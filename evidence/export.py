"""Claims as a table for a spreadsheet."""

import csv
from collections.abc import Iterable
from typing import Any

from evidence.models import Claim

COLUMNS = [
    *("address", "subject", "aspect", "label", "sentence", "version", "as_of", "freshness", "published"),
    *("reasoning", "looked_in", "sources"),
]
# A spreadsheet takes a cell that begins so for a formula, and runs it.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def harmless(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula: an apostrophe in front says that it is text."""
    return f"'{text}" if text.startswith(FORMULAS) else text


def row(claim: Claim) -> list[str]:
    """A claim's cells, in the order of COLUMNS; its sources a line each within a cell."""
    cells = [
        *(claim.address, str(claim.subject), claim.aspect, claim.label, claim.sentence, claim.version),
        *(claim.as_of.isoformat(), claim.freshness.value, "yes" if claim.is_public else "no"),
        *(claim.reasoning, claim.looked, "\n".join(source.href or source.purl for source in claim.sources.all())),
    ]
    return [harmless(cell) for cell in cells]


def write_csv(claims: Iterable[Claim], file: Any) -> None:
    """Write the claims to a file in text mode, a line each, with a heading."""
    table = csv.writer(file)
    table.writerow(COLUMNS)
    table.writerows(map(row, claims))
