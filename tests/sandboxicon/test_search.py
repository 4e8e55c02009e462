"""One search over everything: what people type finds what they mean, first, and nothing that is not published."""

from functools import partial
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from audits.models import Agent
from evidence.models import Claim, Label
from ladder.models import Tier
from primitives.models import Primitive
from sandboxicon.search import IN_THE_PANEL, MOST_RANKED, ON_THE_PAGE, find
from tests.factories import RUNGS, make_agent, make_audit, make_claim, make_posture, make_primitive, make_tier
from tests.htmx import Reader, shown
from tests.sql import numbers_of_queries, sql

pytestmark = pytest.mark.django_db

SEARCH = "/search/"
MOST_QUERIES = 8
PANEL = {"HX-Request": "true", "HX-Target": "site-results"}


def page_of(client: Client, text: str | None = None, **headers: str) -> BeautifulSoup:
    response = client.get(SEARCH, None if text is None else {"q": text}, headers=headers)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def words(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def groups(page: BeautifulSoup) -> dict[str, list[str]]:
    """The addresses found, in groups, in the order of the page."""
    return {
        group["class"][1]: [link["href"] for link in group.select(".hit h3 a, .claim .sentence a")]
        for group in page.select("section.group")
    }


def first(text: str) -> str:
    """The address of what comes first of all."""
    found = find(text, ON_THE_PAGE)
    return str(found[0].found[0].get_absolute_url()) if found else ""


def test_of_very_many_found_it_says_that_there_are_more_than_were_looked_at(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction.atomic():
        for number in range(6):
            make_claim(make_primitive(f"moat-{number}", name=f"Moat {number}"), sentence="A moat is in the way.")
    monkeypatch.setitem(MOST_RANKED, "primitives", 3)
    monkeypatch.setitem(MOST_RANKED, "claims", 5)
    text = words(page_of(client, "moat"))
    for part in ("More than 8 found for “moat”", "more than 3", "more than 5"):
        assert part in text, part
    monkeypatch.setitem(MOST_RANKED, "primitives", 6)
    monkeypatch.setitem(MOST_RANKED, "claims", 6)
    assert "12 found for “moat”" in words(page_of(client, "moat"))
    assert "ore than" not in words(page_of(client, "moat"))


# ---- what comes first ----

MEANT = {
    "codex": "/audits/codex/",
    "Claude Code": "/audits/claude-code/",
    "claude": "/audits/claude-code/",
    "microvm": "/ladder/microvm/",
    "container": "/ladder/container/",
    "Full VM": "/ladder/full-vm/",
    "microvms": "/ladder/microvm/",
    "docker": "/primitives/docker-engine/",
    "bwrap": "/primitives/bubblewrap/",
    "CVE-2019-5736": "/primitives/runc/",
    "cve 2019 5736": "/primitives/runc/",
    "floppy controller": "/primitives/qemu/",
    "dokcer": "/primitives/docker-engine/",
    "codx": "/audits/codex/",
    "fulvm": "/ladder/full-vm/",
    "  gVISOR ": "/primitives/gvisor/",
}


@pytest.mark.usefixtures("content")
def test_what_is_being_typed_finds_names_that_begin_so_as_they_are_spelt() -> None:
    names = list(Primitive.objects.published().values_list("name", flat=True)) + list(
        Agent.objects.published().values_list("name", flat=True)
    )
    for name in names[::5]:
        for length in {2, 3, 4, len(name) - 1}:
            found = find(name[:length], IN_THE_PANEL)
            assert found, name[:length]
            assert not any(group.is_near for group in found), name[:length]
            assert all(group.found[0].relevance > 0 for group in found), name[:length]


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(("text", "address"), MEANT.items(), ids=list(MEANT))
def test_what_people_type_finds_what_they_mean_first_of_all(text: str, address: str) -> None:
    assert first(text) == address


@pytest.mark.usefixtures("content")
def test_an_exact_name_comes_first_of_all_whatever_its_kind() -> None:
    everything = [*Primitive.objects.all()[::8], *Agent.objects.published()[::8], *Tier.objects.all()]
    assert [each.name for each in everything if first(each.name) != each.get_absolute_url()] == []


@pytest.mark.usefixtures("content")
def test_a_misspelling_is_forgiven_only_where_its_letters_are_found_nowhere(client: Client) -> None:
    page = page_of(client, "firecraker")
    assert words(page.select_one("#count")) == "Nothing is spelt “firecraker”. Meant perhaps: Firecracker"
    assert groups(page)["primitives"][0] == "/primitives/firecracker/"
    assert not any(group.is_near for group in find("firecracker", ON_THE_PAGE))


def test_claims_take_part_in_that(client: Client) -> None:
    make_primitive("gvisor")
    assert list(groups(page_of(client, "gvizor"))) == ["primitives"]
    claim = make_claim(make_primitive("runsc"), sentence="A fork is called gvizor.")
    found = groups(page_of(client, "gvizor"))
    assert found["claims"] == [claim.get_absolute_url()]
    assert "/primitives/gvisor/" not in found["primitives"]


# ---- claims ----


@pytest.mark.usefixtures("content")
def test_a_claim_is_found_by_its_own_sentence_and_linked_to_its_page(client: Client) -> None:
    for claim in Claim.objects.order_by("pk")[::400]:
        text = " ".join(claim.sentence.split()[:10])[:100]
        links = groups(page_of(client, text))["claims"]
        assert claim.get_absolute_url() in links, text
        assert client.get(claim.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("kind", ["tier", "primitive", "audit"])
def test_claims_about_every_kind_of_subject_are_found(client: Client, kind: str) -> None:
    subject = {"tier": make_tier, "primitive": make_primitive, "audit": make_audit}[kind]()
    claim = make_claim(subject, sentence="The quokka is kept away.")
    assert groups(page_of(client, "quokkas"))["claims"] == [claim.get_absolute_url()]


def test_a_changed_sentence_is_found_by_its_new_words_alone(client: Client) -> None:
    claim = make_claim(make_primitive(), sentence="The quokka is kept away.")
    Claim.objects.filter(pk=claim.pk).update(sentence="The wombat is kept away.")
    assert groups(page_of(client, "quokka")) == {}
    assert "claims" in groups(page_of(client, "wombat"))


def test_the_words_of_sentences_are_looked_up_in_an_index() -> None:
    # Enough claims, and Postgres told of them, that no other way to them is as cheap. What was written lately waits
    # beside a GIN index, page by page, until a vacuum takes it in: the content, loaded a moment ago, would be enough to
    # make the index look dear. And the test database, a copy, lacks the setting that migrations give to a database.
    one = make_claim(make_primitive(), Label.INFERRED)
    Claim.objects.bulk_create(
        Claim(
            primitive=one.primitive,
            slug=f"number-{number}",
            aspect=one.aspect,
            sentence=f"Wombat number {number} is kept away.",
            label=one.label,
            reasoning=one.reasoning,
            as_of=one.as_of,
            is_published=True,
        )
        for number in range(1000)
    )
    sql("SET LOCAL random_page_cost = 1.1")
    sql("SELECT gin_clean_pending_list('claim_sentence')")
    sql("ANALYZE evidence_claim")
    assert "claim_sentence" in Claim.objects.published().search("quokka sleeps").explain()


# ---- drafts ----


def test_drafts_are_never_found_nor_counted_nor_felt(client: Client) -> None:
    make_audit("quokka-two")
    draft = make_agent("quokka", vendor="Quokka Systems")
    audit = make_audit(draft, is_published=False, postures=[])
    make_posture(audit, claims=[make_claim(audit, sentence="The quokka reads the ssh folder.")])
    published = make_agent("wombat")
    make_audit(published)
    half = make_audit(published, "secret-surface", is_published=False, postures=[])
    make_claim(half, sentence="The quokka burrows.")
    for text in ("quokka", "Quokka Systems", "burrows", "ssh folder", "secret surface"):
        for headers in ({}, PANEL):
            page = client.get(SEARCH, {"q": text}, headers=headers).content.decode()
            assert "/audits/quokka/" not in page
            assert "burrows." not in page
            assert "ssh folder." not in page
            assert "/audits/wombat/" not in page
    # What is misspelt for readers is forgiven although a draft is spelt just so.
    assert first("quokka-twoo") == "/audits/quokka-two/"
    make_audit("numbatx")
    make_agent("numbat")
    assert first("numbat") == "/audits/numbatx/"


# ---- the page ----


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("text", ["docker", "network", "quasi nothing at all zzz"])
def test_totals_are_counted_and_what_is_left_out_is_a_link_or_said(client: Client, text: str) -> None:
    page = page_of(client, text)
    found = {group.kind: group for group in find(text, dict.fromkeys(ON_THE_PAGE, 10_000))}
    assert set(groups(page)) == set(found)
    for kind, group in found.items():
        section = page.select_one(f"section.{kind}")
        assert int(words(section.h2).split()[-1]) == group.total == len(group.found)
        assert len(groups(page)[kind]) == min(group.total, ON_THE_PAGE[kind])
        assert bool(section.select(".rest")) == (group.total > ON_THE_PAGE[kind])
    for link in page.select(".rest a"):
        more = BeautifulSoup(client.get(link["href"]).content, "html.parser")
        kind = "primitives" if "primitives" in link["href"] else "agents"
        assert words(more.select_one("#count")).startswith(f"{found[kind].total} ")
    if found:
        total = sum(group.total for group in found.values())
        assert words(page.select_one("#count")) == f"{total} found for “{text}”"


@pytest.mark.usefixtures("content")
def test_an_agent_found_says_what_it_runs_in(client: Client) -> None:
    hit = page_of(client, "codex").select_one("section.agents .hit")
    assert "By default on Linux:" in words(hit)


@pytest.mark.usefixtures("content")
def test_every_link_of_a_search_leads_to_a_page(client: Client) -> None:
    found = groups(page_of(client, "kernel"))
    assert set(found) == set(ON_THE_PAGE)
    for links in found.values():
        for address in {link.partition("#")[0] for link in links[:2]}:
            assert client.get(address).status_code == 200


def test_the_page_without_a_question_asks_for_one(client: Client) -> None:
    for text in (None, "", "   "):
        page = page_of(client, text)
        assert words(page.select_one("#count")) == "Nothing asked yet"
        assert groups(page) == {}


def test_what_is_nowhere_leads_on(client: Client) -> None:
    page = page_of(client, "xyzzy plugh")
    assert words(page.select_one("#count")) == "Nothing found for “xyzzy plugh”"
    assert {"/primitives/", "/audits/", "/ladder/"} <= {link["href"] for link in page.select(".nothing a")}


def test_every_page_has_the_search_but_the_page_of_search_which_has_its_own(client: Client) -> None:
    for address in ("/", "/method/", "/primitives/", "/nowhere/"):
        page = BeautifulSoup(client.get(address).content, "html.parser")
        form = page.select_one(".masthead form")
        assert (form["action"], form["method"], form.input["name"]) == (SEARCH, "get", "q"), address
    page = page_of(client, "codex")
    assert page.select(".masthead form") == []
    assert page.select_one("main form input")["value"] == "codex"


def test_what_was_typed_is_shown_as_text(client: Client) -> None:
    for headers in ({}, PANEL, {"HX-Request": "true"}):
        content = client.get(SEARCH, {"q": '"><script>alert(1)</script>'}, headers=headers).content
        assert b"<script>alert" not in content


# ---- hostile addresses ----


def test_a_search_that_cannot_be_is_left_out_with_a_notice(client: Client) -> None:
    for text, notice in (("x" * 101, "at most 100"), ("x" * 10_000, "at most 100"), ("a\x00b", "NUL")):
        page = page_of(client, text)
        assert notice in words(page.select_one(".notice"))
        assert words(page.select_one("#count")) == "Nothing was searched for"
        assert notice in words(page_of(client, text, **PANEL))
    assert page_of(client, "x" * 100).select(".notice") == []


@pytest.mark.parametrize(
    "text", ["?!", "→", "*", "&&&", "''", "-- ;", "%", "_", "\\", "\u200b", "🦊", "' OR 1=1 --", ":*"]
)
def test_symbols_are_no_trouble(client: Client, text: str) -> None:
    make_claim(make_primitive("gvisor"))
    assert page_of(client, text).select_one("#count")


@given(st.lists(st.tuples(st.sampled_from(["q", "page", "x"]), st.text(max_size=120)), max_size=4))
def test_no_address_breaks_the_search(query: list[tuple[str, str]]) -> None:
    address = f"{SEARCH}?{urlencode(query, errors='surrogatepass')}"
    for headers in ({}, {"HX-Request": "true", "HX-Current-URL": address}, PANEL):
        assert Client().get(address, headers=headers).status_code == 200


@pytest.mark.parametrize("http_method", ["post", "put", "delete", "patch"])
def test_it_only_reads(client: Client, http_method: str) -> None:
    assert getattr(client, http_method)(SEARCH).status_code == 405


# ---- htmx ----


@pytest.mark.usefixtures("content")
def test_after_each_swap_the_page_equals_a_fresh_one(client: Client) -> None:
    reader = Reader(client, SEARCH)
    for text in ("c", "codex", "dokcer", "x" * 101, "zzzz qqqq", "micro vm", ""):
        reader.type("q", text)
        page, fresh = reader.shown(), reader.fresh()
        if len(text) <= 100:
            assert page == fresh, text
    assert reader.address == SEARCH


def test_letters_typed_one_after_the_other_are_one_step_back(client: Client) -> None:
    reader = Reader(client, SEARCH)
    for text in ("c", "co", "codex"):
        reader.type("q", text)
    assert reader.history == [SEARCH, f"{SEARCH}?q=codex"]


def test_a_partial_is_never_cached_as_a_page_nor_as_another_partial(client: Client) -> None:
    for headers in ({}, {"HX-Request": "true"}, PANEL):
        vary = client.get(SEARCH, {"q": "x"}, headers=headers)["Vary"]
        assert "HX-Request" in vary
        assert "HX-Target" in vary


def test_a_history_restore_gets_the_whole_page(client: Client) -> None:
    asked = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert shown(page_of(client, "x", **asked)) == shown(page_of(client, "x"))


@pytest.mark.usefixtures("content")
def test_the_panel_has_the_first_of_each_kind_and_leads_to_the_rest(client: Client) -> None:
    response = client.get(SEARCH, {"q": "claude"}, headers=PANEL)
    assert "HX-Push-Url" not in response
    assert "HX-Replace-Url" not in response
    panel = BeautifulSoup(response.content, "html.parser")
    assert panel.select("html, main") == []
    found = find("claude", IN_THE_PANEL)
    hits = [hit.get_absolute_url() for group in found for hit in group.found]
    assert [link["href"] for link in panel.select(".panel li a")] == hits
    assert panel.select_one(".all a")["href"] == f"{SEARCH}?q=claude"
    total = sum(group.total for group in found)
    assert words(panel.select_one("#site-status")) == f"{total} found for “claude”"


def test_an_emptied_box_empties_the_panel(client: Client) -> None:
    panel = page_of(client, "", **PANEL)
    assert panel.select(".panel") == []
    assert words(panel.select_one("#site-status")) == ""


# ---- cost ----


def test_a_search_costs_as_many_queries_for_few_entries_as_for_many(client: Client) -> None:
    asks = [
        partial(page_of, client, text, **headers)
        for text in ("alpha", "alhpa")
        for headers in ({}, PANEL, {"HX-Request": "true"})
    ]

    def grow(start: int, end: int) -> None:
        for number in range(start, end):
            make_claim(make_primitive(f"alpha-{number}"), sentence="Something is kept apart.")
            make_claim(make_audit(f"alpha-agent-{number}"), Label.INFERRED, sentence="Nothing is kept apart.")
        for slug in RUNGS:
            make_tier(slug)

    grow(0, 2)
    few = numbers_of_queries(asks)
    grow(2, 30)
    assert numbers_of_queries(asks) == few
    assert max(few) <= MOST_QUERIES
