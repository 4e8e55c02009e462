"""Nesting and errors in a browser: two choices answered, a cell opened, a paste, the keyboard, no JavaScript."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import equals_a_fresh_page, go_back, is_marked, mark, settled

pytestmark = pytest.mark.browser

KNOWN = "bwrap: setting up uid map: Permission denied"


def test_two_choices_are_answered_in_place_and_back_gives_the_answer_before(page: Page) -> None:
    page.goto("/nesting/")
    page.get_by_label("I am").select_option(label="in a Docker container with default settings")
    page.get_by_label("and want").select_option(label="bubblewrap")
    page.get_by_role("button", name="Will it run?").click()
    expect(page).to_have_url(re.compile("/nesting/bubblewrap/docker-default/$"))
    expect(page.locator("#answer .said")).to_contain_text("No.")
    mark(page)
    page.get_by_label("I am").select_option("wsl2")
    expect(page).to_have_url(re.compile("/nesting/bubblewrap/wsl2/$"))
    expect(page.locator("#answer .said")).to_contain_text("Yes.")
    assert is_marked(page)
    settled(page)
    expect(page).to_have_title(re.compile("bubblewrap in WSL 2: works"))
    go_back(page)
    expect(page.locator("h1")).to_contain_text("Docker container")


def test_a_cell_opens_in_place_by_keyboard_and_keeps_its_address(page: Page) -> None:
    page.goto("/nesting/")
    mark(page)
    page.locator('label[for="outer-docker-default"]').click()
    expect(page).to_have_url(re.compile(r"\?outer=docker-default$"))
    equals_a_fresh_page(page)
    cell = page.locator("#at-bubblewrap-docker-default")
    cell.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?outer=docker-default&open=bubblewrap\.docker-default$"))
    equals_a_fresh_page(page)
    expect(cell).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("Open: bubblewrap")
    assert is_marked(page)
    page.reload()
    expect(page.locator(".opened")).to_contain_text("No permissions to create a new namespace")
    page.get_by_role("link", name="Close").click()
    expect(page.locator(".opened")).to_have_count(0)
    go_back(page)
    expect(page.locator(".opened")).to_have_count(1)


def test_on_a_phone_one_chooses_where_one_is_and_gets_the_list(open_browser: Callable[..., Page]) -> None:
    page = open_browser(viewport={"width": 320, "height": 700})
    page.goto("/nesting/")
    expect(page.locator(".nest td:visible")).to_have_count(0)
    page.get_by_role("link", name="Docker, rootless").click()
    expect(page.locator(".nest td:visible")).to_have_count(11)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_pasted_log_is_answered_in_place_and_stays_out_of_the_address(page: Page) -> None:
    page.goto("/errors/")
    mark(page)
    page.get_by_label("Paste a line").fill(f"step 1\n\x1b[31m$ {KNOWN}\x1b[0m\nPASSWORD=hunter2")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 known error in it")
    finding = page.locator(".finding")
    expect(finding).to_contain_text(f"$ {KNOWN}")
    expect(finding).to_contain_text("apt install apparmor-profiles")
    assert is_marked(page)
    assert page.url.endswith("/errors/")
    assert "hunter2" not in page.locator("#results").inner_text()
    page.get_by_label("Paste a line").fill("Error: cannot clonne: Operation not permited")
    page.get_by_role("button", name="Look it up").click()
    expect(page.locator("#results")).to_contain_text("We do not know it")
    expect(page.locator("#results .error-links a").first).to_contain_text("cannot clone")


def test_without_javascript_forms_and_links_do_the_same(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False)
    page.goto("/errors/")
    page.get_by_label("Paste a line").fill(KNOWN)
    page.get_by_role("button", name="Look it up").click()
    expect(page.locator(".finding h2")).to_have_text(KNOWN)
    page.goto("/nesting/")
    page.get_by_label("I am").select_option("gvisor")
    page.get_by_label("and want").select_option("landlock")
    page.get_by_role("button", name="Will it run?").click()
    expect(page.locator("#answer .said")).to_contain_text("No.")
    page.goto("/nesting/?result=unknown")
    page.locator("#at-bubblewrap-codespaces").click()
    expect(page).to_have_url(re.compile("/nesting/bubblewrap/codespaces/$"))
    expect(page.locator("#answer .said")).to_contain_text("It is not known.")
