"""The research pack into content files: the same bytes from the same pack, a small diff from a corrected one."""

import copy
import datetime
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from sandboxicon.content import files

spec = importlib.util.spec_from_file_location("convert_pack", settings.BASE_DIR / "tools" / "convert_pack.py")
convert_pack = importlib.util.module_from_spec(spec)
spec.loader.exec_module(convert_pack)

FACT = {
    "id": "own-kernel",
    "about": "boundary",
    "fact": "Each box has a kernel of its own.",
    "label": "inferred",
    "version": "1.10",
    "as_of": datetime.date(2026, 8, 21),
    "reasoning": "So.",
    "looked": None,
    "sources": [{"kind": "doc", "url": "https://example.org/", "title": "A page"}],
}
ESCAPE = {"id": "CVE-2019-1", "year": 2019, "summary": "It got out.", "fixed_in": None, "url": "https://example.org/"}


def entry(slug: str, **fields: Any) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": slug.capitalize(),
        "aliases": [],
        "summary": "A box.",
        "tier": "microvm",
        "category": "vmm",
        "platforms": ["macos", "linux"],
        "status": "active",
        "license": "MIT",
        "written_in": None,
        "first_release": 2018,
        "maintainer": "Somebody",
        "homepage": None,
        "repo": None,
        "docs": None,
        "builds_on": ["seccomp", "kvm"],
        "isolates": ["kernel", "filesystem"],
        "facts": [{**copy.deepcopy(FACT), "id": f"fact-{number}"} for number in range(3)],
        "escapes": [dict(ESCAPE)],
        **fields,
    }


class Conversion:
    """A pack and the folder that it is turned into."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.pack, self.to = folder / "pack", folder / "fixtures"
        self.capsys, self.monkeypatch = capsys, monkeypatch
        monkeypatch.setattr(convert_pack, "CHECKS", set())  # they name facts of the whole pack

    def run(self, *entries: dict[str, Any]) -> dict[str, bytes]:
        """The files that the entries are turned into; `output` is what was printed."""
        folder = self.pack / "primitives"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.yaml"):
            old.unlink()
        for item in entries:
            # As a person writes it: not in our form.
            text = yaml.safe_dump(item, default_flow_style=None, width=60)
            (folder / f"{item['slug']}.yaml").write_text(text)
        self.monkeypatch.setattr(sys, "argv", ["convert_pack.py", str(self.pack), "--to", str(self.to)])
        self.code = convert_pack.main()
        self.output = self.capsys.readouterr().out
        return {path.relative_to(self.to).as_posix(): path.read_bytes() for path in self.to.glob("*/*.yaml")}


@pytest.fixture
def conversion(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Conversion:
    return Conversion(tmp_path, capsys, monkeypatch)


def test_the_same_pack_gives_the_same_bytes_and_leaves_the_files_alone(conversion: Conversion) -> None:
    first = conversion.run(entry("kvm"), entry("firecracker"))
    dates = [path.stat().st_mtime_ns for path in sorted(conversion.to.glob("*/*"))]
    assert conversion.run(entry("kvm"), entry("firecracker")) == first
    assert [path.stat().st_mtime_ns for path in sorted(conversion.to.glob("*/*"))] == dates
    assert "0 files written, 0 removed" in conversion.output


def test_a_corrected_fact_changes_its_own_lines_alone(conversion: Conversion) -> None:
    before = conversion.run(entry("kvm"), entry("firecracker"))
    corrected = entry("kvm")
    corrected["facts"][1]["fact"] = "Each box has two."
    after = conversion.run(corrected, entry("firecracker"))
    assert [path for path in after if after[path] != before[path]] == ["primitives/kvm.yaml"]
    old, new = (files["primitives/kvm.yaml"].splitlines() for files in (before, after))
    assert [(a, b) for a, b in zip(old, new, strict=True) if a != b] == [
        (b"  sentence: Each box has a kernel of its own.", b"  sentence: Each box has two.")
    ]
    assert "1 files written, 0 removed" in conversion.output


def test_an_entry_that_left_the_pack_loses_its_file_and_no_other_folder_is_touched(conversion: Conversion) -> None:
    conversion.run(entry("kvm"), entry("firecracker"))
    ours = conversion.to / "tiers" / "microvm.yaml"
    ours.parent.mkdir()
    ours.write_text("slug: microvm\n")
    assert set(conversion.run(entry("kvm"))) == {"primitives/kvm.yaml", "tiers/microvm.yaml"}
    assert "0 files written, 1 removed" in conversion.output


def test_both_numbers_are_printed(conversion: Conversion) -> None:
    conversion.run(entry("kvm"), entry("firecracker", escapes=None))
    assert conversion.code == 0
    assert "pack:     2 entries, 6 facts, 1 escapes" in conversion.output
    assert "fixtures: 2 entries, 6 claims, 1 breaks" in conversion.output


def test_two_files_of_the_pack_with_one_slug_are_not_passed_over(conversion: Conversion) -> None:
    conversion.run(entry("kvm"))
    (conversion.pack / "primitives" / "copy.yaml").write_text(yaml.safe_dump(entry("kvm")))
    assert convert_pack.main() == 1
    assert "pack:     2 entries" in conversion.capsys.readouterr().out


def test_an_entry_keeps_what_it_says(conversion: Conversion) -> None:
    data = conversion.run(entry("kvm"))["primitives/kvm.yaml"]
    document = files.parse(data, "kvm.yaml")
    assert document["platforms"] == ["linux", "macos"]
    assert document["builds_on"] == ["kvm", "seccomp"]
    assert document["isolates"] == ["filesystem", "kernel"]
    assert document["claims"][0] == {
        "slug": "fact-0",
        "aspect": "boundary",
        "sentence": "Each box has a kernel of its own.",
        "label": "inferred",
        "version": "1.10",
        "as_of": datetime.date(2026, 8, 21),
        "reasoning": "So.",
        "sources": FACT["sources"],
    }
    assert document["breaks"] == [
        {
            "identifier": "CVE-2019-1",
            "year": 2019,
            "summary": "It got out.",
            "fixed_in": None,
            "url": "https://example.org/",
        }
    ]


def test_a_fact_that_says_how_to_check_is_marked_and_one_that_is_not_there_stops_everything(
    conversion: Conversion, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "says_how_to_check" not in convert_pack.claim(copy.deepcopy(FACT))
    assert convert_pack.claim(copy.deepcopy(FACT), says_how_to_check=True)["says_how_to_check"] is True
    before = conversion.run(entry("kvm"))
    monkeypatch.setattr(convert_pack, "CHECKS", {("codex", "cli", "no-such-fact")})
    (conversion.pack / "primitives" / "kvm.yaml").write_text(yaml.safe_dump(entry("kvm", summary="Another.")))
    assert convert_pack.main() == 1
    assert "codex/cli/no-such-fact" in conversion.capsys.readouterr().err
    assert (conversion.to / "primitives/kvm.yaml").read_bytes() == before["primitives/kvm.yaml"]


@pytest.mark.parametrize(("theirs", "ours"), [(True, "yes"), (False, "no"), ("partly", "partly")])
def test_an_agent_is_published_and_what_nobody_states_is_unknown_or_null(
    theirs: Any, ours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = {"read": "box", "write": "nothing", "network": "off", "credentials": "none", "approvals": "never"}
    words = {name: f"{name} in words" for name in ("filesystem_read", "filesystem_write", "network", "credentials")}
    posture = {
        **words,
        "mode": "boxed",
        "note": None,
        "platforms": ["macos", "linux"],
        "is_default": True,
        "how": None,
        "isolation": "undisclosed",
        "tier": None,
        "primitives": ["seccomp", "kvm"],
        "approvals": None,
        "on_failure": None,
        "levels": levels,
        "facts": ["own-kernel", "other"],
    }
    facts = [copy.deepcopy(FACT), {**copy.deepcopy(FACT), "id": "other"}]
    surface = {"slug": "cli", "name": "CLI", "kind": "cli", "postures": [posture], "facts": facts}
    agent = {
        "slug": "codex",
        "name": "Codex",
        "vendor": "OpenAI",
        "open_source": theirs,
        "license": None,
        "homepage": None,
        "repo": None,
        "docs": None,
        "surfaces": [surface],
        "incidents": [dict(ESCAPE)],
    }
    monkeypatch.setattr(convert_pack, "CHECKS", {("codex", "cli", "other"), ("codex", "ide", "own-kernel")})
    document = convert_pack.agent(agent)
    assert document["open_source"] == ours
    (audit,) = document["audits"]
    assert audit["is_published"] is True
    assert [(claim["slug"], claim.get("says_how_to_check")) for claim in audit["claims"]] == [
        ("own-kernel", None),
        ("other", True),
    ]
    (made,) = audit["postures"]
    assert made["on_failure"] == "unknown"
    assert made["approvals"] is None
    assert made["levels"] == levels
    assert (made["platforms"], made["primitives"]) == (["linux", "macos"], ["kvm", "seccomp"])
    assert made["rests_on"] == ["other", "own-kernel"]
    assert {name: made[name] for name in words} == words
    assert [item["identifier"] for item in document["breaks"]] == ["CVE-2019-1"]


@pytest.mark.parametrize(
    ("identifier", "summary", "expected"),
    [
        ("CVE-2026-31431 (Copy Fail)", "It wrote.", ("CVE-2026-31431", "Copy Fail", "It wrote.")),
        ("CVE-2024-21626", "Leaky Vessels: a file leaked.", ("CVE-2024-21626", "Leaky Vessels", "A file leaked.")),
        ("CVE-2025-1", "nesting: true overrode it.", ("CVE-2025-1", None, "nesting: true overrode it.")),
        ("Some attack (arXiv 2605.12990)", "It read.", ("Some attack (arXiv 2605.12990)", None, "It read.")),
    ],
)
def test_the_name_that_people_use_is_told_from_number_and_summary(
    identifier: str, summary: str, expected: tuple[str, ...]
) -> None:
    item = convert_pack.published_break({**copy.deepcopy(ESCAPE), "id": identifier, "summary": summary})
    assert (item["identifier"], item.get("nickname"), item["summary"]) == expected


PACK = settings.BASE_DIR.parent / "shared" / "research"


@pytest.mark.skipif(not PACK.is_dir(), reason="the research pack is not beside this checkout")
def test_the_fixtures_are_what_the_pack_gives_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["convert_pack.py", str(PACK), "--to", str(tmp_path)])
    assert convert_pack.main() == 0
    made = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.glob("*/*.yaml")}
    ours = {
        path.relative_to(settings.FIXTURES_DIR).as_posix(): path.read_bytes()
        for folder in ("primitives", "agents", "nesting", "errors")
        for path in (settings.FIXTURES_DIR / folder).glob("*.yaml")
    }
    assert [name for name in ours | made if ours.get(name) != made.get(name)] == []
