#!/usr/bin/env python
"""Pictures of each kind of page, to be looked at: shots.py [--to FOLDER] [ADDRESS...].

Serves the site as `make run` does, on a free port, and writes a PNG a page, width and colour scheme. Needs Chromium
(on the PATH, or named by CHROMIUM) and the development requirements. Says which pages scroll sideways.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *("/", "/ladder/", "/ladder/microvm/", "/primitives/", "/primitives/?q=docker&tier=container"),
    *("/primitives/firecracker/", "/audits/", "/audits/codex/", "/audits/devin/", "/nowhere/"),
    *("/method/", "/about/", "/search/?q=docker", "/claims/primitive.gvisor.directfs-on/correction/"),
]
WIDTHS = [320, 768, 1280]
CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("addresses", nargs="*", default=PAGES)
    parser.add_argument("--to", type=Path, default=ROOT / "shots")
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("There is no Chromium on the PATH; CHROMIUM can name one.")
    options.to.mkdir(parents=True, exist_ok=True)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    site = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env={**os.environ, "PORT": port},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        told = []
        for line in site.stdout or []:
            told.append(line)
            if line.startswith("http://"):
                break
        else:
            sys.exit("The site did not start:\n" + "".join(told))
        shoot(f"http://127.0.0.1:{port}", options.addresses, chromium, options.to)
    finally:
        site.send_signal(signal.SIGINT)
        site.wait(30)
    return 0


def shoot(site: str, addresses: list[str], chromium: str, folder: Path) -> None:
    """Write the pictures of these pages into `folder`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
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
