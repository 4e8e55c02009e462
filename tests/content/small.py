"""A small folder of content that is valid as it comes, to spoil in one place."""

import copy
import datetime
from pathlib import Path
from typing import Any

from sandboxicon.content import files
from tests.factories import COMMIT

Documents = dict[str, dict[str, Any]]

CODE = {"kind": "code", "repo": "opencontainers/runc", "commit": COMMIT, "path": "init.go", "lines": "12-30"}
DOC = {"kind": "doc", "url": "https://docs.docker.com/", "title": "Docker's documentation"}


def claim(slug: str, **fields: Any) -> dict[str, Any]:
    """A documented claim as a file holds it."""
    return {
        "slug": slug,
        "aspect": "boundary",
        "sentence": f"The sentence of {slug}.",
        "label": "documented",
        "version": "1.10",
        "as_of": datetime.date(2026, 8, 21),
        "sources": [DOC],
        **fields,
    }


def primitive(slug: str, **fields: Any) -> dict[str, Any]:
    """A primitive as its file holds it."""
    return {
        "slug": slug,
        "name": slug.capitalize(),
        "aliases": [f"{slug} run"],
        "summary": f"What {slug} is.",
        "tier": "container",
        "category": "container-runtime",
        "platforms": ["linux"],
        "status": "active",
        "license": "Apache-2.0",
        "written_in": "Go",
        "first_release": 2015,
        "maintainer": None,
        "homepage": None,
        "repo": f"https://github.com/opencontainers/{slug}",
        "docs": None,
        "builds_on": [],
        "isolates": ["filesystem", "network"],
        "claims": [],
        "breaks": [],
        **fields,
    }


_TIER = {
    "slug": "container",
    "name": "Container",
    "rank": 3,
    "kernel": "shared",
    "tagline": "a world of its own",
    "summary": "A group of processes.",
    "description": "What *holds* it up.",
    "shares": "The kernel.",
    "break_cost": "One bug.",
    "claims": [claim("one-kernel")],
}
_BREAK = {"identifier": "CVE-2019-5736", "year": 2019, "summary": "It overwrote runc.", "fixed_in": "1.0-rc7"}
_ALL: Documents = {
    "tiers/container.yaml": _TIER,
    "categories/container-runtime.yaml": {
        "slug": "container-runtime",
        "name": "Runtime",
        "summary": "They start boxes.",
    },
    "platforms/linux.yaml": {"slug": "linux", "name": "Linux", "summary": "A Linux host.", "position": 1},
    "primitives/docker.yaml": primitive("docker", builds_on=["runc"], claims=[claim("root-by-default")]),
    "primitives/runc.yaml": primitive(
        "runc",
        claims=[claim("own-namespaces", label="verified-code", sources=[CODE]), claim("no-policy")],
        breaks=[{**_BREAK, "url": "https://nvd.nist.gov/vuln/detail/CVE-2019-5736"}],
    ),
}


def documents() -> Documents:
    """All documents by path, to change at will."""
    return copy.deepcopy(_ALL)


def write(folder: Path, content: Documents) -> Path:
    """Make these documents the files of the folder."""
    files.write(folder, {path: files.dump(document) for path, document in content.items()})
    return folder
