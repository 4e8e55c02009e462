"""What changed, as readers see it: the history of an entry and a claim, the changes of the site, the feeds."""

import datetime
from typing import Any

import feedparser
import pghistory
import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audits.models import Agent, Posture
from evidence.models import Claim, Source
from history.words import pieces
from ladder.models import Tier
from primitives.models import Primitive
from tests.admin_form import AdminForm, text_of
from tests.factories import (
    make_agent,
    make_agent_break,
    make_audit,
    make_break,
    make_claim,
    make_posture,
    make_primitive,
    make_tier,
)
from tests.sql import sql

pytestmark = pytest.mark.django_db


FIRST = "00000000-0000-0000-0000-000000000001"


def settle() -> None:
    """Let the database do what it does at commit, and take what is there for the first content."""
    connection.check_constraints()
    sql(
        "INSERT INTO pghistory_context (id, metadata, created_at, updated_at)"
        " VALUES (%s, '{\"first\": true}', '2026-01-01', '2026-01-01')",
        FIRST,
    )
    rewrite(f"pgh_created_at = '2026-01-01', pgh_context_id = '{FIRST}'")


def rewrite(what: str) -> None:
    """Change what was recorded, as nobody but a test does: it is one transaction, which has one time."""
    for (table,) in sql("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE '%%event'"):
        sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        sql(f"UPDATE {table} SET {what}")
        sql(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def because(why: str) -> Any:
    """What happens inside is one change for this reason, checked as at commit."""
    return _Because(why)


class _Because(pghistory.context):
    def __init__(self, why: str) -> None:
        super().__init__(why=why)

    def __exit__(self, *exc: Any) -> None:
        if exc[0] is None:
            connection.check_constraints()
        super().__exit__(*exc)


def soup(client: Client, address: str) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == 200, address
    return BeautifulSoup(response.content, "html.parser")


def words(element: Any) -> str:
    return " ".join(element.get_text(" ").split())


def feed(client: Client, address: str) -> Any:
    response = client.get(address)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/atom+xml; charset=utf-8"
    parsed = feedparser.parse(response.content)
    assert not parsed.bozo, parsed.get("bozo_exception")
    return parsed


@pytest.fixture
def codex() -> Agent:
    """A published agent whose default is none, before anything changed."""
    audit = make_audit("codex", postures=[])
    make_posture(audit, claims=[make_claim(audit, slug="first")])
    make_tier("microvm")
    settle()
    return audit.agent


class TestAClaim:
    def test_its_page_tells_every_wording_label_and_date_and_why(self, client: Client) -> None:
        claim = make_claim(make_primitive("gvisor"), sentence="The Sentry answers most calls.", slug="sentry")
        settle()
        with because("The list of calls was read."):
            claim.sentence, claim.label = "The Sentry answers all calls.", "verified-code"
            claim.as_of = datetime.date(2026, 9, 1)
            claim.save()
            Source.objects.create(
                claim=claim, kind="code", repo="google/gvisor", commit="0" * 40, path="a.go", lines="7"
            )
            claim.sources.filter(kind="doc").delete()
        claim.refresh_from_db()
        newest, first = soup(client, claim.get_absolute_url()).select(".history .change")
        assert words(newest.select_one(".why")) == "The list of calls was read."
        assert [words(each) for each in newest.select("del")] == ["most", "21 August", "What is gVisor? gvisor.dev"]
        assert [words(each) for each in newest.select("ins")][:2] == ["all", "1 September"]
        assert "google/gvisor@0000000 a.go:7" in words(newest.select_one(".parts ins"))
        assert [words(each) for each in newest.select(".fields .stamp")] == ["documented", "verified-code"]
        assert "The Sentry answers most calls." in words(first)
        assert "curie" not in words(newest)

    def test_what_is_withdrawn_stays_in_the_history_of_what_it_was_about(self, client: Client) -> None:
        primitive = make_primitive("gvisor")
        claim = make_claim(primitive, sentence="The Sentry answers no calls.")
        settle()
        with because("It was never so."):
            claim.delete()
        (change, _) = soup(client, "/primitives/gvisor/history/").select(".change")
        assert words(change.select_one(".why")) == "It was never so."
        assert "The Sentry answers no calls." in words(change.select_one(".removed del"))


class TestADefaultThatChanged:
    def change(self, admin_client: Client, agent: Agent) -> None:
        audit = agent.audits.get()
        form = AdminForm(admin_client, reverse("admin:audits_agentaudit_change", args=[audit.pk]))
        form.fields |= {
            "postures-0-isolation": "isolated",
            "postures-0-tier": str(Tier.objects.get(slug="microvm").pk),
            "why": "Since 2.0 commands run in libkrun.",
        }
        assert form.send() is None

    def test_in_the_admin_is_in_changes_and_the_feeds_with_the_old_and_the_new_rung(
        self, client: Client, admin_client: Client, codex: Agent
    ) -> None:
        self.change(admin_client, codex)
        for address in ("/changes/", "/changes/?only=defaults", "/audits/codex/history/"):
            (change,) = soup(client, address).select(".change[data-default]")
            (default,) = change.select(".defaults li")
            assert words(default) == "codex cli on linux: none → became microvm", address
            assert words(change.select_one(".why")) == "Since 2.0 commands run in libkrun."
        ids = set()
        for address in ("/feed/", "/feed/defaults/", "/audits/codex/feed/", "/ladder/microvm/feed/"):
            parsed = feed(client, address)
            entry = parsed.entries[0]
            assert "by default none → microvm (codex cli on linux)" in entry.title, address
            assert "<del>none</del>" in entry.summary
            assert "Since 2.0" in entry.summary
            assert entry.link == "http://testserver/audits/codex/"
            assert "creativecommons.org/licenses/by/4.0" in parsed.feed.rights
            ids.add(parsed.feed.id)
            assert entry.id.startswith("tag:sandboxicon,2026:")
            assert "testserver" not in entry.id + parsed.feed.id
        assert len(ids) == 4

    def test_a_posture_made_anew_as_it_was_is_no_news(self, client: Client, codex: Agent) -> None:
        old = Posture.objects.get()
        with because("Written again."):
            audit, claims = old.audit, list(old.claims.all())
            old.delete()
            make_posture(audit, claims=claims)
        assert soup(client, "/changes/?only=defaults").select(".change") == []


class TestChanges:
    def test_the_first_content_is_one_line_and_no_news(self, client: Client, codex: Agent) -> None:
        page = soup(client, "/changes/")
        assert page.select(".change") == []
        assert "1 January 2026 : the first content." in words(page.select_one(".history"))
        assert feed(client, "/feed/").entries == []
        assert feed(client, "/audits/codex/feed/").feed.updated == "2026-01-01T00:00:00+00:00"

    def test_bad_parameters_get_a_plain_answer(self, client: Client, codex: Agent) -> None:
        assert "There is no kind of change called “<b>”" in text_of(client.get("/changes/", {"kind": "<b>"}))
        for page in ("x", "-1", "0", "", "9" * 30, "²"):
            assert client.get("/changes/", {"page": page}).status_code == 200
        assert client.get("/changes/?page=77").status_code == 404
        assert client.get("/primitives/nowhere/history/").status_code == 404
        assert client.get("/audits/nowhere/feed/").status_code == 404

    def test_htmx_gets_the_section_that_takes_the_place_of_the_link(self, client: Client, codex: Agent) -> None:
        link = soup(client, "/audits/codex/").select_one("#history a[data-hx-get]")
        assert link
        response = client.get(link["data-hx-get"], headers={"HX-Request": "true"})
        assert BeautifulSoup(response.content, "html.parser").section["id"] == "history"
        assert "HX-Request" in response["Vary"]

    def test_pages_name_their_feeds(self, client: Client, codex: Agent) -> None:
        make_primitive("runc")
        for page, address in (
            ("/", "/feed/"),
            ("/changes/", "/feed/defaults/"),
            ("/audits/codex/", "/audits/codex/feed/"),
            ("/primitives/runc/", "/primitives/runc/feed/"),
            ("/ladder/microvm/", "/ladder/microvm/feed/"),
        ):
            assert soup(client, page).select(f'link[type="application/atom+xml"][href="{address}"]'), page

    def test_control_characters_do_not_break_a_feed(self, client: Client, codex: Agent) -> None:
        with because("An \x0b old printer."):
            Claim.objects.update(sentence="A form \x0c feed.")
        assert "A form  feed." in feed(client, "/feed/").entries[0].summary


def test_no_draft_shows_nor_what_was_a_draft_then(client: Client, codex: Agent) -> None:
    secret = "Secret wording"
    with because("Work in progress."):
        draft = make_primitive("hidden", is_published=False, summary=secret)
        make_claim(draft, sentence=secret, is_published=False)
        make_claim(make_primitive("shown"), sentence=secret, is_published=False)
        make_break(draft, summary=secret)
        audit = make_audit(codex, "cloud", is_published=False, name=secret, postures=[])
        make_claim(audit, sentence=secret)
        make_posture(audit, "microvm", note=secret, claims=[])
        quiet = make_agent("quiet", vendor=secret)
        make_agent_break(quiet, summary=secret)
    addresses = (
        "/changes/",
        "/feed/",
        "/audits/codex/history/",
        "/audits/codex/feed/",
        "/primitives/shown/history/",
        "/changes/?only=defaults",
        "/feed/defaults/",
        "/ladder/microvm/feed/",
        "/ladder/container/feed/",
    )
    for address in addresses:
        assert secret not in client.get(address).content.decode(), address
    assert client.get("/primitives/hidden/history/").status_code == 404
    assert client.get("/audits/quiet/feed/").status_code == 404
    rewrite("pgh_created_at = pgh_created_at - interval '1 day'")
    with because("Ready."):
        draft.summary, draft.is_published = "What it is.", True
        draft.save()
    for address in (*addresses, "/primitives/hidden/history/"):
        assert secret not in client.get(address).content.decode(), address
    assert "What it is." in client.get("/changes/").content.decode()


def test_the_number_of_queries_does_not_grow(client: Client, codex: Agent) -> None:
    def queries() -> list[int]:
        counted = []
        for address in ADDRESSES:
            with CaptureQueriesContext(connection) as captured:
                assert client.get(address).status_code == 200
            counted.append(len(captured))
        return counted

    for number in range(2):
        write(codex, number)
    few = queries()
    for number in range(2, 9):
        write(codex, number)
    many = queries()
    assert all(now <= before for now, before in zip(many, few, strict=True)), (many, few)
    assert max(few) <= 8


ADDRESSES = [
    "/changes/",
    "/changes/?only=defaults",
    "/feed/",
    "/audits/codex/history/",
    "/audits/codex/feed/",
    "/ladder/microvm/history/",
    "/claims/audit.codex.cli.first/",
    "/primitives/p0/history/",
]


def write(agent: Agent, number: int) -> None:
    with because(f"Change {number}."):
        primitive = make_primitive(f"p{number}")
        make_break(primitive)
        make_claim(make_tier("microvm"))
        make_claim(Primitive.objects.get(slug="p0"))
        Claim.objects.filter(audit__agent=agent).update(sentence=f"Sentence {number}.")
        Posture.objects.filter(audit__agent=agent).update(
            **(
                {"isolation": "isolated", "tier": make_tier("microvm")}
                if number % 2
                else {"isolation": "none", "tier": None}
            )
        )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It runs.", "It runs.", [("same", "It runs.")]),
        ("", "It runs.", [("new", "It runs.")]),
        ("It runs runc 1.0.", "It runs runc 1.1.", [("same", "It runs runc "), ("gone", "1.0."), ("new", "1.1.")]),
        ("a b c d e f", "a x y d e f", [("same", "a "), ("gone", "b c"), ("new", "x y"), ("same", " d e f")]),
        (
            "Entirely other",
            "Not the same thing at all",
            [("gone", "Entirely other"), ("new", "Not the same thing at all")],
        ),
    ],
)
def test_wordings_are_compared_word_by_word(before: str, after: str, expected: list[Any]) -> None:
    assert pieces(before, after) == expected
