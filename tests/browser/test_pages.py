"""How the pages look and read: widths, colours, print, an entry's claims, a page that is not there."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

PAGES = [
    "/",
    "/models/",
    "/models/?step=jailer",
    "/ladder/",
    "/ladder/microvm/",
    "/primitives/",
    "/primitives/?q=zzzzzz&tier=microvm&status=nonsense",
    "/primitives/?q=" + "x" * 100,
    "/primitives/firecracker/",
    "/nesting/?open=bubblewrap.docker-default",
    "/errors/bwrap-no-permissions/",
    "/nowhere/at-all-" + "x" * 60,
]

TOO_FAINT = Path(__file__).with_name("contrast.js").read_text()


def excuse_404(console: list[str]) -> None:
    """The browser notes each page that is not there."""
    console[:] = [complaint for complaint in console if "404" not in complaint]


@pytest.mark.parametrize("width", [320, 1280])
def test_no_page_scrolls_sideways(page: Page, console: list[str], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for address in PAGES:
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    excuse_404(console)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_aa(open_browser: Callable[..., Page], console: list[str], scheme: str) -> None:
    page = open_browser(color_scheme=scheme)
    papers = set()
    for address in PAGES:
        page.goto(address)
        assert page.evaluate(TOO_FAINT) == [], address
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert papers == {{"light": "rgb(246, 242, 233)", "dark": "rgb(21, 23, 26)"}[scheme]}
    excuse_404(console)


def test_all_four_stamps_are_on_the_pages_whose_contrast_is_measured(page: Page) -> None:
    page.goto("/")
    stamps = page.locator(".stamp")
    assert set(stamps.all_inner_texts()) == {"verified-code", "documented", "inferred", "undisclosed"}
    shapes = {
        stamps.get_by_text(label, exact=True).first.evaluate(
            "stamp => { const style = getComputedStyle(stamp);"
            " return [style.borderStyle, style.borderRadius, style.backgroundImage !== 'none', style.color].join() }"
        )
        for label in ("verified-code", "documented", "inferred", "undisclosed")
    }
    assert len(shapes) == 4


def test_a_link_to_a_claim_shows_and_marks_it(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/primitives/firecracker/")
    claim = page.locator(".claim").nth(4)
    plain = claim.evaluate("claim => getComputedStyle(claim).boxShadow")
    expect(claim).not_to_be_in_viewport()
    slug = claim.get_attribute("id")
    page.goto(f"/primitives/firecracker/#{slug}")
    expect(claim).to_be_in_viewport()
    assert claim.evaluate("claim => claim.matches(':target')")
    assert claim.evaluate("claim => getComputedStyle(claim).boxShadow") != plain
    other = page.locator(".claim").nth(6)
    slug = other.get_attribute("id")
    other.get_by_role("link", name="This claim’s own page").click()
    expect(page).to_have_url(re.compile(rf"/claims/primitive\.firecracker\.{slug}/$"))


def test_the_examples_of_the_front_page_lead_to_their_claims(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name=re.compile("with sources")).first.click()
    expect(page).to_have_url(re.compile(r"/claims/[^/]+/$"))


def test_sources_in_code_link_to_the_lines_at_the_commit(page: Page) -> None:
    page.goto("/primitives/firecracker/")
    links = page.locator(".sources a:has(.path)")
    assert links.count() > 0
    for link in links.all():
        path, _, lines = link.locator(".path").inner_text().rpartition(":")
        first, _, last = lines.partition("-")
        commit = link.locator("code").first.inner_text().split("@")[1]
        address = link.get_attribute("href") or ""
        anchor = f"#L{first}-L{last}" if last else f"#L{first}"
        assert re.fullmatch(
            rf"https://github\.com/[^/]+/[^/]+/blob/{commit}[0-9a-f]{{33}}/{re.escape(path)}{anchor}", address
        ), address


def test_print_shows_where_sources_lead_and_leaves_the_furniture_out(page: Page) -> None:
    page.goto("/primitives/firecracker/")
    page.emulate_media(media="print")
    link = page.locator(".sources a").first
    assert link.get_attribute("href") in link.evaluate("link => getComputedStyle(link, '::after').content")
    for furniture in (".masthead nav", ".colophon-links", ".anchor >> nth=0", ".skip"):
        expect(page.locator(furniture)).to_be_hidden()
    expect(page.locator(".claim").first).to_be_visible()


def test_tables_are_tables_to_a_screen_reader_on_a_phone_too(page: Page) -> None:
    """Where their rows stand as cards."""
    page.set_viewport_size({"width": 320, "height": 800})
    tree = page.context.new_cdp_session(page)
    for address in ("/audits/?q=openai", "/primitives/compare/?p=gvisor&p=firecracker"):
        page.goto(address)
        nodes = tree.send("Accessibility.getFullAXTree")["nodes"]
        roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
        numbers = {
            role: page.locator(f"main :is({elements})").count()
            for role, elements in (
                ("row", "tr"),
                ("cell", "tbody td"),
                ("rowheader", "tbody th"),
                ("columnheader", "thead th"),
            )
        }
        assert numbers["cell"] > 10
        assert {role: roles.count(role) for role in numbers} == numbers, address


def test_an_entry_prints_without_what_can_only_be_pressed(page: Page) -> None:
    page.emulate_media(media="print")
    for address in ("/primitives/firecracker/", "/audits/codex/"):
        page.goto(address)
        for furniture in page.locator("nav[aria-label=Main], form, button, .crumbs, .compare-with, .anchor").all():
            expect(furniture).to_be_hidden()
        expect(page.locator(".on-paper")).to_contain_text(address)
        expect(page.locator(".stamp.verified-code").first).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.goto("/audits/?q=openai")
    expect(page.locator("table.matrix")).to_be_visible()
    expect(page.locator(".filter-panel")).to_be_hidden()


def test_a_page_that_is_not_there_is_in_the_sites_dress_and_leads_on(page: Page, console: list[str]) -> None:
    for address in ("/nowhere", "/primitives/nothing-of-the-kind/", "/ladder/none/", "/primitives/?page=999"):
        answer = page.goto(address)
        assert answer
        assert answer.status == 404
        expect(page.locator("header.masthead")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 242, 233)"
    page.get_by_label("Search the reference").fill("runsc")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/primitives/\?q=runsc$"))
    expect(page.locator(".entry h3").first).to_have_text(re.compile("gVisor"))
    excuse_404(console)


def test_the_policy_lets_nothing_in_that_is_not_the_sites_own(page: Page) -> None:
    answer = page.goto("/primitives/")
    assert answer
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.evaluate("performance.getEntriesByType('resource').every(it => it.name.startsWith(location.origin))")
    assert page.evaluate(
        "performance.getEntriesByType('resource').every(it => /\\.[0-9a-f]{12}\\.\\w+$/.test(it.name))"
    )
