"""Known errors found in text: each by its own example, whatever stands around it, in linear time."""

import os
import random
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.exceptions import ValidationError
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from nesting.patterns import LONGEST_SHOWN, find, lines_of, matched_by, sightings, validate_pattern

ERRORS: list[dict[str, Any]] = [
    yaml.safe_load(path.read_text()) for path in sorted((settings.FIXTURES_DIR / "errors").glob("*.yaml"))
]
PATTERNS = tuple(error["pattern"] for error in ERRORS)
# How many pastes hypothesis makes: `make pastes` asks for 10,000.
PASTES = int(os.environ.get("PASTES", "100"))

AROUND = {
    "nothing": "{}",
    "colours": "\x1b[1;31m{}\x1b[0m",
    "colours as text": "\\u001b[31m{}\\u001b[0m",
    "colours whose first byte is lost": "[31m{}[0m",
    "a title for the terminal": "\x1b]0;agent\x07{}",
    "a prompt": "user@host:~$ {}",
    "a timestamp": "2026-11-30T12:00:00.123456Z {}",
    "a log of Kubernetes": "2026-11-30T12:00:00.1Z stderr F {}",
    "a service of Compose": "agent-1  | {}",
    "npm": "npm ERR! {}",
    "a path": "/usr/bin/{}",
    "JSON": '{{"log":"{}\\n","stream":"stderr"}}',
    "Windows": "{}\r",
    "a carriage return before it": "50 %\r{}",
    "what cannot be seen": "\ufeff\u200b{}",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_every_error_is_found_by_its_own_example_whatever_stands_around_it(around: str) -> None:
    for place, error in enumerate(ERRORS):
        text = "\n".join(around.format(line) for line in error["example"].splitlines())
        assert place in [sighting.place for sighting in sightings(PATTERNS, text)], (error["slug"], text)


def test_every_error_is_found_in_a_log_of_two_thousand_lines_and_nothing_else_is() -> None:
    chance = random.Random(7)
    words = ["step", "INFO", "layer", "cached", "fetching", "ok", "12.3s", "sha256:0f3c", "done", "warning: unused"]
    log = [" ".join(chance.choices(words, k=9)) for _ in range(2000)]
    assert sightings(PATTERNS, "\r\n".join(log)) == []
    places = chance.sample(range(0, 2000, 3), len(ERRORS))
    for place, error in zip(places, ERRORS, strict=True):
        log[place] = f"2026-11-30 12:00:{place % 60:02} [agent] \x1b[31m{error['example'].splitlines()[0]}\x1b[0m"
    met = sightings(PATTERNS, "\r\n".join(log))
    assert {sighting.place for sighting in met} == set(range(len(ERRORS)))
    first = {sighting.place: sighting.number for sighting in met}
    for number, error in zip(places, range(len(ERRORS)), strict=True):
        assert first[error] <= number + 1
    assert [sighting.number for sighting in met] == sorted(first.values())


def test_curly_quotes_and_hard_blanks_are_as_good_as_straight_ones() -> None:
    pasted = "bwrap:\u00a0Can\u2019t mount proc on /newroot/proc: Operation not permitted"
    assert [ERRORS[sighting.place]["slug"] for sighting in sightings(PATTERNS, pasted)] == ["bwrap-mount-proc"]


def test_a_line_is_shown_short_and_around_what_was_found() -> None:
    line = "x" * 5000 + " bwrap: pivot_root: Operation not permitted " + "y" * 5000
    (sighting,) = sightings(PATTERNS, f"{line}\nbwrap: pivot_root: Operation not permitted")
    assert "bwrap: pivot_root: Operation not permitted" in sighting.line
    assert len(sighting.line) <= LONGEST_SHOWN + 4
    assert (sighting.number, sighting.more) == (1, 1)


def test_what_turns_the_direction_of_a_line_is_not_shown() -> None:
    (sighting,) = sightings(PATTERNS, "\u202ebwrap: pivot_root: Operation not permitted\u2066\x07\x00")
    assert sighting.line == "bwrap: pivot_root: Operation not permitted"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("bwrap: (", "missing"),
        (r"(a)\1", "invalid escape"),
        ("(?=a)b", "invalid perl operator"),
        ("a*", "an empty line"),
        ("", "an empty line"),
    ],
)
def test_a_pattern_that_cannot_be_run_in_linear_time_or_finds_all_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        validate_pattern(pattern)


def test_a_pattern_that_the_database_holds_nonetheless_finds_nothing_and_hurts_no_other() -> None:
    assert [sighting.place for sighting in sightings(("(", "^b"), "b")] == [1]
    assert find("(", "b") is None


def test_a_cell_belongs_to_the_errors_whose_patterns_find_its_lines() -> None:
    met = matched_by(PATTERNS, ["bwrap: setting up uid map: Permission denied", "nothing known"])
    assert [ERRORS[place]["slug"] for place in met] == ["bwrap-uid-map-eacces"]


NASTY = st.one_of(
    st.text(max_size=300),
    st.binary(max_size=300).map(lambda data: data.decode("utf-8", "replace")),
    st.sampled_from([error["example"] for error in ERRORS]),
    st.sampled_from(
        ["<script>alert(1)</script>", "\"'>", "{{ 7*7 }}", "\x1b[", "\x1b]", "\\x1b[", "%00", "\x00", "\r"]
    ),
    st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=6), st.integers(1, 5000)),
    st.builds(lambda times: "landlock " * times, st.integers(1, 5000)),
)
PASTE = st.lists(NASTY, max_size=12).map(lambda parts: "\n".join(parts)[:65_536])


@hypothesis_settings(max_examples=PASTES, deadline=None, suppress_health_check=list(HealthCheck))
@given(PASTE)
def test_any_paste_is_looked_through(text: str) -> None:
    lines = lines_of(text)
    for sighting in sightings(PATTERNS, text):
        assert len(sighting.line) <= LONGEST_SHOWN + 4
        assert 1 <= sighting.number <= len(lines)
        assert sighting.line.strip("… ") in lines[sighting.number - 1]
        assert sighting.line.isprintable()
