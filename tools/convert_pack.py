#!/usr/bin/env python
"""Turn the research pack into content files: convert_pack.py PACK [--to FIXTURES].

The same pack gives the same bytes; a corrected pack changes what was corrected and nothing else. Prints what the pack
holds and what was written, and ends with 1 where the two differ, or where the pack lacks a fact that is named here.
FORMAT.md in the pack describes what is read here.
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
OPEN_SOURCE = {True: "yes", False: "no", "partly": "partly"}
# An escape's id may carry the name that people use, as in CVE-2026-31431 (Copy Fail).
NUMBER_AND_NICKNAME = re.compile(r"(CVE-\d{4}-\d+) \((.+)\)")
# Or its summary begins with that name. They are listed, since not each word before a colon is a name.
NICKNAME_AND_SUMMARY = re.compile(r"(cr8escape|Leaky Vessels|VENOM): (.+)", re.DOTALL)
# The facts (agent, surface, id) by which a reader can tell whether a sandbox is on: they name what is seen then, as a
# warning, a prompt, a program's output or a variable. The pack has no mark for them. That a program refuses to start
# without its sandbox is no such fact: it is what the posture does on failure.
CHECKS = {
    ("antigravity", "cli", "run-without-sandbox-offered"),
    ("autogen", "library", "docker-then-host"),
    ("claude-code", "cli", "first-command-refused-after-failure"),
    ("claude-code", "cli", "warns-and-runs-unsandboxed"),
    ("codex", "cli", "default-observed-in-0-171"),
    ("codex", "cli", "sandbox-observed-in-0-171"),
    ("codex", "cli", "startup-warning-for-bubblewrap"),
    ("codex", "cli", "windows-setup-prompt"),
    ("cursor", "ide", "bubblewrap-fallback"),
    ("github-copilot", "cli", "fails-closed"),
    ("letta-code", "cli", "missing-backend-warns"),
    ("zed", "ide", "runs-without-bwrap"),
}

# The pack names the inner sandboxes, and we say what is meant: name, sentence, the entries of the reference.
INNERS = {
    "bubblewrap": ("bubblewrap", "The command bwrap, which Codex, Claude Code and Flatpak start.", ["bubblewrap"]),
    "unprivileged-user-namespaces": (
        "unprivileged user namespaces",
        "What unshare -Ur makes for an ordinary user; most sandboxes on Linux begin with it.",
        ["user-namespaces"],
    ),
    "landlock": ("Landlock", "A process that restricts its own access to files with Landlock.", ["landlock"]),
    "seccomp": ("seccomp", "A process that puts a filter on its own system calls.", ["seccomp"]),
    "seatbelt": ("Seatbelt", "The sandbox of macOS, as sandbox-exec starts it.", ["seatbelt"]),
    "firejail": ("Firejail", "The command firejail, set-user-ID as distributions install it.", ["firejail"]),
    "nsjail": ("nsjail", "The command nsjail.", ["nsjail"]),
    "gvisor": ("gVisor", "The command runsc, started by hand or by a container engine.", ["gvisor"]),
    "rootless-podman": ("rootless Podman", "A container that podman run starts without root.", ["podman"]),
    "docker-in": ("Docker", "A Docker daemon of its own, started in there.", ["docker-engine"]),
    "firecracker-or-kvm": (
        "KVM",
        "A virtual machine by KVM, as Firecracker and QEMU start it.",
        ["firecracker", "kvm"],
    ),
}
PLURAL = {"unprivileged-user-namespaces"}
VERBS = {"works": ("works", "work"), "needs-setting": ("needs a setting", "need a setting"), "fails": ("fails", "fail")}
# What takes a protection away altogether, for more than the one thing that needs it.
LAST_RESORT = re.compile(
    r"--privileged|seccomp=unconfined|with seccompProfile Unconfined|^(--security-opt )?apparmor=unconfined"
    r"|apparmor_restrict_unprivileged_userns=0|unprivileged_userns_clone=1|docker\.sock|[Gg]roup docker"
    r"|outside the agent's sandbox|^Switch the sandbox off|^Unset failIfUnavailable|with every --disable_clone"
    r"|MODE=\"0666\""
)
# Costs that point to another row of the pack's, in the words of that row.
COSTS = {
    "ACL for the host user (setfacl -m u:USER:rw /dev/kvm) and --device /dev/kvm.": (
        "That user may create VMs and reach KVM's kernel code; the container reaches KVM, a known source of kernel "
        "bugs, but no other right."
    ),
    "ACL for the user.": "That user may create VMs and reach KVM's kernel code; nothing else.",
    "A device plugin.": "The plugin is a privileged node component; the pods stay ordinary.",
    "Kubernetes: hostUsers: false and procMount: Unmasked.": (
        "The masked kernel files become visible, but only to a root that is nobody on the node."
    ),
}
LONGEST_NAME = 90


def claim(fact: dict[str, Any], says_how_to_check: bool = False) -> dict[str, Any]:
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
    if says_how_to_check:
        result["says_how_to_check"] = True
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
    return {
        **document,
        "claims": [claim(fact) for fact in entry["facts"]],
        "breaks": breaks(entry.get("escapes")),
    }


def breaks(escapes: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Escapes or incidents of the pack as breaks of ours, in their one order."""
    return sorted(map(published_break, escapes or []), key=lambda item: (-item["year"], item["identifier"]))


def posture(entry: dict[str, Any]) -> dict[str, Any]:
    """A posture of the pack as ours."""
    return {
        "mode": entry["mode"],
        "note": entry["note"],
        "platforms": sorted(entry["platforms"]),
        "is_default": entry["is_default"],
        "how": entry["how"],
        "isolation": entry["isolation"],
        "tier": entry["tier"],
        "primitives": sorted(entry["primitives"]),
        **{key: entry[key] for key in ("filesystem_read", "filesystem_write", "network", "credentials", "approvals")},
        "on_failure": entry["on_failure"] or "unknown",
        "levels": {key: entry["levels"][key] for key in ("read", "write", "network", "credentials", "approvals")},
        "rests_on": sorted(entry["facts"]),
    }


def agent(entry: dict[str, Any]) -> dict[str, Any]:
    """An agent of the pack as a document of ours. What the pack holds is published."""
    document = {key: entry[key] for key in ("slug", "name", "vendor", "open_source", "license")}
    document["open_source"] = OPEN_SOURCE[entry["open_source"]]
    return {
        **document,
        **{key: entry[key] for key in ("homepage", "repo", "docs")},
        "audits": [
            {
                "slug": surface["slug"],
                "name": surface["name"],
                "kind": surface["kind"],
                "is_published": True,
                "postures": [posture(item) for item in surface["postures"]],
                "claims": [
                    claim(fact, (entry["slug"], surface["slug"], fact["id"]) in CHECKS) for fact in surface["facts"]
                ],
            }
            for surface in entry["surfaces"]
        ],
        "breaks": breaks(entry.get("incidents")),
    }


def address(name: str) -> str:
    """A name of the pack as an address of ours: bare-ubuntu-24.04 is bare-ubuntu-24-04."""
    return name.replace(".", "-")


def fixes(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fixes of the pack as ours. Its order is that of danger; a last resort says that it is one, and stands last."""
    said = [{**fix, "cost": COSTS.get(fix["do"], fix["cost"])} for fix in entries]
    resorts = [bool(LAST_RESORT.search(fix["do"])) for fix in said]
    rest = [fix for fix, is_last in zip(said, resorts, strict=True) if not is_last]
    return rest + [{**fix, "last_resort": True} for fix, is_last in zip(said, resorts, strict=True) if is_last]


def known(entry: dict[str, Any], slug: str, sentence: str) -> dict[str, Any]:
    """What bears out a cell or an error of the pack, as the claim `sentence`."""
    return claim({**entry, "id": slug, "about": "nesting", "fact": sentence})


def cell(entry: dict[str, Any], inner: str, places: dict[str, str]) -> dict[str, Any]:
    """A cell of the pack as ours. `places` says of each environment where one is who is in it."""
    name, outer = INNERS[inner][0], address(entry["outer"])
    if entry["result"] == "unknown":
        does = f"Whether {name} {'work' if inner in PLURAL else 'works'} {places[outer]} is not known"
    else:
        does = f"{name} {VERBS[entry['result']][inner in PLURAL]} {places[outer]}"
    return {
        "outer": outer,
        "result": entry["result"],
        "error_lines": entry["errors"],
        "cause": entry["cause"],
        "fixes": fixes(entry["fix"]),
        "claims": [known(entry, "result", f"{does}: {entry['cause']}")],
    }


def inner(entry: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    """An inner sandbox of the pack with its cells."""
    slug = entry["inner"]
    name, summary, primitives = INNERS[slug]
    return {
        "slug": slug,
        "name": name,
        "summary": summary,
        "primitives": sorted(primitives),
        "position": (list(INNERS).index(slug) + 1) * 10,
        "cells": sorted((cell(item, slug, places) for item in entry["cells"]), key=lambda item: str(item["outer"])),
    }


def error(entry: dict[str, Any]) -> dict[str, Any]:
    """An error text of the pack as ours, known by the first line of its example."""
    name = " ".join(entry["example"].splitlines()[0].split())
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME].rsplit(' ', 1)[0].rstrip(',.;:')} …"
    return {
        "slug": entry["id"],
        "name": name,
        **{key: entry[key] for key in ("pattern", "example", "tool", "source_path", "meaning", "causes", "checks")},
        "fixes": fixes(entry["fixes"]),
        "claims": [known(entry, "meaning", f"“{name}” from {entry['tool']} means: {entry['meaning']}")],
    }


KINDS = {"primitives": primitive, "agents": agent, "nesting": inner, "errors": error}


def entries_of(pack: Path, folder: str) -> list[dict[str, Any]]:
    """The entries of a kind; the pack has all errors in one file beside the cells."""
    if folder == "errors":
        path = pack / "nesting" / "errors.yaml"
        return files.parse(path.read_bytes(), path.name)["errors"] if path.exists() else []
    paths = sorted(path for path in (pack / folder).glob("*.yaml") if path.name != "errors.yaml")
    return [files.parse(path.read_bytes(), path.name) for path in paths]


def places(fixtures: Path) -> dict[str, str]:
    """Where one is who is in an environment, by its slug: words of ours, which the pack does not have."""
    documents = [files.parse(path.read_bytes(), path.name) for path in (fixtures / "environments").glob("*.yaml")]
    return {document["slug"]: document["place"] for document in documents}


def of_each(items: list[dict[str, Any]], fixes: str, *, claims: bool = False) -> list[int]:
    """How many fixes and sources these cells or errors have; the sources are ours where they stand in `claims`."""
    bearers = [claim for item in items for claim in item["claims"]] if claims else items
    return [sum(len(item[fixes]) for item in items), sum(len(item["sources"]) for item in bearers)]


def checks_without_a_fact(agents: list[dict[str, Any]]) -> list[str]:
    """Those of CHECKS that the pack has no fact for, in words."""
    facts = {
        (entry["slug"], surface["slug"], fact["id"])
        for entry in agents
        for surface in entry["surfaces"]
        for fact in surface["facts"]
    }
    return [f"CHECKS names a fact that the pack does not have: {'/'.join(check)}" for check in sorted(CHECKS - facts)]


def numbers_in_pack(folder: str, entries: list[dict[str, Any]]) -> list[int]:
    """Entries, facts and escapes; of agents also surfaces and postures."""
    if folder == "primitives":
        return [len(entries), *(sum(len(entry.get(key) or []) for entry in entries) for key in ("facts", "escapes"))]
    if folder == "nesting":
        cells = [item for entry in entries for item in entry["cells"]]
        return [len(entries), len(cells), *of_each(cells, "fix")]
    if folder == "errors":
        return [len(entries), *of_each(entries, "fixes")]
    surfaces = [surface for entry in entries for surface in entry["surfaces"]]
    return [
        *(
            len(entries),
            len(surfaces),
            *(sum(len(surface[key]) for surface in surfaces) for key in ("postures", "facts")),
        ),
        sum(len(entry.get("incidents") or []) for entry in entries),
    ]


def numbers_in_fixtures(folder: str, entries: list[dict[str, Any]]) -> list[int]:
    """The same of what was written."""
    if folder == "primitives":
        return [len(entries), *(sum(len(entry[key]) for entry in entries) for key in ("claims", "breaks"))]
    if folder == "nesting":
        cells = [item for entry in entries for item in entry["cells"]]
        return [len(entries), len(cells), *of_each(cells, "fixes", claims=True)]
    if folder == "errors":
        return [len(entries), *of_each(entries, "fixes", claims=True)]
    audits = [audit for entry in entries for audit in entry["audits"]]
    return [
        *(len(entries), len(audits), *(sum(len(audit[key]) for audit in audits) for key in ("postures", "claims"))),
        sum(len(entry["breaks"]) for entry in entries),
    ]


WORDS = {
    "primitives": ("{} entries, {} facts, {} escapes", "{} entries, {} claims, {} breaks"),
    "agents": (
        "{} agents, {} surfaces, {} postures, {} facts, {} incidents",
        "{} agents, {} audits, {} postures, {} claims, {} breaks",
    ),
    "nesting": ("{} sandboxes, {} cells, {} fixes, {} sources",) * 2,
    "errors": ("{} errors, {} fixes, {} sources",) * 2,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--to", type=Path, default=ROOT / "fixtures")
    options = parser.parse_args()

    in_pack = {folder: entries_of(options.pack, folder) for folder in KINDS}
    if problems := checks_without_a_fact(in_pack["agents"]):
        print(*problems, "Nothing was written.", sep="\n", file=sys.stderr)
        return 1

    differs = False
    words = places(ROOT / "fixtures")
    for folder, convert in KINDS.items():
        entries = in_pack[folder]
        made = [convert(entry, words) if convert is inner else convert(entry) for entry in entries]
        documents = {f"{folder}/{document['slug']}.yaml": document for document in made}
        written, removed = files.write(options.to, {path: files.dump(document) for path, document in documents.items()})
        there = [files.parse((options.to / path).read_bytes(), path) for path in documents]
        pack, ours = numbers_in_pack(folder, entries), numbers_in_fixtures(folder, there)
        print("pack:    ", WORDS[folder][0].format(*pack))
        print("fixtures:", WORDS[folder][1].format(*ours))
        print(f"{len(written)} files written, {len(removed)} removed")
        differs |= pack != ours
    return differs


if __name__ == "__main__":
    sys.exit(main())
