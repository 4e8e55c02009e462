#!/usr/bin/env python
"""The Nu HTML checker over each kind of page, and over what htmx puts into them.

Prints what it calls an error or a warning, and ends with 1 where there is an error. Serves the site as `make run` does.
Needs Java, and the checker from `make` (Node.js 20).
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from site_pages import KINDS, NOT_TO_BE_FOUND, ROOT, needs, running

# What htmx asks for, with the id of the element that it puts the answer into.
PARTS = [
    ("/primitives/?q=docker", "results"),
    ("/primitives/?q=zzzzzz", "results"),
    ("/audits/?platform=linux", "results"),
    ("/audits/?rows=surfaces", "results"),
    ("/search/?q=docker", "results"),
    ("/search/?q=docker", "site-results"),
    ("/models/?step=jailer", "models"),
    ("/ladder/?open=microvm", "rungs"),
]
SHELL = '<!doctype html><html lang="en"><meta charset="utf-8"><title>A part</title><h1>A part</h1>{}</html>'


def main() -> int:
    java = needs("java", "default-jre-headless")
    checker = ROOT / "tools" / "node" / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
    with running() as site, tempfile.TemporaryDirectory() as folder:
        names = {}
        for address in [*KINDS.values(), *NOT_TO_BE_FOUND]:
            names[_write(folder, len(names), _fetch(site + address))] = address
        for address, target in PARTS:
            part = _fetch(site + address, {"HX-Request": "true", "HX-Target": target})
            part = SHELL.format(re.sub(r"<title>.*?</title>", "", part, flags=re.DOTALL))
            names[_write(folder, len(names), part)] = f"{address} for #{target}"
        run = subprocess.run(
            [java, "-jar", checker, "--stdout", "--format", "json", "--exit-zero-always", *names],
            capture_output=True,
            text=True,
        )
    try:
        messages = json.loads(run.stdout)["messages"]
    except ValueError:
        sys.exit(f"The checker did not answer:\n{run.stdout}{run.stderr}")
    errors = 0
    told = set()
    for message in messages:
        kind = message.get("subType", message["type"])
        errors += message["type"] != "info"
        name = names[str(Path(message["url"].removeprefix("file:")))]
        if (name, message["message"]) in told:
            continue  # a long page repeats what is wrong with one of its rows
        told.add((name, message["message"]))
        print(f"{name}, line {message.get('lastLine', '?')}: {kind}: {message['message']}")
        print(f"    {' '.join(message.get('extract', '').split())[:160]}")
    print(f"{errors} errors in {len(names)} pages and parts.")
    return 1 if errors else 0


def _write(folder: str, number: int, text: str) -> str:
    file = Path(folder, f"{number}.html")
    file.write_text(text)
    return str(file)


def _fetch(address: str, headers: dict[str, str] | None = None) -> str:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers or {}), timeout=60) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


if __name__ == "__main__":
    sys.exit(main())
