"""Picking from the lists and comparing, in a browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import REFERENCE, at, box, equals_a_fresh_page, go_back, is_marked, mark, names, settled

pytestmark = pytest.mark.browser

MATRIX = "/audits/"
COMPARISONS = [
    "/audits/compare/?a=codex&a=claude-code&a=cursor&a=jules",
    "/audits/compare/?a=codex&a=claude-code&platform=macos&only=differences",
    "/audits/compare/?a=codex&a=nobody",
    "/primitives/compare/?p=docker-engine&p=gvisor&p=firecracker",
    "/primitives/compare/",
]
RESULTS = "document.querySelector('#results')"


def compared(page: Page) -> set[str]:
    return set(page.locator("table.compared thead th a:first-child").all_inner_texts())


def picked(page: Page) -> set[str]:
    """The names in the bar."""
    return {item.split("\n")[0].split("Take out")[0] for item in page.locator("#picks li").all_inner_texts()}


def button(page: Page, number: int):
    return page.get_by_role("button", name=f"Compare ({number})", exact=True)


def test_two_entries_picked_survive_filters_pages_back_and_reload_and_are_compared(page: Page) -> None:
    page.goto(REFERENCE)
    mark(page)
    page.get_by_label("Compare AppArmor", exact=True).check()
    at(page, "?p=apparmor")
    equals_a_fresh_page(page)
    page.get_by_label("Compare Bubblewrap", exact=True).check()
    at(page, "?p=apparmor&p=bubblewrap")
    equals_a_fresh_page(page)
    box(page, "tier", "microvm").check()
    at(page, "?tier=microvm&p=apparmor&p=bubblewrap")
    equals_a_fresh_page(page)
    assert "AppArmor" not in names(page)
    expect(button(page, 2)).to_be_visible()
    assert is_marked(page)
    page.reload()
    equals_a_fresh_page(page)
    expect(page.locator("#picks li")).to_have_count(2)
    box(page, "tier", "microvm").uncheck()
    at(page, "?p=apparmor&p=bubblewrap")
    expect(page.get_by_label("Compare AppArmor", exact=True)).to_be_checked()
    page.locator("[rel=next]").click()
    at(page, "?p=apparmor&p=bubblewrap&page=2")
    go_back(page)
    at(page, "?p=apparmor&p=bubblewrap")
    button(page, 2).click()
    expect(page).to_have_url(re.compile(r"/primitives/compare/\?p=apparmor&p=bubblewrap$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Primitives side by side")
    assert compared(page) == {"AppArmor", "Bubblewrap"}
    go_back(page)
    at(page, "?p=apparmor&p=bubblewrap")
    expect(page.get_by_label("Compare Bubblewrap", exact=True)).to_be_checked()


def test_a_tick_keeps_the_list_the_focus_and_the_place(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(REFERENCE)
    tick = page.locator(".pick input").nth(20)
    page.evaluate(f"window.list = {RESULTS}")
    tick.focus()
    before = page.evaluate("scrollY")
    page.keyboard.press("Space")
    expect(page.locator("#picks li")).to_have_count(1)
    settled(page)
    assert page.evaluate(f"window.list === {RESULTS}")
    expect(tick).to_be_focused()
    assert page.evaluate("scrollY") == before
    page.keyboard.press("Space")
    at(page, "")
    equals_a_fresh_page(page)


def test_quick_ticks_all_count(page: Page) -> None:
    page.goto(REFERENCE)
    for number in range(3):
        page.locator(".pick input").nth(number).click(no_wait_after=True)
    expect(button(page, 3)).to_be_visible()
    equals_a_fresh_page(page)


def test_a_pick_is_taken_out_and_all_are_cleared_in_the_bar(page: Page) -> None:
    page.goto(f"{REFERENCE}?tier=container&p=gvisor&p=docker-engine")
    mark(page)
    page.get_by_role("link", name="Take out gVisor").click()
    at(page, "?tier=container&p=docker-engine")
    equals_a_fresh_page(page)
    page.get_by_role("link", name="Clear picks").click()
    at(page, "?tier=container")
    equals_a_fresh_page(page)
    expect(page.get_by_label("Compare Docker Engine")).not_to_be_checked()
    assert is_marked(page)


def test_agents_are_picked_as_agents_and_as_surfaces(page: Page) -> None:
    page.goto(MATRIX)
    page.get_by_label("Compare Codex", exact=True).check()
    expect(page).to_have_url(re.compile(r"/audits/\?a=codex$"))
    equals_a_fresh_page(page)
    page.get_by_label("a surface").check()
    expect(page).to_have_url(re.compile(r"a=codex&rows=surfaces$"))
    page.get_by_label("Compare Claude Code", exact=True).check()
    expect(button(page, 2)).to_be_visible()
    box(page, "platform", "macos").check()
    expect(page).to_have_url(re.compile("platform=macos"))
    equals_a_fresh_page(page)
    button(page, 2).click()
    expect(page).to_have_url(re.compile(r"/audits/compare/\?a=[a-z-]+&a=[a-z-]+&platform=macos$"))
    assert compared(page) == {"Codex", "Claude Code"}
    page.get_by_role("link", name="Show only what differs").click()
    expect(page.locator("table.compared tbody tr:not(.section, .differs)")).to_have_count(0)
    page.get_by_role("navigation", name="Platforms").get_by_role("link", name="Linux").click()
    expect(page).to_have_url(re.compile("platform=linux"))


def test_without_javascript_the_same(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False)
    page.goto(REFERENCE)
    page.get_by_label("Compare AppArmor", exact=True).check()
    box(page, "tier", "container").check()
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#picks li")).to_have_count(1)
    page.get_by_label("Compare Docker Engine").check()
    page.get_by_role("button", name="Keep what is ticked").click()
    expect(page.locator("#picks li")).to_have_count(2)
    page.get_by_label("Compare Docker Engine").uncheck()
    page.get_by_label("Compare Podman").check()
    button(page, 2).click()
    expect(page).to_have_url(re.compile(r"/primitives/compare/\?p=podman&p=apparmor$"))
    assert compared(page) == {"Podman", "AppArmor"}


def test_by_keyboard_alone(page: Page) -> None:
    def tab_to(selector: str) -> None:
        for _ in range(250):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(selector)

    page.goto(f"{REFERENCE}?tier=full-vm")
    for number in (1, 2):
        tab_to(".pick input")
        page.keyboard.press("Space")
        expect(button(page, number)).to_be_visible()
    tab_to("#picks button")
    expect(page.locator("#picks button")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Primitives side by side")
    assert len(compared(page)) == 2


def test_enter_in_the_search_box_searches_and_does_not_compare(page: Page) -> None:
    page.goto(f"{REFERENCE}?p=gvisor&p=firecracker")
    page.locator("#q").fill("docker")
    page.keyboard.press("Enter")
    at(page, "?q=docker&p=firecracker&p=gvisor")
    equals_a_fresh_page(page)


@pytest.mark.parametrize("width", [320, 700, 1280])
def test_no_page_scrolls_sideways_and_nothing_is_cut_off(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    lists = [f"{REFERENCE}?p=gvisor&p=firecracker&p=wasmtime&p=docker-engine", f"{MATRIX}?a=codex&a=warp&a=openhands"]
    for address in [*COMPARISONS, *lists]:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        cells = page.locator("table.compared td")
        wide = "cells => cells.filter(it => it.scrollWidth > it.clientWidth + 1).map(it => it.innerText)"
        assert cells.evaluate_all(wide) == [], address


def test_on_a_phone_each_value_says_whose_it_is_and_the_bar_leaves_room(open_browser: Callable[..., Page]) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}, has_touch=True)
    page.goto(COMPARISONS[1])
    cell = page.locator("table.compared td[data-name]").first
    assert cell.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Codex"'
    page.goto(f"{REFERENCE}?p=gvisor&p=firecracker&p=wasmtime&p=docker-engine")
    bar = page.locator(".picking").bounding_box()
    assert bar
    assert bar["height"] < 640 / 4
    page.locator("#picks button").tap()
    expect(page.locator("table.compared")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_aa(open_browser: Callable[..., Page], scheme: str) -> None:
    from tests.browser.test_pages import TOO_FAINT

    page = open_browser(color_scheme=scheme)
    for address in [*COMPARISONS, f"{REFERENCE}?p=gvisor&p=wasmtime"]:
        page.goto(address)
        assert page.evaluate(TOO_FAINT) == [], address


def test_an_agent_and_an_entry_lead_to_the_list_with_it_picked(page: Page) -> None:
    page.goto("/audits/codex/")
    page.get_by_role("link", name="Compare with").click()
    expect(page.get_by_label("Compare Codex", exact=True)).to_be_checked()
    page.goto("/primitives/gvisor/")
    page.get_by_role("link", name="Compare with").click()
    expect(button(page, 1)).to_be_visible()
    assert picked(page) == {"gVisor"}
