"""What the browser tests ask of a page."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

REFERENCE = "/primitives/"

# The main part as a reader gets it: its HTML, without what only says how the page came to be so, and the fields' state.
SHOWN = """shown => {
    const main = shown.querySelector("main").cloneNode(true);
    main.querySelector("#q")?.removeAttribute("value");
    for (const box of main.querySelectorAll(".pick input")) box.removeAttribute("checked");
    main.querySelector(".filter-panel")?.removeAttribute("open");
    for (const element of main.querySelectorAll("*")) {
        element.classList.remove("htmx-request", "htmx-swapping", "htmx-settling", "htmx-added");
        if (element.getAttribute("class") === "") element.removeAttribute("class");
    }
    return {
        html: main.innerHTML.replace(/\\s+/g, " ").replace(/> </g, "><"),
        title: shown.title,
        ticked: [...shown.querySelectorAll("main input:checked")].map(box => box.id),
        search: shown.querySelector("#q")?.value,
        sort: shown.querySelector("#sort-by")?.selectedOptions[0].text,
    };
}"""
# Without its scripts, which the page's Trusted Types let nobody parse.
FRESH = f"""async () => {{
    const answer = await fetch(location.href, {{cache: "no-store"}});
    return ({SHOWN})(new DOMParser().parseFromString((await answer.text()).replaceAll("<script", "<s"), "text/html"));
}}"""


def shown(page: Page) -> Any:
    return page.evaluate(f"() => ({SHOWN})(document)")


def at(page: Page, query: str) -> None:
    """The reference is at this query (from the question mark on), and nothing is under way."""
    expect(page).to_have_url(re.compile(re.escape(REFERENCE + query) + "$"))
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling")).to_have_count(0)


def equals_a_fresh_page(page: Page) -> None:
    """What is shown is what the present address gives to someone who opens it."""
    settled(page)
    assert shown(page) == page.evaluate(FRESH)


def go_back(page: Page) -> None:
    """Go back, and wait until the page that was there is loaded.

    htmx loads a page anew on the way through the history, after the address has changed already; who goes on at
    once breaks that off.
    """
    _leave(page, page.go_back)


def go_forward(page: Page) -> None:
    """Go forward, and wait as in `go_back`."""
    _leave(page, page.go_forward)


def _leave(page: Page, step: Callable[[], object]) -> None:
    page.evaluate("document.documentElement.dataset.left = ''")
    step()
    expect(page.locator("html[data-left]")).to_have_count(0)
    page.wait_for_load_state()


def box(page: Page, name: str, value: str) -> Locator:
    return page.locator(f'input[name="{name}"][value="{value}"]')


def count_beside(page: Page, name: str, value: str) -> int:
    return int(page.locator(f'label[for="{name}-{value}"] .count').inner_text())


def number_found(page: Page) -> int:
    found = re.match(r"\d+", page.get_by_role("status").inner_text())
    assert found
    return int(found[0])


def names(page: Page) -> list[str]:
    return page.locator(".entry h3").all_inner_texts()


def query_of(page: Page) -> str:
    return urlsplit(page.url).query


def mark(page: Page) -> None:
    """Leave a mark that goes when a page is loaded."""
    page.evaluate("window.mark = true")


def is_marked(page: Page) -> bool:
    return bool(page.evaluate("window.mark === true"))
