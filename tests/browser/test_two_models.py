"""The two models in a browser: as a long read without JavaScript, step by step with it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import equals_a_fresh_page, go_back, go_forward, is_marked, mark, settled
from tests.browser.test_keyboard import tab_to

pytestmark = pytest.mark.browser

MODELS = "/models/"


def at_step(page: Page, slug: str) -> None:
    expect(page).to_have_url(re.compile(rf"{MODELS}\?step={slug}$"))
    settled(page)


def test_without_javascript_it_is_one_long_read(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False, reduced_motion="reduce")
    page.goto("/")
    page.get_by_role("link", name="Two models").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("What is a container made of")
    page.get_by_role("navigation", name="Contents").get_by_role("link", name="A seccomp filter").click()
    expect(page).to_have_url(re.compile(r"#seccomp$"))
    expect(page.get_by_role("heading", name="A seccomp filter")).to_be_in_viewport()
    expect(page.get_by_text("mkdir: cannot create directory")).to_be_visible()
    page.get_by_role("link", name=re.compile("default profile lets 309 of 385")).click()
    expect(page.locator(".claim:target")).to_be_in_viewport()


def test_without_javascript_the_steps_are_links(open_browser: Callable[..., Page]) -> None:
    page = open_browser(java_script_enabled=False)
    page.goto(MODELS)
    page.locator("#step-by-step").click()
    at_step(page, "process")
    page.locator("#step-after").click()
    at_step(page, "mount-namespace")
    expect(page.get_by_role("heading", level=1)).to_have_text("A mount namespace")
    go_back(page)
    at_step(page, "process")


def test_the_keyboard_walks_from_step_to_step_and_back(page: Page) -> None:
    page.goto(MODELS)
    mark(page)
    tab_to(page, "#step-by-step", most=60)
    page.keyboard.press("Enter")
    at_step(page, "process")
    equals_a_fresh_page(page)
    tab_to(page, "#step-after")
    for slug in ("mount-namespace", "pid-namespace", "network-namespace"):
        page.keyboard.press("Enter")
        at_step(page, slug)
        expect(page.locator("#step-after")).to_be_focused()
        equals_a_fresh_page(page)
    assert is_marked(page)
    expect(page.locator("#step-status")).to_have_text("Step 4 of 20: A network namespace")
    expect(page.locator(".specimen .layer")).to_have_count(3)
    expect(page).to_have_title(re.compile("A network namespace, step 4"))
    go_back(page)
    at_step(page, "pid-namespace")
    equals_a_fresh_page(page)
    go_back(page)
    at_step(page, "mount-namespace")
    go_forward(page)
    at_step(page, "pid-namespace")
    equals_a_fresh_page(page)


def test_a_step_begins_at_its_top(page: Page) -> None:
    page.goto(f"{MODELS}?step=user-namespace")
    page.get_by_role("link", name="Next: An IPC namespace").click()
    at_step(page, "ipc-namespace")
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()


def test_the_last_step_leads_to_the_whole_page(page: Page) -> None:
    page.goto(f"{MODELS}?step=two-ways-out")
    page.locator("#step-after").click()
    expect(page).to_have_url(re.compile(rf"{MODELS}$"))
    expect(page.get_by_role("navigation", name="Contents")).to_be_visible()
    equals_a_fresh_page(page)


@pytest.mark.parametrize("address", [MODELS, f"{MODELS}?step=jailer", f"{MODELS}?step=two-ways-out"])
def test_nothing_is_wider_than_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    wide = "[...document.querySelectorAll('main pre, main svg')].filter(it => it.getBoundingClientRect().right > 320)"
    assert page.evaluate(f"{wide}.length") == 0
