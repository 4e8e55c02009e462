"""The ledger and a claim's page in a browser: filters, search, Back, the keyboard, a phone, no JavaScript."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import box, count_beside, equals_a_fresh_page, go_back, is_marked, mark, number_found, settled

pytestmark = pytest.mark.browser

LEDGER = "/evidence/"


def test_filters_and_search_follow_without_a_page_load_and_back_undoes_them(page: Page) -> None:
    page.goto(LEDGER)
    mark(page)
    promised = count_beside(page, "kind", "audit")
    box(page, "kind", "audit").check()
    expect(page).to_have_url(re.compile(r"\?kind=audit$"))
    settled(page)
    assert number_found(page) == promised
    page.locator("#q").press_sequentially("seatbelt")
    expect(page).to_have_url(re.compile(r"\?q=seatbelt&kind=audit$"))
    expect(page).to_have_title("Claims with “seatbelt”: sandboxicon")
    equals_a_fresh_page(page)
    page.locator("#sort-by").select_option("oldest")
    expect(page).to_have_url(re.compile("sort=oldest"))
    equals_a_fresh_page(page)
    assert is_marked(page)
    for address in (r"\?q=seatbelt&kind=audit$", r"\?kind=audit$", "/evidence/$"):
        go_back(page)
        expect(page).to_have_url(re.compile(address))
    equals_a_fresh_page(page)


def test_from_a_subjects_page_to_a_claims_own_page_and_to_the_others_from_the_same_place(page: Page) -> None:
    page.goto("/audits/codex/")
    page.locator("#sandbox-mode-default").get_by_label("This claim’s own page").click()
    expect(page).to_have_url(re.compile("/claims/audit.codex.cli.sandbox-mode-default/$"))
    expect(page.locator(".citation pre").first).to_contain_text("sandboxicon, audit.codex.cli.sandbox-mode-default")
    page.locator("[aria-labelledby=rests] a", has_text="Codex CLI").first.click()
    expect(page).to_have_url(re.compile("/audits/codex/#cli$"))
    page.goto(f"{LEDGER}?source=github.com/openai/codex&label=verified-code")
    expect(box(page, "source", "github.com/openai/codex")).to_be_checked()
    for link in page.locator("#results .sources").all():
        expect(link).to_contain_text(re.compile("openai/codex", re.IGNORECASE))


def test_by_keyboard_alone(page: Page) -> None:
    page.goto(f"{LEDGER}?kind=tier")
    page.locator("#q").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "label-inferred":
            break
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("label=inferred"))
    settled(page)
    assert page.evaluate("document.activeElement.id") == "label-inferred"
    equals_a_fresh_page(page)


def test_on_a_phone_without_javascript_it_filters_and_nothing_scrolls_sideways(
    open_browser: Callable[..., Page],
) -> None:
    page = open_browser(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page.goto(LEDGER)
    page.get_by_text("Filters", exact=True).click()
    box(page, "label", "undisclosed").check()
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile("label=undisclosed"))
    assert set(page.locator("#results .stamp").all_inner_texts()) == {"undisclosed"}
    page.locator("#results .sentence a").first.click()
    expect(page.get_by_role("heading", name="Where we looked")).to_be_visible()
    for address in (LEDGER, "/claims/audit.codex.cli.sandbox-mode-default/"):
        page.goto(address)
        width = page.locator("main").evaluate("element => element.scrollWidth - element.clientWidth")
        assert width <= 0, address
