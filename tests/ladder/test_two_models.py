import itertools
import re

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ladder.two_models import LINK, PARTS, RECORDING, STEPS, BreakAddress, ClaimAddress, Paragraph, layers_at, look_up
from tests.factories import make_break, make_claim, make_primitive, make_tier
from tests.htmx import Reader

pytestmark = pytest.mark.django_db

ADDRESSES = ["/models/", *(f"/models/?step={step.slug}" for step in STEPS)]


def page_of(client: Client, address: str) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def first_claim() -> ClaimAddress:
    return next(claim for claim in STEPS[1].claims if claim.room == "primitives")


# What the page teaches.


def test_the_container_is_taken_apart_in_the_order_that_the_issue_names() -> None:
    assert [step.slug for step in PARTS[0].steps] == [
        "process",
        *(f"{kind}-namespace" for kind in ("mount", "pid", "network", "user", "ipc", "uts", "cgroup")),
        "control-groups",
        "capabilities",
        "seccomp",
        "security-module",
        "root-file-system",
    ]
    assert [part.slug for part in PARTS] == ["container", "shared", "microvm", "side-by-side"]


def test_the_drawing_grows_by_a_layer_a_step() -> None:
    drawn = [[layer.title for layer in layers_at(step)] for step in PARTS[0].steps]
    assert drawn[0] == []
    for fewer, more in itertools.pairwise(drawn):
        assert more[:-1] == fewer
    new = [[layer.title for layer in layers_at(step) if layer.is_new] for step in PARTS[0].steps[1:]]
    assert new == [[step.layer] for step in PARTS[0].steps[1:]]
    assert len(layers_at(PARTS[1].steps[0])) == len(drawn[-1])


def test_every_step_names_claims_and_all_but_the_last_show_a_command() -> None:
    assert len({step.slug for step in STEPS}) == len(STEPS)
    assert all(step.claims for step in STEPS)
    assert [step.slug for step in STEPS if not step.runs] == ["two-ways-out"]


def test_no_link_to_a_claim_is_left_unread() -> None:
    for step in STEPS:
        for paragraph in (*step.text, *step.after, *(need for way in step.ways for need in way.needs)):
            assert paragraph.source.count("](") == len(paragraph.claims)
            assert not [piece for piece in paragraph.pieces if "](" in piece.text]


def test_no_break_is_named_by_hand() -> None:
    for step in STEPS:
        for paragraph in (*step.text, *step.after, *(need for way in step.ways for need in way.needs)):
            assert not re.search(r"CVE|GHSA", LINK.sub("", paragraph.source))


# The outputs.


def test_every_output_is_shown_once_with_its_command(client: Client) -> None:
    shown = [pre.get_text() for pre in page_of(client, "/models/").select(".run pre")]
    exits = {run.key: f"\nexit code {run.exit_code}" if run.exit_code else "" for run in RECORDING.runs.values()}
    assert sorted(shown) == sorted(
        f"{run.prompt} {run.command}\n{run.output}{exits[run.key]}" for run in RECORDING.runs.values()
    )


def test_the_outputs_name_no_machine_and_no_user_of_it() -> None:
    for run in RECORDING.runs.values():
        assert not re.search(r"/tmp|/work|/root/|/home/", run.output), run.key
        assert not re.search(r"\[\d+\]", run.output), run.key


def test_the_page_says_with_what_the_outputs_were_made(client: Client) -> None:
    note = page_of(client, "/models/?step=process").select_one(".note").get_text()
    assert RECORDING.kernel in note
    assert RECORDING.tools["bubblewrap"] in note
    assert "tools/take_apart.py" in note


# Paragraphs.


def test_a_paragraph_is_plain_pieces_and_links() -> None:
    paragraph = Paragraph("**Mind.** Now [it](/primitives/kvm/#one) and [that](/ladder/microvm/#two).")
    assert paragraph.warning == "Mind."
    assert [tuple(piece) for piece in paragraph.pieces] == [
        ("Now ", None),
        ("it", ("primitives", "kvm", "one")),
        (" and ", None),
        ("that", ("ladder", "microvm", "two")),
        (".", None),
    ]
    assert [str(claim) for claim in paragraph.claims] == ["/primitives/kvm/#one", "/ladder/microvm/#two"]


def test_a_link_shows_the_label_and_the_sentence_of_its_claim(client: Client) -> None:
    address = first_claim()
    make_claim(make_primitive(address.subject), slug=address.slug, sentence='It says "<so>".', label="documented")
    (link,) = page_of(client, "/models/").select("a.claim-link")
    assert link["href"] == str(address)
    assert "documented" in link["class"]
    assert link["title"] == 'documented: It says "<so>".'


def test_a_claim_of_another_subject_with_the_same_slug_is_not_taken_for_it(client: Client) -> None:
    address = first_claim()
    make_claim(make_primitive("another"), slug=address.slug)
    make_claim(make_tier(), slug=address.slug)
    assert not page_of(client, "/models/").select("a.claim-link")


def test_look_up_finds_claims_of_rungs_and_of_primitives_each_once() -> None:
    tier = make_tier("container")
    make_claim(tier, slug="one-kernel-bug-can-be-enough", sentence="Enough.")
    primitive = make_primitive("namespaces", tier=tier)
    make_claim(primitive, slug="outside-every-namespace", sentence="Outside.")
    make_break(make_primitive("user-namespaces", tier=tier), "CVE-2024-1086", nickname="Crack")
    make_break(primitive, "CVE-2024-1086", nickname="Not this one")
    known = look_up(STEPS)
    assert {str(address): claim.sentence for address, claim in known.claims.items()} == {
        "/ladder/container/#one-kernel-bug-can-be-enough": "Enough.",
        "/primitives/namespaces/#outside-every-namespace": "Outside.",
    }
    assert list(known.breaks) == [BreakAddress("user-namespaces", "CVE-2024-1086")]
    assert known.breaks[BreakAddress("user-namespaces", "CVE-2024-1086")].nickname == "Crack"
    assert known.entries["namespaces"].title == "namespaces"


# The pages.


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_reads_on_an_empty_database(client: Client, address: str) -> None:
    page = page_of(client, address)
    assert len(page.select("h1")) == 1
    assert not page.select("a.claim-link, .break-list li")
    assert page.select_one("#models svg[role=img][aria-label]")


def test_the_long_read_has_every_step_with_an_anchor_in_the_contents(client: Client) -> None:
    page = page_of(client, "/models/")
    anchors = [link["href"] for link in page.select(".contents ol a")]
    assert sorted(anchors) == sorted(f"#{thing.slug}" for thing in (*PARTS, *STEPS))
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids))
    assert {anchor[1:] for anchor in anchors} <= set(ids)


def test_steps_lead_from_one_to_the_next_by_links(client: Client) -> None:
    address, seen = f"/models/?step={STEPS[0].slug}", []
    while "step=" in address:
        page = page_of(client, address)
        seen.append(page.h1.get_text())
        address = page.select_one("[rel=next]")["href"]
    assert seen == [step.title for step in STEPS]
    assert address == "/models/"
    back = page_of(client, f"/models/?step={STEPS[1].slug}").select_one("[rel=prev]")
    assert back["href"] == f"/models/?step={STEPS[0].slug}"
    assert page_of(client, f"/models/?step={STEPS[0].slug}").select_one("[rel=prev]")["href"] == "/models/"


def test_the_masthead_and_the_front_page_lead_here(client: Client) -> None:
    assert page_of(client, "/models/").select_one('.masthead a[aria-current="true"]')["href"] == "/models/"
    assert page_of(client, "/").select_one(".plates + .onward a")["href"] == "/models/"


@pytest.mark.parametrize("step", ["nothing", "Seccomp", "seccomp/", "../", "%00", "<script>", "x" * 5000, "1"])
def test_a_step_that_never_was_is_a_404(client: Client, step: str) -> None:
    response = client.get("/models/", {"step": step})
    assert response.status_code == 404
    assert b"<script>" not in response.content.split(b"<main")[1]


def test_an_empty_step_is_the_long_read(client: Client) -> None:
    assert page_of(client, "/models/?step=").select_one("#models.long-read")


# With htmx.


@pytest.mark.usefixtures("content")
def test_after_each_step_the_page_equals_a_fresh_one(client: Client) -> None:
    reader = Reader(client, "/models/")
    reader.follow("#step-by-step")
    assert reader.address == f"/models/?step={STEPS[0].slug}"
    for step in STEPS[1:]:
        assert reader.shown() == reader.fresh()
        reader.follow("#step-after")
        assert reader.address == f"/models/?step={step.slug}"
    assert reader.shown() == reader.fresh()
    reader.follow("#step-before")
    assert reader.shown() == reader.fresh()
    for _ in STEPS[1:]:
        reader.follow("#step-before")
    assert reader.address == "/models/"
    assert reader.shown() == reader.fresh()


def test_a_swap_is_never_kept_as_a_page(client: Client) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        response = client.get("/models/?step=seccomp", headers=headers)
        assert "HX-Request" in response.headers["Vary"]
        assert (b"<!doctype html>" in response.content) == (not headers)
    restored = client.get("/models/?step=seccomp", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert b"<!doctype html>" in restored.content
    assert "HX-Push-Url" not in restored.headers


# With the content.


@pytest.mark.usefixtures("content")
def test_every_claim_break_and_entry_that_is_named_is_there() -> None:
    known = look_up(STEPS)
    assert {claim for step in STEPS for claim in step.claims} == set(known.claims)
    assert {address for step in STEPS for address in (*step.breaks, *step.other_breaks)} == set(known.breaks)
    assert {slug for step in STEPS for slug in step.entries} == set(known.entries)


@pytest.mark.usefixtures("content")
def test_every_link_to_a_claim_leads_to_its_anchor(client: Client) -> None:
    links = page_of(client, "/models/").select("a.claim-link")
    assert len(links) == sum(len(step.claims) for step in STEPS)
    pages: dict[str, str] = {}
    for link in links:
        address, _, anchor = link["href"].partition("#")
        pages[address] = pages.get(address) or client.get(address).content.decode()
        assert f'<li class="claim" id="{anchor}">' in pages[address], link["href"]


@pytest.mark.usefixtures("content")
def test_the_shared_kernel_is_drawn_with_its_breaks(client: Client) -> None:
    page = page_of(client, "/models/?step=the-kernel")
    (step,) = PARTS[1].steps
    breaks = [address.identifier for address in step.breaks]
    assert [crack.get_text() for crack in page.select(".specimen tspan")] == breaks
    first_list = page.select_one(".crossed")
    assert [link.get_text() for link in first_list.select("a[rel~=external]")] == breaks
    assert all(identifier in page.select_one(".specimen svg")["aria-label"] for identifier in breaks)


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_asks_the_database_three_times_and_once_for_its_foot(client: Client, address: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        page_of(client, address)
    assert len(queries) <= 4
