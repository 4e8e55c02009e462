"""The reference in a browser with htmx."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.pages import (
    REFERENCE,
    at,
    box,
    count_beside,
    equals_a_fresh_page,
    go_back,
    go_forward,
    is_marked,
    mark,
    names,
    number_found,
    query_of,
    settled,
    shown,
)

pytestmark = pytest.mark.browser


def requests_of_htmx(page: Page) -> list[str]:
    """The addresses that htmx asks for from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.headers.get("hx-request"):
            asked.append(request.url)

    page.on("request", note)
    return asked


class Held:
    """Answers for htmx stay under way until they are let go."""

    def __init__(self, page: Page) -> None:
        self.routes: list[Route] = []
        page.route("**/primitives/?*", self._hold)

    def _hold(self, route: Route) -> None:
        if route.request.headers.get("hx-request"):
            self.routes.append(route)
        else:
            route.continue_()

    def wait_for(self, page: Page, number: int) -> None:
        for _ in range(100):
            if len(self.routes) >= number:
                return
            page.wait_for_timeout(20)
        raise AssertionError(f"{len(self.routes)} requests, not {number}")

    def let_go(self) -> None:
        while self.routes:
            self.routes.pop(0).continue_()


# ---- search ----


def test_results_follow_the_search_while_it_is_typed_without_a_page_load(page: Page) -> None:
    page.goto(REFERENCE)
    mark(page)
    total = number_found(page)
    page.locator("#q").press_sequentially("bwrap")
    at(page, "?q=bwrap")
    assert names(page)[0] == "Bubblewrap"
    assert number_found(page) < total
    expect(page).to_have_title("“bwrap” in the reference: sandboxicon")
    assert is_marked(page)
    equals_a_fresh_page(page)


def test_the_count_is_announced_from_a_live_region_that_stays(page: Page) -> None:
    page.goto(REFERENCE)
    status = page.get_by_role("status")
    page.evaluate("window.region = document.querySelector('[role=status]')")
    page.locator("#q").press_sequentially("gvisor")
    at(page, "?q=gvisor")
    expect(status).to_have_text(re.compile(r"^\d+ entr(y|ies) for “gvisor”"))
    assert page.evaluate("window.region.isConnected && window.region.getAttribute('aria-live')") == "polite"


def test_focus_and_caret_stay_in_the_search_box(page: Page) -> None:
    page.goto(REFERENCE)
    search = page.locator("#q")
    search.press_sequentially("firer")
    at(page, "?q=firer")
    search.press("ArrowLeft")
    search.press_sequentially("ack")
    at(page, "?q=fireackr")
    expect(search).to_be_focused()
    assert search.evaluate("box => [box.selectionStart, box.selectionEnd]") == [7, 7]


def test_letters_typed_while_an_answer_is_under_way_are_kept_and_searched_for(page: Page) -> None:
    page.goto(REFERENCE)
    held = Held(page)
    search = page.locator("#q")
    search.press_sequentially("fire")
    held.wait_for(page, 1)
    search.press_sequentially("cracker", delay=5)
    held.let_go()
    expect(search).to_have_value("firecracker")
    held.wait_for(page, 1)
    held.let_go()
    at(page, "?q=firecracker")
    expect(search).to_have_value("firecracker")
    assert names(page)[0] == "Firecracker"


def test_an_old_answer_never_replaces_a_newer_one(page: Page) -> None:
    page.goto(REFERENCE)
    held = Held(page)
    page.locator("#q").press_sequentially("docker")
    held.wait_for(page, 1)
    page.locator("#q").fill("firecracker")
    held.wait_for(page, 2)
    old, new = held.routes
    new.continue_()
    at(page, "?q=firecracker")
    old.abort()
    settled(page)
    at(page, "?q=firecracker")
    assert names(page)[0] == "Firecracker"


def test_leaving_the_search_box_asks_nothing_twice_and_adds_no_step(page: Page) -> None:
    page.goto(REFERENCE)
    asked = requests_of_htmx(page)
    page.locator("#q").press_sequentially("gvisor")
    at(page, "?q=gvisor")
    steps = page.evaluate("history.length")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.wait_for_timeout(400)
    assert len(asked) == 1
    assert page.evaluate("history.length") == steps


def test_enter_searches_at_once_and_only_once(page: Page) -> None:
    page.goto(REFERENCE)
    mark(page)
    asked = requests_of_htmx(page)
    page.locator("#q").fill("gvisor")
    page.keyboard.press("Enter")
    at(page, "?q=gvisor")
    page.wait_for_timeout(400)
    assert len(asked) == 1
    assert is_marked(page)


def test_a_search_is_sorted_by_best_match_until_another_order_is_chosen(page: Page) -> None:
    page.goto(REFERENCE)
    page.locator("#q").press_sequentially("docker")
    at(page, "?q=docker")
    expect(page.locator("#sort-by option:checked")).to_have_text("best match")
    page.get_by_label("Sort by").select_option("name")
    at(page, "?q=docker&sort=name")
    assert names(page) == sorted(names(page), key=str.lower)
    equals_a_fresh_page(page)
    page.locator("#q").fill("")
    at(page, "")
    expect(page.locator("#sort-by option:checked")).to_have_text("name")
    equals_a_fresh_page(page)


# ---- filters ----


def test_filters_combine_and_their_counts_say_what_following_them_finds(page: Page) -> None:
    page.goto(REFERENCE)
    mark(page)
    for name, value, query in (
        ("tier", "microvm", "?tier=microvm"),
        ("platform", "macos", "?tier=microvm&platform=macos"),
        ("isolates", "kernel", "?tier=microvm&platform=macos&isolates=kernel"),
    ):
        promised = count_beside(page, name, value)
        box(page, name, value).check()
        at(page, query)
        assert number_found(page) == promised
        assert len(names(page)) == promised > 0
        equals_a_fresh_page(page)
    assert is_marked(page)


def test_counts_beside_the_other_filters_follow(page: Page) -> None:
    page.goto(REFERENCE)
    before = count_beside(page, "platform", "macos"), count_beside(page, "tier", "container")
    box(page, "tier", "microvm").check()
    at(page, "?tier=microvm")
    after = count_beside(page, "platform", "macos"), count_beside(page, "tier", "container")
    assert after[0] < before[0]
    assert after[1] == before[1]


def test_several_rungs_widen(page: Page) -> None:
    page.goto(REFERENCE)
    expected = count_beside(page, "tier", "microvm") + count_beside(page, "tier", "full-vm")
    box(page, "tier", "full-vm").check()
    at(page, "?tier=full-vm")
    box(page, "tier", "microvm").check()
    expect(page).to_have_url(re.compile(r"tier=microvm"))
    settled(page)
    assert number_found(page) == expected
    assert set(page.locator(".entry .side .name").all_inner_texts()) == {"microVM", "Full VM"}
    equals_a_fresh_page(page)


def test_focus_stays_on_the_box_that_was_ticked(page: Page) -> None:
    page.goto(REFERENCE)
    box(page, "platform", "linux").focus()
    page.keyboard.press("Space")
    at(page, "?platform=linux")
    expect(box(page, "platform", "linux")).to_be_focused()
    expect(box(page, "platform", "linux")).to_be_checked()
    page.keyboard.press("Space")
    at(page, "")
    expect(box(page, "platform", "linux")).to_be_focused()
    expect(box(page, "platform", "linux")).not_to_be_checked()


def test_a_filter_ticked_before_the_typed_search_was_sent_takes_it_along(page: Page) -> None:
    page.goto(REFERENCE)
    asked = requests_of_htmx(page)
    page.locator("#q").fill("vm")
    box(page, "tier", "microvm").check()
    at(page, "?q=vm&tier=microvm")
    page.wait_for_timeout(400)
    assert len(asked) == 1
    equals_a_fresh_page(page)


def test_two_filters_ticked_in_haste_are_both_in_force(page: Page) -> None:
    page.goto(REFERENCE)
    held = Held(page)
    box(page, "tier", "microvm").check()
    held.wait_for(page, 1)
    box(page, "platform", "linux").check()
    held.wait_for(page, 2)
    held.routes[1].continue_()
    at(page, "?tier=microvm&platform=linux")
    equals_a_fresh_page(page)


def test_the_list_is_sorted_as_chosen(page: Page) -> None:
    page.goto(f"{REFERENCE}?tier=container")
    by_name = names(page)
    page.get_by_label("Sort by").focus()
    page.get_by_label("Sort by").select_option("claims")
    at(page, "?tier=container&sort=claims")
    assert names(page) != by_name
    assert sorted(names(page)) == sorted(by_name)
    expect(page.get_by_label("Sort by")).to_be_focused()
    equals_a_fresh_page(page)
    page.get_by_label("Sort by").select_option(label="name")
    at(page, "?tier=container")
    assert names(page) == by_name


def test_clearing_all_filters_leads_to_every_entry(page: Page) -> None:
    page.goto(REFERENCE)
    everything = shown(page)
    box(page, "tier", "microvm").check()
    at(page, "?tier=microvm")
    page.get_by_role("link", name="Clear all filters").click()
    at(page, "")
    assert shown(page) == everything


# ---- history ----


def test_back_undoes_a_step_and_forward_redoes_it(page: Page) -> None:
    page.goto(REFERENCE)
    box(page, "tier", "microvm").check()
    at(page, "?tier=microvm")
    box(page, "platform", "linux").check()
    at(page, "?tier=microvm&platform=linux")
    page.locator("#q").press_sequentially("fire", delay=300)
    at(page, "?q=fire&tier=microvm&platform=linux")
    page.get_by_label("Sort by").select_option("claims")
    at(page, "?q=fire&tier=microvm&platform=linux&sort=claims")
    backwards = ["?q=fire&tier=microvm&platform=linux", "?tier=microvm&platform=linux", "?tier=microvm", ""]
    for query in backwards:
        go_back(page)
        at(page, query)
        equals_a_fresh_page(page)
    for query in [*backwards[-2::-1], "?q=fire&tier=microvm&platform=linux&sort=claims"]:
        go_forward(page)
        at(page, query)
        equals_a_fresh_page(page)


def test_a_search_is_one_step_however_many_letters(page: Page) -> None:
    page.goto("/")
    page.goto(REFERENCE)
    page.locator("#q").press_sequentially("firecracker", delay=120)
    at(page, "?q=firecracker")
    go_back(page)
    at(page, "")
    equals_a_fresh_page(page)
    expect(page.locator("#q")).to_have_value("")
    go_back(page)
    expect(page).to_have_url(re.compile(r"127\.0\.0\.1:\d+/$"))


def test_a_search_goes_on_as_a_step_of_its_own_after_a_filter(page: Page) -> None:
    page.goto(REFERENCE)
    page.locator("#q").press_sequentially("vm")
    at(page, "?q=vm")
    box(page, "platform", "linux").check()
    at(page, "?q=vm&platform=linux")
    page.locator("#q").press("End")
    page.locator("#q").press_sequentially("m")
    at(page, "?q=vmm&platform=linux")
    go_back(page)
    at(page, "?q=vm&platform=linux")
    equals_a_fresh_page(page)
    go_back(page)
    at(page, "?q=vm")
    equals_a_fresh_page(page)


def test_the_search_of_a_deep_link_is_a_step_that_typing_on_keeps(page: Page) -> None:
    page.goto(f"{REFERENCE}?q=fire")
    page.locator("#q").press("End")
    page.locator("#q").press_sequentially("cracker")
    at(page, "?q=firecracker")
    go_back(page)
    at(page, "?q=fire")
    equals_a_fresh_page(page)


def test_back_from_an_entry_leads_to_the_same_list(page: Page) -> None:
    page.goto(REFERENCE)
    box(page, "tier", "microvm").check()
    at(page, "?tier=microvm")
    before = shown(page)
    page.get_by_role("link", name="Firecracker", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Firecracker")
    go_back(page)
    at(page, "?tier=microvm")
    assert shown(page) == before
    go_back(page)
    at(page, "")
    equals_a_fresh_page(page)


@pytest.mark.parametrize(
    "query",
    [
        "?q=docker&tier=container&platform=linux&sort=claims",
        "?tier=microvm&tier=full-vm&isolates=kernel",
        "?page=2",
        "?sort=checked&page=2",
        "?q=zzzzzz",
    ],
)
def test_a_reload_and_a_deep_link_give_the_same_page(page: Page, query: str) -> None:
    page.goto(REFERENCE + query)
    first = shown(page)
    page.reload()
    assert shown(page) == first
    assert page.url.endswith(query)


def test_a_reload_after_swaps_gives_the_same_page(page: Page) -> None:
    page.goto(REFERENCE)
    box(page, "platform", "macos").check()
    at(page, "?platform=macos")
    page.locator("#q").fill("seatbelt")
    at(page, "?q=seatbelt&platform=macos")
    page.get_by_label("Sort by").select_option("tier")
    at(page, "?q=seatbelt&platform=macos&sort=tier")
    before = shown(page)
    page.reload()
    assert shown(page) == before


# ---- pages ----


def test_pages_lead_through_every_entry_and_keep_filter_and_sort(page: Page) -> None:
    page.goto(f"{REFERENCE}?platform=linux&sort=claims")
    total, seen = number_found(page), names(page)
    while page.locator("[rel=next]").count():
        page.locator("[rel=next]").click()
        page.wait_for_load_state()
        assert "platform=linux" in query_of(page)
        assert "sort=claims" in query_of(page)
        seen += names(page)
    assert len(seen) == len(set(seen)) == total
    go_back(page)
    equals_a_fresh_page(page)


def test_a_filter_on_a_later_page_begins_at_the_first(page: Page) -> None:
    page.goto(f"{REFERENCE}?page=2")
    box(page, "platform", "linux").check()
    at(page, "?platform=linux")
    equals_a_fresh_page(page)
    go_back(page)
    at(page, "?page=2")
    equals_a_fresh_page(page)


# ---- nothing found, and trouble ----


def test_no_result_offers_to_leave_out_the_narrowest_filter(page: Page) -> None:
    page.goto(REFERENCE)
    page.locator("#q").fill("firecracker")
    at(page, "?q=firecracker")
    page.locator("label.option.none input[name=platform]").first.check()
    expect(page.get_by_role("status")).to_contain_text("0 entries")
    settled(page)
    equals_a_fresh_page(page)
    offer = page.get_by_role("link", name="Leave out")
    promised = re.search(r"(\d+)\.$", offer.locator("xpath=..").inner_text())
    assert promised
    offer.click()
    page.wait_for_load_state()
    assert number_found(page) == int(promised[1]) > 0


def test_an_error_of_the_server_is_shown_and_not_hidden_behind_an_old_list(page: Page, console: list[str]) -> None:
    page.goto(REFERENCE)
    page.route(
        "**/primitives/?*", lambda route: route.fulfill(status=500, content_type="text/html", body="<h1>Broke</h1>")
    )
    # Not check(): that looks at the box again, and the page that it is on may have gone by then.
    box(page, "tier", "microvm").click(no_wait_after=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("Broke")
    expect(page).to_have_url(re.compile("tier=microvm"))
    assert all("500" in complaint for complaint in console)
    console.clear()


def test_a_lost_connection_is_said(page: Page, console: list[str]) -> None:
    page.goto(REFERENCE)
    page.route("**/primitives/?*", lambda route: route.abort())
    box(page, "tier", "microvm").check()
    expect(page.get_by_role("status")).to_contain_text("No answer")
    page.unroute("**/primitives/?*")
    page.get_by_role("button", name="Search").click()
    at(page, "?tier=microvm")
    equals_a_fresh_page(page)
    assert console
    console.clear()


def test_a_partial_is_never_shown_as_a_page(page: Page) -> None:
    page.goto(REFERENCE)
    address = f"{REFERENCE}?q=&sort=&tier=microvm"
    page.evaluate("address => fetch(address, {headers: {'HX-Request': 'true'}})", address)
    page.goto(address)
    expect(page.locator("header.masthead")).to_be_visible()


# ---- narrow screens ----


def test_on_a_phone_filters_stay_shut_until_opened_and_open_across_swaps(open_browser: Callable[..., Page]) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}, has_touch=True)
    page.goto(REFERENCE)
    expect(box(page, "tier", "microvm")).to_be_hidden()
    expect(page.locator(".entry").first).to_be_visible()
    page.get_by_text("Filters", exact=True).tap()
    box(page, "tier", "microvm").tap()
    at(page, "?tier=microvm")
    expect(box(page, "tier", "microvm")).to_be_visible()
    box(page, "platform", "linux").tap()
    at(page, "?tier=microvm&platform=linux")
    expect(box(page, "platform", "linux")).to_be_visible()
    equals_a_fresh_page(page)


def test_at_a_desk_filters_stand_open(page: Page) -> None:
    page.goto(REFERENCE)
    expect(box(page, "tier", "microvm")).to_be_visible()
    expect(page.locator(".filter-panel summary")).to_be_hidden()
    entry, panel = page.locator(".entry").first.bounding_box(), page.locator("#facets").bounding_box()
    assert entry
    assert panel
    assert panel["x"] + panel["width"] < entry["x"]


def test_each_entry_is_as_wide_as_the_list(page: Page) -> None:
    page.goto(REFERENCE)
    widths = page.evaluate("[...document.querySelectorAll('.entries, .entry')].map(each => each.clientWidth)")
    assert len(widths) > 50
    assert len(set(widths)) == 1
