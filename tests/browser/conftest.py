"""Browser tests run in the Chromium of the system. Where there is none they are left out, and the last lines say so;
with REQUIRE_BROWSER=1 (as in CI) they fail instead.

Best is the one without windows, which Playwright too takes where it may choose: the same pages in two thirds of the
time.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, expect

from tests.servers import running

PATIENCE = 15_000  # milliseconds, for a machine that has much else to do

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
REQUIRED = os.environ.get("REQUIRE_BROWSER") == "1"
NOT_FOUND = "no Chromium found"

expect.set_options(timeout=PATIENCE)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if CHROMIUM is None and item.get_closest_marker("browser"):
        if REQUIRED:
            pytest.fail(f"{NOT_FOUND}, and REQUIRE_BROWSER=1", pytrace=False)
        pytest.skip(NOT_FOUND)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # Told by the reports, which come from other processes too.
    skipped = terminalreporter.stats.get("skipped", [])
    if left_out := sum(NOT_FOUND in str(report.longrepr) for report in skipped):
        terminalreporter.line(f"{left_out} browser tests left out: {NOT_FOUND}", yellow=True)


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


@pytest.fixture(scope="session")
def site(content: None, as_served: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site as readers get it: gunicorn, DEBUG off, hashed static files, the whole content."""
    with running(tmp_path_factory.mktemp("site") / "gunicorn.log", **as_served) as server:
        yield server.address


@pytest.fixture(scope="session")
def no_connection_left(django_db_setup: None, playwright: Playwright) -> Iterator[None]:
    """Close the database before the test database goes, from within Playwright's event loop: as long as that runs,
    Django keeps other connections than without, and nobody else would come by those."""
    from django.db import connections

    yield
    connections.close_all()


@pytest.fixture
def console() -> Iterator[list[str]]:
    """What browsers complained of in this test. It must be empty at the end; a test that means to see an error takes
    it out."""
    complaints: list[str] = []
    yield complaints
    assert complaints == []


@pytest.fixture
def open_browser(
    browser: Browser, site: str, console: list[str], no_connection_left: None, db: None
) -> Iterator[Callable[..., Page]]:
    """Open a page of its own context (the options are Playwright's), whose complaints fail the test.

    `db` is here because pytest-django makes the test database only for tests that ask for it by that name.
    """
    contexts: list[BrowserContext] = []

    def note(message: ConsoleMessage) -> None:
        # htmx calls it an error when a newer request takes the place of an older one.
        superseded = message.text.startswith(("htmx:afterRequest,", "htmx:sendAbort,"))
        if message.type in ("error", "warning") and not superseded:
            console.append(f"{message.type}: {message.text}")

    def new(**options: Any) -> Page:
        context = browser.new_context(**{"base_url": site, "viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("console", note)
        context.on("weberror", lambda error: console.append(str(error.error)))
        return context.new_page()

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_browser: Callable[..., Page]) -> Page:
    """A page of a browser at a desk."""
    return open_browser()
