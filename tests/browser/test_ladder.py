"""The ladder in a browser: rungs that open in place, by key and without JavaScript; words of drawings in place."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import equals_a_fresh_page, go_back, is_marked, mark, settled

pytestmark = pytest.mark.browser

# Words of drawings that reach out of the drawing, out of the layer that they begin in, or over the kernel line.
ASTRAY = """() => [...document.querySelectorAll("svg.large text")].filter(text => {
    const word = text.getBoundingClientRect(), all = text.closest("svg").getBoundingClientRect();
    const line = text.closest("svg").querySelector(".layer-line")?.getBoundingClientRect();
    const crosses = line && !text.matches(".line-label") && word.top < line.bottom - 1 && word.bottom > line.top + 1;
    const out = [...text.closest("svg").querySelectorAll("rect")].map(rect => rect.getBoundingClientRect()).some(box =>
        word.left > box.left && word.left < box.right && word.top > box.top - 1 && word.bottom < box.bottom + 1
        && word.right > box.right);
    return word.left < all.left || word.right > all.right || word.bottom > all.bottom + 1 || crosses || out;
}).map(text => text.textContent)"""


@pytest.mark.parametrize("address", ["/", "/ladder/"])
def test_rungs_open_by_key_where_they_stand_and_back_closes_them(page: Page, address: str) -> None:
    page.goto(address)
    mark(page)
    rung = page.locator("#open-container")
    rung.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(f"{address}?open=container") + "$"))
    expect(rung).to_have_attribute("aria-expanded", "true")
    expect(rung).to_be_focused()
    expect(page.locator("#in-container")).to_contain_text("What a break costs")
    page.locator("#open-microvm").click()
    expect(page).to_have_url(re.compile(re.escape("?open=microvm&open=container") + "$"))
    settled(page)
    assert is_marked(page)
    equals_a_fresh_page(page)
    go_back(page)
    expect(page.locator("#in-microvm")).to_have_count(0)
    expect(page.locator("#in-container")).to_be_visible()
    go_back(page)
    expect(page.locator(".within")).to_have_count(0)


def test_without_javascript_a_rung_opens_by_a_link(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False)
    page.goto("/")
    page.locator("#open-microvm").click()
    expect(page).to_have_url(re.compile(r"/\?open=microvm#rung-microvm$"))
    expect(page.locator("#in-microvm")).to_be_visible()
    expect(page.locator("#rung-microvm")).to_be_in_viewport()
    page.locator("#in-microvm").get_by_role("link", name=re.compile("^All about this rung")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("microVM")


@pytest.mark.parametrize("width", [320, 1280])
def test_the_words_of_drawings_stay_within_them_and_nothing_scrolls(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for address in (
        "/?open=full-vm",
        "/ladder/?open=microvm&open=kernel-feature",
        "/primitives/kata-containers/",
        "/primitives/restricted-tokens/",
        "/audits/codex/",
        "/audits/devin/?platform=vendor-cloud",
    ):
        page.goto(address)
        assert page.locator("svg.large").count() > 0
        assert page.evaluate(ASTRAY) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
