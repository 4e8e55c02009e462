"""Browser tests run in the Chromium of the system. Where there is none they are left out, and the last lines say so;
with REQUIRE_BROWSER=1 (as in CI) they fail instead."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, expect

CHECKOUT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60
PATIENCE = 15_000  # milliseconds, for a machine that has much else to do

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
REQUIRED = os.environ.get("REQUIRE_BROWSER") == "1"
NOT_FOUND = "no Chromium found"

expect.set_options(timeout=PATIENCE)

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


@pytest.fixture(scope="session")
def site(content: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site as readers get it: gunicorn, DEBUG off, hashed static files, the whole content."""
    folder = tmp_path_factory.mktemp("site")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "for browser tests alone " * 3,
        "ALLOWED_HOSTS": "127.0.0.1",
        "DATABASE_URL": _database_url(),
        "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
        "BROWSER_STATIC_ROOT": str(folder / "static"),
    }
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"],
        cwd=CHECKOUT,
        env=environment,
        check=True,
    )
    log = folder / "gunicorn.log"
    with log.open("w") as output:
        gunicorn = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"],
            cwd=CHECKOUT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        if not _is_ready(address, gunicorn):
            pytest.fail(f"gunicorn did not become ready. Its log:\n{log.read_text()}", pytrace=False)
        yield address
    finally:
        gunicorn.terminate()
        try:
            gunicorn.wait(15)
        except subprocess.TimeoutExpired:
            gunicorn.kill()
            gunicorn.wait()


def _database_url() -> str:
    """The address of the database that the tests use now."""
    from django.db import connection

    settings = connection.settings_dict
    parts = {name: str(settings[name.upper()]) for name in ("host", "port", "user", "password")}
    return f"postgres:///{quote(settings['NAME'])}?" + urlencode({name: part for name, part in parts.items() if part})


def _is_ready(address: str, process: subprocess.Popen[bytes]) -> bool:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                return False
        except OSError:
            pass
        time.sleep(0.1)
    return False


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
