"""The reference where JavaScript is off: forms and links, with the same results."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import REFERENCE, at, box, count_beside, names, number_found

pytestmark = pytest.mark.browser


@pytest.fixture
def plain(open_browser: Callable[..., Page]) -> Page:
    return open_browser(java_script_enabled=False)


def search(page: Page) -> None:
    page.get_by_role("button", name="Search").click()
    page.wait_for_load_state()


def test_search_filter_and_sort_find_what_they_find_with_javascript(plain: Page, page: Page) -> None:
    plain.goto(REFERENCE)
    page.goto(REFERENCE)

    plain.locator("#q").fill("container")
    search(plain)
    page.locator("#q").fill("container")
    at(page, "?q=container")
    assert names(plain) == names(page) != []

    promised = count_beside(plain, "platform", "linux")
    box(plain, "platform", "linux").check()
    search(plain)
    box(page, "platform", "linux").check()
    at(page, "?q=container&platform=linux")
    assert names(plain) == names(page)
    assert number_found(plain) == promised

    box(plain, "tier", "microvm").check()
    box(plain, "tier", "container").check()
    plain.get_by_label("Sort by").select_option(label="number of claims")
    search(plain)
    page.goto(f"{REFERENCE}?q=container&platform=linux&tier=microvm&tier=container&sort=claims")
    assert names(plain) == names(page) != []
    expect(box(plain, "tier", "microvm")).to_be_checked()
    expect(plain.locator("#q")).to_have_value("container")
    assert plain.title() == page.title()


def test_the_entry_meant_comes_first_although_the_form_sends_an_order(plain: Page) -> None:
    plain.goto(REFERENCE)
    plain.locator("#q").fill("bwrap")
    search(plain)
    assert names(plain)[0] == "Bubblewrap"


def test_pages_are_links(plain: Page) -> None:
    plain.goto(REFERENCE)
    first = names(plain)
    plain.locator("[rel=next]").click()
    expect(plain).to_have_url(re.compile(r"\?page=2$"))
    second = names(plain)
    assert second
    assert not set(first) & set(second)
    plain.locator("[rel=prev]").click()
    assert names(plain) == first


def test_on_a_phone_the_filters_open_and_work(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page.goto(REFERENCE)
    expect(box(page, "tier", "microvm")).to_be_hidden()
    page.get_by_text("Filters", exact=True).click()
    box(page, "tier", "microvm").check()
    search(page)
    expect(page).to_have_url(re.compile("tier=microvm"))
    assert set(page.locator(".entry .side .name").all_inner_texts()) == {"microVM"}


def test_nothing_found_leads_on_by_links(plain: Page) -> None:
    plain.goto(f"{REFERENCE}?q=firecracker&platform=browser")
    assert number_found(plain) == 0
    plain.get_by_role("link", name="Leave out").click()
    plain.wait_for_load_state()
    assert number_found(plain) > 0


def test_a_correction_is_sent_and_its_state_seen(plain: Page, console: list[str]) -> None:
    plain.goto("/primitives/gvisor/")
    plain.locator("#directfs-on").get_by_role("link", name="Something wrong?").click()
    plain.get_by_label("What is wrong?").fill("The flag is off since the last release.")
    plain.get_by_label("Your e-mail address").fill("nobody@example")
    plain.get_by_role("button", name="Send").click()
    expect(plain.get_by_role("alert")).to_contain_text("What you typed is still here")
    console.clear()  # the browser notes that the answer is a 422
    expect(plain.get_by_label("What is wrong?")).to_have_value("The flag is off since the last release.")
    plain.get_by_label("Your e-mail address").fill("")
    plain.get_by_role("button", name="Send").click()
    expect(plain.get_by_role("heading", name="Your correction")).to_be_visible()
    expect(plain.get_by_text("Nobody has looked at it yet.")).to_be_visible()
    expect(plain.get_by_text("since the last release")).to_have_count(0)
