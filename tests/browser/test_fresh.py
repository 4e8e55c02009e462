"""What a curator saves is what the very next reader sees, whichever worker answers, though all of them keep pages."""

import urllib.request
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page

from ladder.models import Tier
from tests.admin_form import AdminForm, curator_client
from tests.servers import Server, manage, running

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVES = 50


def test_each_of_fifty_saves_in_the_admin_is_seen_by_the_next_request_on_both_workers(
    content: None, browser: Browser, no_connection_left: None, tmp_path: Path
) -> None:
    environment = {
        "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
        "BROWSER_STATIC_ROOT": str(tmp_path / "static"),
        "WEB_CONCURRENCY": "1",
    }
    manage("collectstatic", "--no-input", "--verbosity=0", **environment)
    curator: Client = curator_client()
    address = f"/admin/ladder/tier/{Tier.objects.get(slug='microvm').pk}/change/"
    page: Page = browser.new_page()
    with running(tmp_path / "one.log", **environment) as one, running(tmp_path / "two.log", **environment) as two:
        for number in range(SAVES):
            form = AdminForm(curator, address)
            form.fields["tagline"] = f"as it was saved the {number}th time"
            assert form.send() is None
            for worker in (one, two):
                page.goto(f"{worker.address}/ladder/")
                assert f"as it was saved the {number}th time" in page.inner_text("main")
                assert was_kept(worker)
    page.close()


def was_kept(worker: Server) -> bool:
    """Whether the worker keeps the page: else the test would prove nothing."""
    with urllib.request.urlopen(f"{worker.address}/ladder/", timeout=20) as answer:
        return "hit" in answer.headers["Cache-Status"]
