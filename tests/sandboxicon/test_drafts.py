"""Drafts of every kind leave no trace in what the public can ask for, until they are published."""

import re
from difflib import unified_diff

import pytest
from django.db import connection
from django.test import Client

from audits.models import AgentAudit
from evidence.models import Claim
from nesting.models import Cell, ErrorText
from primitives.models import BuildsOn, Primitive
from tests.factories import (
    make_agent,
    make_audit,
    make_break,
    make_cell,
    make_claim,
    make_error,
    make_platform,
    make_posture,
    make_primitive,
    make_tier,
)

pytestmark = pytest.mark.django_db

# Every address that lists, counts or searches, and public entries. What is searched for stands in drafts alone.
ADDRESSES = [
    "/",
    "/about/",
    "/method/",
    "/ladder/",
    "/ladder/container/",
    "/models/",
    "/primitives/",
    "/primitives/?q=marsupial",
    "/primitives/?label=inferred",
    "/primitives/?p=bilby&p=quoll",
    "/primitives/bilby/",
    "/primitives/compare/?p=bilby&p=quoll",
    "/audits/",
    "/audits/?rows=surfaces",
    "/audits/?q=marsupial",
    "/audits/ostrich/",
    "/audits/compare/?a=ostrich&a=rhea",
    "/search/?q=marsupial",
    "/search/?q=thylacines",
    "/search/?q=CVE-2026-4242",
    "/evidence/",
    "/evidence/?q=marsupial",
    "/evidence/?format=csv",
    "/evidence/?format=json",
    "/evidence/?primitive=thylacine&agent=emu",
    "/claims/primitive.bilby.holds/",
    "/changes/",
    "/feed/",
    "/feed/defaults/",
    "/ladder/container/history/",
    "/ladder/container/feed/",
    "/primitives/bilby/history/",
    "/primitives/bilby/feed/",
    "/audits/ostrich/history/",
    "/audits/ostrich/feed/",
    "/sitemap.xml",
    "/sitemap-claims.xml",
    "/sitemap-primitives.xml",
    "/sitemap-agents.xml",
    "/nesting/",
    "/nesting/?label=undisclosed",
    "/nesting/?outer=docker-default&format=json",
    "/nesting/bubblewrap/docker-default/",
    "/errors/",
    "/errors/?q=marsupial",
    "/errors/no-namespaces/",
    "/cards/primitives.png",
    "/cards/method.png",
]
# What only a published entry has.
OF_DRAFTS = [
    "/primitives/thylacine/",
    "/primitives/thylacine/history/",
    "/primitives/thylacine/feed/",
    "/cards/primitive/thylacine.png",
    "/cards/primitives-compared/bilby+thylacine.png",
    "/audits/emu/",
    "/audits/emu/history/",
    "/audits/emu/feed/",
    "/cards/agent/emu.png",
    "/claims/primitive.bilby.draft/",
    "/claims/primitive.thylacine.whole/",
    "/claims/tier.container.draft/",
    "/claims/audit.ostrich.cli.draft/",
    "/claims/cell.bubblewrap.docker-default.draft/",
    "/claims/error.no-namespaces.draft/",
    "/claims/primitive.bilby.draft/correction/",
]


def answers(client: Client) -> dict[str, bytes]:
    """What each address gives, and the panel of the search."""
    panel = {"HX-Request": "true", "HX-Target": "site-results"}
    found = {address: b"".join(client.get(address)) for address in ADDRESSES}  # some of them stream
    return found | {"the panel": client.get("/search/?q=marsupial", headers=panel).content}


def differences(before: bytes, after: bytes) -> list[str]:
    """The lines that are not the same."""
    one, other = (
        re.sub(r'(csrf\w+" value)="\w+', r"\1", page.decode(errors="replace")).splitlines() for page in (before, after)
    )
    lines = unified_diff(one, other, n=0, lineterm="")
    return [line[:300] for line in lines if not line.startswith(("---", "+++", "@@"))]


def make_what_is_public() -> None:
    make_tier()
    make_platform("macos")
    bilby, quoll = make_primitive("bilby"), make_primitive("quoll")
    for subject in (bilby, quoll, make_tier()):
        make_claim(subject, slug="holds", sentence="It holds.")
    for slug in ("ostrich", "rhea"):
        audit = make_audit(make_agent(slug), postures=[{"tier": "container", "primitives": (bilby,)}])
        make_claim(audit, sentence="It holds too.")
    make_cell()
    make_error("no-namespaces")
    connection.check_constraints()


def make_drafts() -> None:
    """A draft of each kind, all about thylacines: an entry, an agent, a surface, and claims about what is public."""
    words = "A thylacine is a marsupial."
    draft = make_primitive("thylacine", summary=words, aliases=["thylacines"], is_published=False, platforms=("macos",))
    make_claim(draft, label="inferred", slug="whole", sentence=words)
    make_break(draft, "CVE-2026-4242", year=2026, summary=words)
    bilby = Primitive.objects.get(slug="bilby")
    BuildsOn.objects.bulk_create(
        [
            BuildsOn(primitive=bilby, part=draft),
            BuildsOn(primitive=draft, part=Primitive.objects.get(slug="quoll")),
        ]
    )
    ostrich = AgentAudit.objects.get(agent__slug="ostrich")
    for subject in (bilby, make_tier(), ostrich, Cell.objects.get(), ErrorText.objects.get()):
        # It has its source in common with what is public.
        label = "undisclosed" if isinstance(subject, Cell) else "documented"
        make_claim(subject, label, slug="draft", sentence=words, is_published=False)
    for agent in (ostrich.agent, make_agent("emu", name="Emu of the thylacines")):
        make_audit(agent, "ide", kind="ide", name=words, is_published=False, postures=[])
        surface = agent.audits.get(slug="ide")
        claim = make_claim(surface, sentence=words, is_published=False)
        make_posture(surface, "container", mode="thylacine", primitives=(draft,), claims=[claim], platforms=("macos",))
    connection.check_constraints()


def test_drafts_leave_no_trace_until_they_are_published(client: Client) -> None:
    make_what_is_public()
    before = answers(client)
    make_drafts()
    found = answers(client)
    traces = {address: differences(before[address], content) for address, content in found.items()}
    assert {address: lines for address, lines in traces.items() if lines} == {}
    assert not any(b"hylacine is" in content for content in found.values())
    assert {client.get(address).status_code for address in OF_DRAFTS} == {404}
    picked = client.get("/primitives/compare/?p=bilby&p=quoll&p=thylacine").content
    assert b'href="/primitives/thylacine/"' not in picked

    for model in (Primitive, Claim, AgentAudit):
        model._default_manager.update(is_published=True)
    connection.check_constraints()
    after = answers(client)
    same = {address for address, content in after.items() if not differences(before[address], content)}
    assert same <= {"/models/", "/sitemap.xml", "/errors/", "/errors/?q=marsupial"}, (
        "each other address shows one of them"
    )
    assert {client.get(address).status_code for address in OF_DRAFTS} == {200}


def test_the_two_models_name_no_draft(client: Client, content: None) -> None:
    def named() -> tuple[int, int, int]:
        page = client.get("/models/").content.decode()
        return page.count('<a class="claim-link'), page.count("listed with"), page.count('class="step-entries"><a')

    before = named()
    AgentAudit.objects.update(is_published=False)
    # What runs inside what, and what errors mean, must have a published claim (nesting.rules); the models name none.
    claims = Claim.objects.filter(cell=None, error_text=None)
    claims.filter(tier=None).update(is_published=False)
    of_rungs = named()[0]
    assert 0 < of_rungs < before[0]
    claims.update(is_published=False)
    Primitive.objects.update(is_published=False)
    assert named() == (0, 0, 0)
    assert all(before)
