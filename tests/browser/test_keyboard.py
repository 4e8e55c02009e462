"""The site by keyboard alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import REFERENCE, at, equals_a_fresh_page, go_back

pytestmark = pytest.mark.browser

# What has the focus, and whether a reader can see that: a line around it that differs from what is behind it, in sight.
FOCUS = """() => {
    const element = document.activeElement;
    if (element === document.body) return null;
    const style = getComputedStyle(element), place = element.getBoundingClientRect();
    const lined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const inSight = place.width > 0 && place.bottom > 0 && place.top < innerHeight && place.left < innerWidth;
    return {name: element.id || element.textContent.trim().slice(0, 60) || element.name, visible: lined && inSight};
}"""


def tab_to(page: Page, selector: str, most: int = 120) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} was not reached with {most} tabs")


def test_from_the_skip_link_to_an_entry_and_back(page: Page) -> None:
    page.goto(REFERENCE)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    expect(page.get_by_role("link", name="To the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, "#q")
    page.keyboard.type("vm")
    at(page, "?q=vm")
    tab_to(page, "#tier-microvm")
    page.keyboard.press("Space")
    at(page, "?q=vm&tier=microvm")
    expect(page.locator("#tier-microvm")).to_be_focused()
    tab_to(page, ".entry h3 a")
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    go_back(page)
    at(page, "?q=vm&tier=microvm")
    equals_a_fresh_page(page)
    go_back(page)
    at(page, "?q=vm")


def test_the_order_is_chosen_with_the_arrow_keys(page: Page) -> None:
    page.goto(REFERENCE)
    tab_to(page, "#sort-by")
    page.keyboard.press("ArrowDown")
    at(page, "?sort=tier")
    expect(page.locator("#sort-by")).to_be_focused()
    page.keyboard.press("ArrowDown")
    at(page, "?sort=claims")


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/models/?step=the-kernel",
        "/ladder/",
        "/ladder/microvm/",
        f"{REFERENCE}?tier=microvm&platform=macos",
        "/primitives/gvisor/",
        "/nowhere",
    ],
)
def test_the_focus_is_seen_wherever_it_goes(page: Page, address: str, console: list[str]) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(address)
    seen = []
    for _ in range(400):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus is None:
            break
        seen.append(focus)
    else:
        raise AssertionError("the focus never left the page")
    assert len(seen) > 5
    assert [focus["name"] for focus in seen if not focus["visible"]] == []
    console[:] = [complaint for complaint in console if "404" not in complaint]


def test_on_a_phone_the_filters_open_by_key(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(REFERENCE)
    tab_to(page, "summary")
    page.keyboard.press("Enter")
    tab_to(page, "#tier-microvm")
    page.keyboard.press("Space")
    at(page, "?tier=microvm")
    expect(page.locator("#tier-microvm")).to_be_focused()
    expect(page).to_have_title(re.compile("filtered"))
