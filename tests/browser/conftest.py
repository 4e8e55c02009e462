"""Browser tests run in the Chromium of the system. Where there is none they are left out, and the last lines say so;
with REQUIRE_BROWSER=1 (as in CI) they fail instead."""

import os
import shutil
from typing import Any

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
REQUIRED = os.environ.get("REQUIRE_BROWSER") == "1"
NOT_FOUND = "no Chromium found"

left_out: list[str] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    if CHROMIUM is None and item.get_closest_marker("browser"):
        if REQUIRED:
            pytest.fail(f"{NOT_FOUND}, and REQUIRE_BROWSER=1", pytrace=False)
        left_out.append(item.nodeid)
        pytest.skip(NOT_FOUND)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if left_out:
        terminalreporter.line(f"{len(left_out)} browser tests left out: {NOT_FOUND}", yellow=True)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_type_launch_args,
        "executable_path": CHROMIUM,
        "args": [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ],
    }
