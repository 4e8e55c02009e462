"""A claim's own page."""

import datetime

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evidence.citation import Citation
from evidence.models import Claim, Label, Source
from tests.factories import COMMIT, make_audit, make_claim, make_posture, make_primitive, make_source, make_tier

pytestmark = pytest.mark.django_db

MOST_QUERIES = 8


def page_of(client: Client, claim: Claim) -> BeautifulSoup:
    response = client.get(claim.get_absolute_url())
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def text(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def links(page: Tag, selector: str) -> list[str]:
    return [link["href"] for link in page.select(f"{selector} a")]


def test_it_says_what_is_claimed_of_what_how_well_it_is_known_and_since_when(client: Client) -> None:
    claim = make_claim(
        make_primitive("gvisor"),
        Label.INFERRED,
        slug="own-kernel",
        sentence="The `Sentry` answers & <b>all</b>.",
        reasoning="It follows from `this`.",
        version="release-20260817.0",
        as_of=datetime.date(2020, 3, 12),
    )
    page = page_of(client, claim)
    assert text(page.h1) == "The Sentry answers & <b>all</b>."
    assert links(page, ".crumbs") == ["/", "/evidence/", "/primitives/gvisor/#own-kernel"]
    known = text(page.select_one(".claim-known"))
    assert Label.INFERRED.meaning in known
    assert "As of 12 March 2020 ," in known
    assert "years ago; release-20260817.0 stale" in known
    assert "It follows from this ." in text(page.find("main"))
    assert page.title.get_text().startswith("gvisor: The Sentry answers & <b>all</b>")
    assert page.select_one("meta[name=description]")["content"].startswith("The Sentry answers & <b>all</b>.")
    assert page.select_one("link[rel=canonical]")["href"] == "http://testserver/claims/primitive.gvisor.own-kernel/"


def test_sources_lead_to_the_exact_lines_and_silence_says_where_we_looked(client: Client) -> None:
    claim = make_claim(label=Label.UNDISCLOSED, looked="The help text.", sources=["doc", "code", "package"])
    page = page_of(client, claim)
    assert links(page, "[aria-labelledby=sources]") == [source.href for source in claim.sources.all() if source.href]
    assert COMMIT in text(page.select_one("[aria-labelledby=sources]"))
    assert "pkg:npm/%40openai/codex@0.171.0-linux-x64" in text(page.select_one("[aria-labelledby=sources]"))
    assert "The help text." in text(page.select_one("[aria-labelledby=looked]"))


def test_postures_that_rest_on_it_are_named(client: Client) -> None:
    audit = make_audit("codex", postures=[])
    claim = make_claim(audit)
    make_posture(audit, claims=[claim], mode="workspace-write")
    make_posture(audit, is_default=False, mode="full-access")
    rests = page_of(client, claim).select_one("[aria-labelledby=rests]")
    assert "workspace-write linux, by default" in text(rests)
    assert "full-access" not in text(rests)
    assert page_of(client, make_claim()).select("[aria-labelledby=rests]") == []


def test_other_claims_on_the_same_source_are_named_newest_first_and_no_draft(client: Client) -> None:
    page, other, file, package = {"url": "https://a.example/b"}, {"url": "https://a.example/c"}, {"path": "a.go"}, {}
    claim = make_claim(label=Label.INFERRED, sources=[])
    for kind, fields in (("doc", page), ("code", file), ("package", package)):
        make_source(claim, kind, **fields)
    same = []
    for kind, fields in (("doc", page), ("code", {**file, "commit": "f" * 40}), ("package", package)):
        same.append(make_claim(label=Label.INFERRED, as_of=datetime.date(2026, 1, len(same) + 1)))
        make_source(same[-1], kind, **fields)
    for subject, kind, fields in (
        (make_primitive(), "doc", other),
        (make_primitive(), "code", {"path": "b.go"}),
        (make_audit(postures=[], is_published=False), "doc", page),
    ):
        make_source(make_claim(subject, Label.INFERRED), kind, **fields)
    shown = links(page_of(client, claim).select_one("[aria-labelledby=others]"), ".sentence")
    assert shown == [each.get_absolute_url() for each in reversed(same)]
    lone = make_claim(label=Label.INFERRED)
    assert page_of(client, lone).select("[aria-labelledby=others]") == []


def test_it_can_be_cited_in_text_and_bibtex_with_a_permanent_link(client: Client) -> None:
    claim = make_claim(
        make_primitive("gvisor"), slug="cost", sentence="It costs `5%` of {a} $b_c & more~ish.", version="v1_2"
    )
    cited = page_of(client, claim).select_one(".citation")
    note, bibtex = (pre.get_text() for pre in cited.select("pre"))
    url = "http://testserver/claims/primitive.gvisor.cost/"
    assert note == (
        "“It costs 5% of {a} $b_c & more~ish.” sandboxicon, primitive.gvisor.cost, documented, as of 21 August 2026, "
        f"v1_2. {url} (CC BY 4.0)"
    )
    assert bibtex.splitlines() == [
        "@misc{sandboxicon:primitive.gvisor.cost,",
        r"  title = {{It costs 5\% of \{a\} \$b\_c \& more\textasciitilde{}ish.}},",
        "  author = {{sandboxicon}},",
        "  year = {2026},",
        "  month = {8},",
        r"  note = {documented, as of 2026-08-21, v1\_2; CC BY 4.0},",
        f"  url = {{{url}}}",
        "}",
    ]
    assert links(page_of(client, claim), ".citation") == [url]


@pytest.mark.usefixtures("content")
def test_braces_of_every_citation_match() -> None:
    for claim in Claim.objects.iterator():
        bare = Citation(claim, "https://a.example").bibtex.replace(r"\{", "").replace(r"\}", "")
        assert bare.count("{") == bare.count("}")


@pytest.mark.usefixtures("content")
def test_each_claim_on_its_subjects_page_leads_to_its_own_page_and_back(client: Client) -> None:
    for address in ("/primitives/gvisor/", "/ladder/microvm/", "/audits/codex/"):
        subject = BeautifulSoup(client.get(address).content, "html.parser")
        claims = subject.select(".claim[id]")
        assert len(claims) > 3
        for claim in claims[:: len(claims) // 3]:
            page = BeautifulSoup(client.get(claim.select_one("a.anchor")["href"]).content, "html.parser")
            assert links(page, ".crumbs")[-1] == f"{address}#{claim['id']}"
            assert len(page.select("h1")) == 1


def test_a_draft_has_no_page_and_nonsense_none_either(client: Client) -> None:
    draft = make_claim(make_audit("codex", postures=[], is_published=False), slug="secret")
    assert client.get(draft.get_absolute_url()).status_code == 404
    for address in ("x", "tier.a", "primitive.gvisor.nothing", "tier.a.b%00", "TIER.A.B", "a.b.c.d.e.f", "tier.%27.b"):
        assert client.get(f"/claims/{address}/").status_code == 404
    assert client.post(make_claim(make_tier()).get_absolute_url()).status_code == 405


def test_it_costs_as_many_queries_for_little_as_for_much(client: Client) -> None:
    audit = make_audit(postures=[])
    claim = make_claim(audit)
    make_posture(audit, claims=[claim])
    make_claim(make_primitive())

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page_of(client, claim)
        return len(captured)

    few = queries()
    for number in range(20):
        make_posture(audit, claims=[claim], mode=f"mode-{number}", is_default=False)
        make_claim(make_audit())
        make_source(claim, "doc", url=f"https://a.example/{number}")
    assert queries() == few <= MOST_QUERIES
    assert Source.objects.filter(claim=claim).count() == 21
