"""What a curator saves is what the very next reader sees, whichever worker answers, though all of them keep pages."""

import urllib.request
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page

from primitives.models import Category
from tests.admin_form import AdminForm, curator_client
from tests.servers import Server, running

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVES = 50
# Much of it is kept by itself too: its rows, the options of its filters, and what is around them.
PAGE = "/primitives/?category=vmm"


def test_each_of_fifty_saves_in_the_admin_is_seen_by_the_next_request_on_both_workers(
    content: None, as_served: dict[str, str], browser: Browser, no_connection_left: None, tmp_path: Path
) -> None:
    environment = {**as_served, "WEB_CONCURRENCY": "1"}
    curator: Client = curator_client()
    # Not a rung's: its form, with all its claims and their sources, would add half a minute.
    address = f"/admin/primitives/category/{Category.objects.get(slug='vmm').pk}/change/"
    page: Page = browser.new_page(java_script_enabled=False)
    with running(tmp_path / "one.log", **environment) as one, running(tmp_path / "two.log", **environment) as two:
        for number in range(SAVES):
            form = AdminForm(curator, address)
            form.fields["name"] = f"Monitors saved {number} times"
            assert form.send() is None
            for worker in (one, two):
                page.goto(worker.address + PAGE, wait_until="domcontentloaded")
                shown = page.inner_text("main")
                assert f"Monitors saved {number} times" in shown
                assert f"Monitors saved {number - 1} times" not in shown
                assert was_kept(worker)
    page.close()


def was_kept(worker: Server) -> bool:
    """Whether the worker keeps the page: else the test would prove nothing."""
    with urllib.request.urlopen(worker.address + PAGE, timeout=20) as answer:
        return "hit" in answer.headers["Cache-Status"]
