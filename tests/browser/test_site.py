"""What every page has: colours by choice, search as one types, the shortcut; all by keyboard and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

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
