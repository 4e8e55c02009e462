#!/usr/bin/env python
"""Turn the research pack's primitives into content files: convert_pack.py PACK [--to FIXTURES].

The same pack gives the same bytes; a corrected pack changes what was corrected and nothing else. Prints what the pack
holds and what was written, and ends with 1 where the two differ. FORMAT.md in the pack describes what is read here.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sandboxicon.content import files  # noqa: E402

COPIED = [
    *("slug", "name", "aliases", "summary", "tier", "category", "platforms", "status", "license", "written_in"),
    *("first_release", "maintainer", "homepage", "repo", "docs", "builds_on", "isolates"),
]
ISOLATES = ["filesystem", "network", "processes", "syscalls", "resources", "privileges", "devices", "kernel"]
# An escape's id may carry the name that people use, as in CVE-2026-31431 (Copy Fail).
NUMBER_AND_NICKNAME = re.compile(r"(CVE-\d{4}-\d+) \((.+)\)")
# Or its summary begins with that name. They are listed, since not each word before a colon is a name.
NICKNAME_AND_SUMMARY = re.compile(r"(cr8escape|Leaky Vessels|VENOM): (.+)", re.DOTALL)


def claim(fact: dict[str, Any]) -> dict[str, Any]:
    """A fact of the pack as a claim of ours."""
    result = {
        "slug": fact["id"],
        "aspect": fact["about"],
        "sentence": fact["fact"],
        "label": fact["label"],
        "version": fact["version"],
        "as_of": fact["as_of"],
    }
    result |= {key: fact[key] for key in ("reasoning", "looked") if fact.get(key)}
    return {**result, "sources": fact["sources"]}


def published_break(escape: dict[str, Any]) -> dict[str, Any]:
    """An escape of the pack as a break of ours."""
    identifier, summary, nickname = escape["id"], escape["summary"], None
    if both := NUMBER_AND_NICKNAME.fullmatch(identifier):
        identifier, nickname = both.groups()
    if both := NICKNAME_AND_SUMMARY.fullmatch(summary):
        nickname, summary = both.groups()
        summary = summary[0].upper() + summary[1:]
    result = {
        "identifier": identifier,
        "year": escape["year"],
        "summary": summary,
        "fixed_in": escape["fixed_in"],
        "url": escape["url"],
    }
    return {**result, "nickname": nickname} if nickname else result


def primitive(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of the pack as a document of ours."""
    document = {key: entry[key] or ([] if key in ("aliases", "builds_on", "isolates") else None) for key in COPIED}
    document["platforms"] = sorted(entry["platforms"])
    document["builds_on"] = sorted(document["builds_on"])
    document["isolates"] = [thing for thing in ISOLATES if thing in document["isolates"]]
    breaks = [published_break(escape) for escape in entry.get("escapes") or []]
    return {
        **document,
        "claims": [claim(fact) for fact in entry["facts"]],
        "breaks": sorted(breaks, key=lambda item: (-item["year"], item["identifier"])),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--to", type=Path, default=ROOT / "fixtures")
    options = parser.parse_args()

    entries = [
        files.parse(path.read_bytes(), path.name) for path in sorted((options.pack / "primitives").glob("*.yaml"))
    ]
    documents = {f"primitives/{entry['slug']}.yaml": primitive(entry) for entry in entries}
    written, removed = files.write(options.to, {path: files.dump(document) for path, document in documents.items()})

    there = [files.parse((options.to / path).read_bytes(), path) for path in documents]
    pack = (
        len(entries),
        sum(len(entry["facts"]) for entry in entries),
        sum(len(entry.get("escapes") or []) for entry in entries),
    )
    ours = (len(there), sum(len(entry["claims"]) for entry in there), sum(len(entry["breaks"]) for entry in there))
    print("pack:     {} entries, {} facts, {} escapes".format(*pack))
    print("fixtures: {} entries, {} claims, {} breaks".format(*ours))
    print(f"{len(written)} files written, {len(removed)} removed")
    return pack != ours


if __name__ == "__main__":
    sys.exit(main())
