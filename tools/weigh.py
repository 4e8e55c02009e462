#!/usr/bin/env python
"""What the first visit of each kind of page weighs: every file that a browser fetches, as the server sends it.

Ends with 1 where a page or our own script is heavier than DESIGN.md allows. Serves the site as `make run` does. Needs
Chromium and the development requirements.
"""

import sys
import urllib.request
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright
from site_pages import CHROMIUM_FLAGS, KINDS, ROOT, chromium, running

ALLOWED = {"/": 60_000, "/primitives/": 90_000}
SCRIPT_ALLOWED = 4_096
SORTS = {"document": "page", "stylesheet": "style", "script": "script"}


def main() -> int:
    heavy = []
    with running() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        print("bytes with Brotli, without headers")
        print(
            f"{'page':<58}" + "".join(f"{sort:>9}" for sort in ("page", "style", "script", "other", "all", "allowed"))
        )
        for address in KINDS.values():
            page = browser.new_context().new_page()
            fetched: dict[str, str] = {}
            page.on("request", lambda request, fetched=fetched: fetched.setdefault(request.url, request.resource_type))
            page.goto(site + address, wait_until="networkidle")
            page.context.close()
            weights = dict.fromkeys(("page", "style", "script", "other"), 0)
            for url, kind in fetched.items():
                weights[SORTS.get(kind, "other")] += _weight(url)
            weights["all"] = sum(weights.values())
            allowed = ALLOWED.get(address)
            print(f"{address:<58}" + "".join(f"{weight:>9,}" for weight in weights.values()) + f"{allowed or '':>9}")
            if allowed and weights["all"] > allowed:
                heavy.append(address)
        browser.close()
    own = sum(script.stat().st_size for script in (ROOT / "static" / "js").glob("*.js"))
    print(f"our own script, not compressed: {own:,} of {SCRIPT_ALLOWED:,}")
    if own > SCRIPT_ALLOWED:
        heavy.append("our own script")
    print(f"Too heavy: {', '.join(heavy)}." if heavy else "Nothing is too heavy.")
    return 1 if heavy else 0


def _weight(url: str) -> int:
    if urlsplit(url).scheme not in ("http", "https"):
        return 0
    request = urllib.request.Request(url, headers={"Accept-Encoding": "br"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return len(answer.read())


if __name__ == "__main__":
    sys.exit(main())
