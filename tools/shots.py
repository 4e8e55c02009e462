#!/usr/bin/env python
"""Pictures of each kind of page, to be looked at: shots.py [--to FOLDER] [ADDRESS...].

Serves the site as `make run` does, on a free port, and writes a PNG a page, width and colour scheme. Needs Chromium
(on the PATH, or named by CHROMIUM) and the development requirements. Says which pages scroll sideways.
"""

import argparse
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from site_pages import CHROMIUM_FLAGS, KINDS, NOT_TO_BE_FOUND, ROOT, chromium, running

PAGES = [*KINDS.values(), "/audits/devin/", "/ladder/?open=microvm", *NOT_TO_BE_FOUND]
WIDTHS = [320, 768, 1280, 1920]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("addresses", nargs="*", default=PAGES)
    parser.add_argument("--to", type=Path, default=ROOT / "shots")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    with running() as site:
        shoot(site, options.addresses, chromium(), options.to)
    return 0


def shoot(site: str, addresses: list[str], browser_path: str, folder: Path) -> None:
    """Write the pictures of these pages into `folder`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=CHROMIUM_FLAGS)
        for address in addresses:
            name = re.sub(r"[^a-z0-9]+", "-", address).strip("-") or "home"
            page = browser.new_page()
            page.goto(site + address)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                    print(f"{address} scrolls sideways at {width} px")
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
            page.close()
            print(f"{folder.name}/{name}-*.png")
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
