"""Primitives side by side."""

from collections.abc import Mapping
from typing import Any

from evidence.comparison import Cell, Row, Section, breaks_cell, labels_cell, names_cell, text_cell
from primitives.models import Isolates

NO_PARTS = "nothing in this guide"


def compare(primitives: list[Any], claims: Mapping[int, Mapping[str, int]]) -> list[Section]:
    """The rows for primitives made by for_comparison(). `claims` holds each one's number of claims by label."""

    def text(title: str, values: list[str]) -> Row:
        return Row(title, [text_cell(value) for value in values])

    def names(title: str, cells: list[Cell]) -> Row:
        return Row(title, cells, "evidence/_compared_names.html")

    return [
        Section(
            "Where it stands",
            [
                Row("Rung", [Cell(each.tier_id, each.tier) for each in primitives], "primitives/_compared_rung.html"),
                text("Category", [each.category.name for each in primitives]),
                names("Runs on", [names_cell(list(each.platforms.all()), "unknown") for each in primitives]),
                text("Status", [each.get_status_display() for each in primitives]),
                names("Builds on", [names_cell(list(each.builds_on.all()), NO_PARTS) for each in primitives]),
            ],
        ),
        Section(
            "What it isolates",
            [
                Row(
                    thing.label.capitalize(),
                    [Cell(thing.value in each.isolates, thing.value in each.isolates) for each in primitives],
                    "primitives/_compared_isolates.html",
                )
                for thing in Isolates
            ],
        ),
        Section(
            "Who makes it, and of what",
            [
                text("Maintainer", [each.maintainer for each in primitives]),
                text("Licence", [each.license for each in primitives]),
                text("Written in", [each.written_in for each in primitives]),
                text("First release", [str(each.first_release or "") for each in primitives]),
            ],
        ),
        Section(
            "What is known",
            [
                Row(
                    "Claims by label",
                    [labels_cell(claims.get(each.pk, {})) for each in primitives],
                    "evidence/_compared_labels.html",
                ),
                Row(
                    "Newest claim as of",
                    [Cell(each.last_checked, each.last_checked) for each in primitives],
                    "evidence/_compared_date.html",
                ),
                Row("Known breaks", [breaks_cell(each.break_count, each.newest_break) for each in primitives]),
            ],
        ),
    ]
