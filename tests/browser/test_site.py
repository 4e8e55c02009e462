"""What every page has: colours by choice, search as one types, the shortcut; all by keyboard and on a phone."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.pages import equals_a_fresh_page, go_back, is_marked, mark, settled

pytestmark = pytest.mark.browser

PAPER = {"light": "rgb(246, 242, 233)", "dark": "rgb(21, 23, 26)"}
HEX = {"light": "#f6f2e9", "dark": "#15171a"}

# Notes the theme as soon as there is a body, and whether anything was painted before.
NOTE_THE_FIRST = """new MutationObserver((_, observer) => {
    if (!document.body) return;
    observer.disconnect();
    const painted = performance.getEntriesByType("paint").length;
    window.first = [painted, document.documentElement.dataset.theme ?? null];
}).observe(document, {childList: true, subtree: true});"""


def paper(page: Page) -> Any:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def theme_colour(page: Page) -> Any:
    """What the browser's own frame is told, as the browser chooses among the page's offers."""
    return page.evaluate(
        "[...document.querySelectorAll('meta[name=theme-color]')].find(meta => matchMedia(meta.media).matches).content"
    )


def pressed(page: Page) -> list[str]:
    return page.get_by_role("group", name="Colours").get_by_role("button", pressed=True).all_inner_texts()


# ---- colours ----


@pytest.mark.parametrize(("system", "chosen"), [("light", "dark"), ("dark", "light")])
def test_chosen_colours_stay_through_a_reload_and_other_pages_without_a_flash(
    open_browser: Callable[..., Page], system: str, chosen: str
) -> None:
    page = open_browser(color_scheme=system)
    page.add_init_script(NOTE_THE_FIRST)
    page.goto("/method/")
    assert (paper(page), theme_colour(page), pressed(page)) == (PAPER[system], HEX[system], ["As the system"])
    page.get_by_role("button", name=chosen.capitalize(), exact=True).click()
    assert (paper(page), theme_colour(page), pressed(page)) == (PAPER[chosen], HEX[chosen], [chosen.capitalize()])
    for address in ("/method/", "/about/", "/primitives/"):
        page.goto(address)
        assert page.evaluate("first") == [0, chosen]
        assert (paper(page), theme_colour(page), pressed(page)) == (PAPER[chosen], HEX[chosen], [chosen.capitalize()])
    page.get_by_role("button", name="As the system").click()
    page.reload()
    assert (paper(page), theme_colour(page), pressed(page)) == (PAPER[system], HEX[system], ["As the system"])


def test_colours_as_the_system_follow_the_system(page: Page) -> None:
    page.goto("/about/")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert (paper(page), theme_colour(page)) == (PAPER[scheme], HEX[scheme])


def test_colours_are_chosen_by_key_and_in_other_tabs_too(page: Page) -> None:
    page.goto("/about/")
    other = page.context.new_page()
    other.goto("/method/")
    page.get_by_role("button", name="Light", exact=True).focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Dark", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    assert (paper(page), pressed(page)) == (PAPER["dark"], ["Dark"])
    other.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert pressed(other) == ["Dark"]


@pytest.mark.parametrize("stored", ["auto", "blue", "", "toString", "<b>"])
def test_what_is_no_choice_leaves_the_colours_to_the_system(page: Page, stored: str) -> None:
    page.goto("/about/")
    page.evaluate("stored => localStorage.setItem('theme', stored)", stored)
    page.reload()
    assert (paper(page), pressed(page)) == (PAPER["light"], ["As the system"])


def test_paper_is_light_whatever_the_choice(page: Page) -> None:
    page.goto("/about/")
    page.get_by_role("button", name="Dark", exact=True).click()
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(29, 27, 24)"


def test_without_javascript_there_is_no_switch(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False, color_scheme="dark")
    page.goto("/about/")
    expect(page.locator(".theme")).to_be_hidden()
    expect(page.get_by_role("link", name="How we know", exact=True)).to_be_visible()


# ---- the search box of every page ----


def box(page: Page) -> Any:
    return page.get_by_role("searchbox", name="Find anything in this guide")


def panel(page: Page) -> Any:
    return page.locator("#site-results .panel")


def test_the_panel_follows_what_is_typed_and_leads_on_by_key(page: Page) -> None:
    page.goto("/about/")
    mark(page)
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.type("claude")
    expect(panel(page).get_by_role("link").first).to_have_text(re.compile("^Claude Code"))
    expect(page.locator("#site-status")).to_have_text(re.compile(r"^\d+ found for “claude”"))
    assert page.url.endswith("/about/")
    page.keyboard.press("ArrowDown")
    expect(panel(page).get_by_role("link").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_be_focused()
    assert is_marked(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Claude Code")


def test_escape_closes_the_panel_and_leaves_what_was_typed(page: Page) -> None:
    page.goto("/ladder/")
    box(page).press_sequentially("docker")
    expect(panel(page)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(box(page)).to_be_focused()
    expect(box(page)).to_have_value("docker")


def test_the_panel_closes_when_the_reader_goes_on(page: Page) -> None:
    page.goto("/ladder/")
    for leave in (lambda: page.locator("h1").click(), lambda: page.get_by_role("link", name="Audits").focus()):
        box(page).fill("")
        box(page).press_sequentially("docker")
        expect(panel(page)).to_be_visible()
        leave()
        expect(panel(page)).to_have_count(0)


def test_an_answer_that_comes_too_late_opens_nothing(page: Page) -> None:
    page.goto("/ladder/")
    held: list[Route] = []
    page.route("**/search/?*", lambda route: held.append(route))
    box(page).press_sequentially("docker")
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(20)
    page.get_by_role("link", name="Audits").focus()
    held[0].continue_()
    settled(page)
    page.wait_for_timeout(200)
    expect(panel(page)).to_have_count(0)


def test_a_lost_answer_changes_nothing_and_enter_still_searches(page: Page, console: list[str]) -> None:
    page.goto("/primitives/")
    count = page.get_by_role("status").inner_text()
    page.route("**/search/?*", lambda route: route.fulfill(status=500, body="broke"))
    with page.expect_response("**/search/?*"):
        box(page).press_sequentially("docker")
    settled(page)
    assert page.get_by_role("status").inner_text() == count
    assert page.url.endswith("/primitives/")
    assert console
    console.clear()
    page.unroute("**/search/?*")
    box(page).press("Enter")
    expect(page).to_have_url(re.compile(r"/search/\?q=docker$"))


def test_the_key_is_only_a_letter_while_typing_in_a_field_and_can_be_turned_off(page: Page) -> None:
    page.goto("/primitives/")
    page.locator("#q").press_sequentially("/dev/kvm")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#q")).to_have_value("/dev/kvm")
    page.locator("#sort-by").focus()
    page.keyboard.press("/")
    expect(page.locator("#sort-by")).to_be_focused()
    switch = page.get_by_role("button", name="Press / to find")
    expect(switch).to_have_attribute("aria-pressed", "true")
    switch.focus()
    page.keyboard.press("Control+/")
    expect(switch).to_be_focused()
    page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("/")
    expect(box(page)).not_to_be_focused()


# ---- the page of search ----


def test_the_page_of_search_follows_what_is_typed_and_its_address_too(page: Page) -> None:
    page.goto("/search/")
    mark(page)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("microvm")
    expect(page).to_have_url(re.compile(r"/search/\?q=microvm$"))
    settled(page)
    expect(page.locator(".hit h3 a").first).to_have_text("microVM")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"found for “microvm”"))
    expect(page).to_have_title("“microvm” in this guide: sandboxicon")
    assert is_marked(page)
    equals_a_fresh_page(page)
    go_back(page)
    expect(page).to_have_url(re.compile(r"/search/$"))
    expect(page.locator("#q")).to_have_value("")


def test_without_javascript_the_search_is_a_form(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False)
    page.goto("/about/")
    box(page).fill("codex")
    box(page).press("Enter")
    expect(page).to_have_url(re.compile(r"/search/\?q=codex$"))
    expect(page.locator(".hit h3 a").first).to_have_text("Codex")
    page.locator("#q").fill("runsc")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hit h3 a").first).to_have_text("gVisor")


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_scrolls_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for address in ("/method/", "/about/", "/search/", "/search/?q=docker", "/search/?q=" + "x" * 100):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    page.goto("/ladder/")
    box(page).press_sequentially("claude")
    expect(panel(page)).to_be_visible()
    place = panel(page).bounding_box()
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
