"""A small folder of content that is valid as it comes, to spoil in one place."""

import copy
import datetime
from pathlib import Path
from typing import Any

from sandboxicon.content import files
from tests.factories import COMMIT

Documents = dict[str, dict[str, Any]]

CODE = {"kind": "code", "repo": "opencontainers/runc", "commit": COMMIT, "path": "init.go", "lines": "12-30"}
_BREAK = {"identifier": "CVE-2019-5736", "year": 2019, "summary": "It overwrote runc.", "fixed_in": "1.0-rc7"}
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


def posture(mode: str, **fields: Any) -> dict[str, Any]:
    """A posture as its agent's file holds it: nothing holds it, and it rests on `on-by-default`."""
    return {
        "mode": mode,
        "note": None,
        "platforms": ["linux"],
        "is_default": False,
        "how": None,
        "isolation": "none",
        "tier": None,
        "primitives": [],
        "filesystem_read": "whole disk",
        "filesystem_write": None,
        "network": "off",
        "credentials": None,
        "approvals": None,
        "on_failure": "unknown",
        "levels": {
            "read": "everything",
            "write": "unknown",
            "network": "off",
            "credentials": "unknown",
            "approvals": "unknown",
        },
        "rests_on": ["on-by-default"],
        **fields,
    }


def agent(slug: str, **fields: Any) -> dict[str, Any]:
    """An agent as its file holds it: a published surface, one of the vendor's cloud, and a draft."""
    isolated = {"isolation": "isolated", "tier": "container", "primitives": ["runc"], "on_failure": "warns"}
    return {
        "slug": slug,
        "name": slug.capitalize(),
        "vendor": "OpenAI",
        "open_source": "partly",
        "license": "Apache-2.0",
        "homepage": None,
        "repo": f"https://github.com/openai/{slug}",
        "docs": None,
        "audits": [
            {
                "slug": "cli",
                "name": f"{slug.capitalize()} CLI",
                "kind": "cli",
                "is_published": True,
                "postures": [
                    posture("boxed", is_default=True, rests_on=["on-by-default", "warns-without"], **isolated),
                    posture("full access", how="--yolo"),
                ],
                "claims": [
                    claim("on-by-default", aspect="default"),
                    claim("warns-without", aspect="requirement", says_how_to_check=True),
                ],
            },
            {
                "slug": "cloud",
                "name": f"{slug.capitalize()} cloud",
                "kind": "cloud",
                "is_published": True,
                "postures": [
                    posture(
                        "cloud",
                        platforms=["vendor-cloud"],
                        is_default=True,
                        isolation="undisclosed",
                        rests_on=["not-said"],
                    )
                ],
                "claims": [claim("not-said", label="undisclosed", looked="The documentation.")],
            },
            {"slug": "ide", "name": "IDE", "kind": "ide", "is_published": False, "postures": [], "claims": []},
        ],
        "breaks": [{**_BREAK, "identifier": "CVE-2025-1", "year": 2025, "url": "https://nvd.nist.gov/"}],
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
FIXES = [
    {"do": "Allow one call.", "cost": "Its code is reached."},
    {"do": "Take the filter off.", "cost": "No filter is left.", "last_resort": True},
]
_ALL: Documents = {
    "tiers/container.yaml": _TIER,
    "categories/container-runtime.yaml": {
        "slug": "container-runtime",
        "name": "Runtime",
        "summary": "They start boxes.",
    },
    "platforms/linux.yaml": {"slug": "linux", "name": "Linux", "summary": "A Linux host.", "position": 1},
    "platforms/vendor-cloud.yaml": {"slug": "vendor-cloud", "name": "Cloud", "summary": "Theirs.", "position": 2},
    "primitives/docker.yaml": primitive("docker", builds_on=["runc"], claims=[claim("root-by-default")]),
    "primitives/runc.yaml": primitive(
        "runc",
        claims=[claim("own-namespaces", label="verified-code", sources=[CODE]), claim("no-policy")],
        breaks=[{**_BREAK, "url": "https://nvd.nist.gov/vuln/detail/CVE-2019-5736"}],
    ),
    "agents/codex.yaml": agent("codex"),
    "environments/docker-default.yaml": {
        "slug": "docker-default",
        "name": "Docker",
        "place": "in Docker",
        "summary": "A container.",
        "position": 10,
    },
    "nesting/runc.yaml": {
        "slug": "runc",
        "name": "runc",
        "summary": "It is started there.",
        "primitives": ["runc"],
        "position": 10,
        "cells": [
            {
                "outer": "docker-default",
                "result": "fails",
                "error_lines": ["runc: no"],
                "cause": "The filter refuses it.",
                "fixes": FIXES,
                "claims": [claim("result", aspect="nesting")],
            }
        ],
    },
    "errors/runc-no.yaml": {
        "slug": "runc-no",
        "name": "runc: no",
        "pattern": "^runc: no",
        "example": "runc: no",
        "tool": "runc",
        "source_path": None,
        "meaning": "It was refused.",
        "causes": ["A filter."],
        "checks": ["runc list  (a look)"],
        "fixes": FIXES,
        "claims": [claim("meaning", aspect="nesting")],
    },
}


def documents() -> Documents:
    """All documents by path, to change at will."""
    return copy.deepcopy(_ALL)


def write(folder: Path, content: Documents) -> Path:
    """Make these documents the files of the folder."""
    files.write(folder, {path: files.dump(document) for path, document in content.items()})
    return folder
