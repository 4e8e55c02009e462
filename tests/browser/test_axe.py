"""No violation that axe can see, on each kind of page, in both colour schemes, at a desk and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

# Of the long lists a few rows: axe looks at each element, and a row is like another.
KINDS = [
    "/",
    "/ladder/?open=microvm&open=container",
    "/ladder/userspace-kernel/",
    "/primitives/?tier=userspace-kernel",
    "/primitives/?q=zzzzzz&tier=microvm",
    "/primitives/firecracker/",
    "/audits/?q=openai",
    "/audits/?rows=surfaces&kind=ci&sort=tier",
    "/audits/devin/",
    "/audits/compare/?a=codex&a=claude-code&a=jules",
    "/audits/?q=openai&a=codex&a=jules",
    "/primitives/compare/?p=gvisor&p=firecracker",
    "/primitives/compare/?p=gvisor",
    "/method/",
    "/about/",
    "/search/?q=kernel+line",
    "/search/?q=dokcer",
    "/claims/primitive.gvisor.directfs-on/correction/",
    "/changes/",
    "/audits/codex/history/",
    "/evidence/?source=github.com/openai/codex&aspect=boundary",
    "/evidence/?q=zzzzzz&label=inferred",
    "/claims/audit.codex.cli.sandbox-mode-default/",
    "/nesting/?outer=codespaces&outer=docker-default&open=bubblewrap.docker-default",
    "/nesting/bubblewrap/docker-default/",
    "/errors/?q=bwrap:+setting+up+uid+map:+Permission+denied",
    "/nowhere/",
]


@pytest.mark.parametrize("address", KINDS)
def test_axe_finds_nothing(open_browser: Callable[..., Page], console: list[str], address: str) -> None:
    found: list[Any] = []
    # axe is put into the page as a script, which our policy would rightly refuse.
    page = open_browser(bypass_csp=True)
    page.goto(address)
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for panel in page.locator("details.filter-panel:not([open]) > summary:visible").all():
            panel.click()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            # Nothing but colours depends on the scheme.
            rules = {} if scheme == "light" else {"runOnly": ["color-contrast", "link-in-text-block"]}
            # What passed, with each of its elements, would take as long to send as it took to find.
            options = {"resultTypes": ["violations"], **rules}
            for violation in Axe().run(page, options=options).response["violations"]:
                node = violation["nodes"][0]
                found.append((width, scheme, violation["id"], node["target"], node.get("failureSummary")))
    if address == "/nowhere/":
        console.clear()  # the browser notes that it is a 404
    assert found == []
