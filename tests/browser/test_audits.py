"""The matrix and an agent's page in a browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import (
    box,
    count_beside,
    equals_a_fresh_page,
    go_back,
    go_forward,
    is_marked,
    mark,
    number_found,
    settled,
    shown,
)

pytestmark = pytest.mark.browser

MATRIX = "/audits/"


def at(page: Page, query: str) -> None:
    """The matrix is at this query, and nothing is under way."""
    expect(page).to_have_url(re.compile(re.escape(MATRIX + query) + "$"))
    settled(page)


def rows(page: Page) -> list[str]:
    return page.locator(".matrix tbody th a").all_inner_texts()


def test_filters_combine_without_a_page_load_and_back_takes_them_off_one_by_one(page: Page) -> None:
    page.goto(MATRIX)
    mark(page)
    everything = rows(page)
    assert len(everything) == number_found(page) > 50
    promised = count_beside(page, "isolation", "isolated")
    box(page, "isolation", "isolated").check()
    at(page, "?isolation=isolated")
    assert number_found(page) == len(rows(page)) == promised
    equals_a_fresh_page(page)
    promised = count_beside(page, "platform", "macos")
    box(page, "platform", "macos").check()
    at(page, "?platform=macos&isolation=isolated")
    assert number_found(page) == promised
    expect(page.locator(".summaries li")).to_have_count(1)
    expect(page.locator(".summaries")).to_contain_text(f"Of {promised} agents that run on macOS")
    box(page, "at_least", "container").check()
    at(page, "?platform=macos&isolation=isolated&at_least=container")
    equals_a_fresh_page(page)
    assert is_marked(page)
    for query in ("?platform=macos&isolation=isolated", "?isolation=isolated", ""):
        go_back(page)
        at(page, query)
        equals_a_fresh_page(page)
    assert rows(page) == everything
    go_forward(page)
    at(page, "?isolation=isolated")
    expect(box(page, "isolation", "isolated")).to_be_checked()


def test_rows_search_and_order_are_part_of_the_address_and_survive_a_reload(page: Page) -> None:
    page.goto(MATRIX)
    page.get_by_label("a surface").check()
    at(page, "?rows=surfaces")
    expect(page.get_by_role("status")).to_contain_text("surfaces")
    equals_a_fresh_page(page)
    page.locator("#q").press_sequentially("claude")
    at(page, "?q=claude&rows=surfaces")
    page.get_by_label("Sort by").select_option("tier")
    at(page, "?q=claude&sort=tier&rows=surfaces")
    equals_a_fresh_page(page)
    before = shown(page)
    page.reload()
    assert shown(page) == before
    page.get_by_label("an agent").check()
    at(page, "?q=claude&sort=tier")
    go_back(page)
    at(page, "?q=claude&sort=tier&rows=surfaces")
    expect(page.get_by_label("a surface")).to_be_checked()


@pytest.mark.parametrize(
    "query",
    [
        "?q=docker&platform=linux&isolation=none",
        "?side=shared&network=off&sort=tier",
        "?at_least=microvm&rows=surfaces",
        "?rows=surfaces&page=2",
        "?failure=fails-open&vendor=Google",
    ],
)
def test_a_deep_link_and_a_reload_give_the_same_page(page: Page, query: str) -> None:
    page.goto(MATRIX + query)
    first = shown(page)
    page.reload()
    assert shown(page) == first
    assert page.url.endswith(query)


def test_without_javascript_the_form_finds_the_same(open_browser: Callable[..., Page], page: Page) -> None:
    plain = open_browser(java_script_enabled=False)
    plain.goto(MATRIX)
    promised = count_beside(plain, "platform", "windows")
    box(plain, "platform", "windows").check()
    plain.get_by_role("button", name="Search").click()
    plain.wait_for_load_state()
    assert number_found(plain) == promised
    box(plain, "isolation", "undisclosed").check()
    plain.get_by_label("a surface").check()
    plain.get_by_label("Sort by").select_option("tier")
    plain.get_by_role("button", name="Search").click()
    plain.wait_for_load_state()
    page.goto(f"{MATRIX}?platform=windows&isolation=undisclosed&sort=tier&rows=surfaces")
    assert rows(plain) == rows(page) != []
    assert plain.title() == page.title()
    name = rows(plain)[0]
    plain.locator(".matrix tbody th a").first.click()
    expect(plain.locator(".surface-section h2", has_text=name)).to_be_visible()
    before = plain.locator(".verdict").inner_text()
    plain.locator(".platforms a:not([aria-current])").first.click()
    plain.wait_for_load_state()
    assert plain.locator(".verdict").inner_text() != before


def test_the_matrix_works_by_keyboard_alone(page: Page) -> None:
    page.goto(MATRIX)
    page.locator("#q").focus()
    page.keyboard.type("cursor")
    at(page, "?q=cursor")
    expect(page.locator("#q")).to_be_focused()
    option = box(page, "platform", "linux")
    option.focus()
    page.keyboard.press("Space")
    at(page, "?q=cursor&platform=linux")
    expect(box(page, "platform", "linux")).to_be_focused()
    page.locator("#rows-agents").focus()
    page.keyboard.press("ArrowDown")
    at(page, "?q=cursor&platform=linux&rows=surfaces")
    expect(page.locator("#rows-surfaces")).to_be_focused()
    equals_a_fresh_page(page)
    page.locator(".matrix tbody th a").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Cursor")


def test_on_a_phone_the_matrix_is_cards_that_name_their_platforms_and_nothing_scrolls_sideways(
    open_browser: Callable[..., Page],
) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}, has_touch=True)
    for query in ("", "?rows=surfaces", "?isolation=undisclosed", "?q=zzzzzz"):
        page.goto(MATRIX + query)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, query
    page.goto(MATRIX)
    card = page.locator(".matrix tbody tr", has=page.get_by_role("link", name="Cursor", exact=True))
    cells = card.locator("td")
    assert cells.evaluate_all("cells => cells.map(it => getComputedStyle(it, '::before').content)") == [
        '"Linux"',
        '"macOS"',
        '"Windows"',
        '"Web browser"',
        '"Vendor\'s cloud"',
    ]
    for number in range(cells.count()):
        place = cells.nth(number).bounding_box()
        assert place
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 320
        wide = cells.nth(number).evaluate("cell => cell.scrollWidth > cell.clientWidth + 1")
        assert not wide
    page.get_by_text("Filters", exact=True).tap()
    box(page, "isolation", "undisclosed").tap()
    at(page, "?isolation=undisclosed")
    equals_a_fresh_page(page)


@pytest.mark.parametrize("width", [320, 1280])
def test_an_agents_page_does_not_scroll_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for agent in ("codex", "claude-code", "github-copilot", "jules", "openhands"):
        page.goto(f"/audits/{agent}/")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, agent


def test_the_platform_of_an_agents_page_is_switched_and_back_returns(page: Page) -> None:
    page.goto("/audits/openai-agents-sdk/?platform=linux")
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("On Linux, out of the box")
    expect(verdict).to_contain_text("nothing holds them")
    page.locator(".platforms").get_by_role("link", name="macOS").click()
    expect(page).to_have_url(re.compile(r"\?platform=macos$"))
    expect(verdict).to_contain_text("process sandbox on your own kernel")
    expect(page.locator(".platforms a[aria-current]")).to_contain_text("macOS")
    go_back(page)
    expect(verdict).to_contain_text("On Linux, out of the box")


def test_the_verdict_is_for_the_platform_that_the_browser_names(open_browser: Callable[..., Page]) -> None:
    windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
    page = open_browser(user_agent=windows, extra_http_headers={"Sec-CH-UA-Platform": '"Windows"'})
    page.goto("/audits/openai-agents-sdk/")
    expect(page.locator(".verdict")).to_contain_text("On Windows, out of the box")


def test_a_surface_in_the_matrix_leads_to_its_section(page: Page) -> None:
    page.goto(f"{MATRIX}?q=cursor&rows=surfaces")
    page.get_by_role("link", name="Cursor CLI", exact=True).click()
    expect(page).to_have_url(re.compile(r"/audits/cursor/#cli$"))
    expect(page.locator("h2#cli")).to_be_in_viewport()
