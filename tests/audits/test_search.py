"""Search for agents: who is typed comes first, in the real content; it follows every change at once, and no draft."""

import pytest

from audits.models import Agent, AgentAudit, AgentBreak
from evidence.models import Claim
from tests.factories import make_agent, make_agent_break, make_audit, make_claim, make_primitive
from tests.sql import sql

pytestmark = pytest.mark.django_db


def found(text: str) -> list[str]:
    """The slugs that a search finds, best first."""
    return [agent.slug for agent in Agent.objects.search(text).best_first().only("slug")]


NAMES = {
    "claude": "claude-code",
    "claude-code": "claude-code",
    "Claude Code": "claude-code",
    "codex": "codex",
    "codex cli": "codex",
    "copilot": "github-copilot",
    "GitHub Copilot": "github-copilot",
    "cursor": "cursor",
    "gemini": "gemini-cli",
    "gemini cli": "gemini-cli",
    "openhands": "openhands",
    "aider": "aider",
    "amp": "amp",
    "q developer": "amazon-q-developer",
    "devin": "devin",
    "droid": "factory-droid",
    "swe agent": "swe-agent",
    "mini swe agent": "mini-swe-agent",
    "replit": "replit-agent",
    "v0": "v0",
    "zed": "zed",
    "roo": "roo-code",
}
SURFACES_AND_VENDORS = {
    "cowork": "claude-code",
    "auggie": "augment-code",
    "anthropic": "claude-code",
    "factory": "factory-droid",
    "anysphere": "cursor",
}
JOINED_OR_SPLIT = {
    "open hands": "openhands",
    "claudecode": "claude-code",
    "open code": "opencode",
    "sweagent": "swe-agent",
    "wind surf": "windsurf",
    "geminicli": "gemini-cli",
}
TYPOS = {
    "cursr": "cursor",
    "codx": "codex",
    "gemni": "gemini-cli",
    "claud code": "claude-code",
    "opnehands": "openhands",
    "windsrf": "windsurf",
    "antigravty": "antigravity",
    "smolagent": "smolagents",
}
BREAKS = {
    "CVE-2026-25725": "claude-code",
    "cve 2026 25725": "claude-code",
    "2026-25725": "claude-code",
    "CVE-2026-26268": "cursor",
    "NomShub": "cursor",
    "GHSA-wpqr-6v78-jr5g": "gemini-cli",
}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [pair for table in (NAMES, SURFACES_AND_VENDORS, JOINED_OR_SPLIT, TYPOS, BREAKS) for pair in table.items()],
)
def test_what_is_typed_finds_who_is_meant_first(content: None, typed: str, meant: str) -> None:
    assert found(typed)[:1] == [meant]


def test_every_agent_is_found_first_by_its_name_and_its_address(content: None) -> None:
    for agent in Agent.objects.only("name", "slug"):
        assert found(agent.name)[:1] == [agent.slug]
        assert found(agent.slug)[:1] == [agent.slug]


def test_every_break_finds_its_agent_first(content: None) -> None:
    for broken in AgentBreak.objects.select_related("agent"):
        agents = AgentBreak.objects.filter(identifier=broken.identifier).values_list("agent__slug", flat=True)
        assert set(found(broken.identifier)[: len(agents)]) == set(agents), broken.identifier


def test_what_is_unlike_everything_finds_nothing(content: None) -> None:
    assert found("qqqqqqqq") == []
    assert found("") == []
    found("'); DROP TABLE audits_agent; --")  # a question like any other


# ---- as soon as it changes ----


def test_it_follows_claims() -> None:
    audit, other = make_audit("codex"), make_audit("cursor")
    assert found("zebra") == []
    claim = make_claim(audit, sentence="It holds a zebra.")
    assert found("zebra") == ["codex"]
    Claim.objects.filter(pk=claim.pk).update(sentence="It holds an ostrich.")
    assert (found("zebra"), found("ostrich")) == ([], ["codex"])
    Claim.objects.filter(pk=claim.pk).update(audit=other)
    assert found("ostrich") == ["cursor"]
    Claim.objects.filter(pk=claim.pk).update(audit=None, primitive=make_primitive())
    assert found("ostrich") == []
    sql("UPDATE evidence_claim SET audit_id = %s, primitive_id = NULL WHERE id = %s", audit.pk, claim.pk)
    assert found("ostrich") == ["codex"]
    claim.delete()
    assert found("ostrich") == []


def test_it_follows_many_claims_at_once() -> None:
    audits = [make_audit(slug) for slug in ("codex", "cursor", "aider")]
    Claim.objects.bulk_create(
        Claim(audit=audit, slug=f"c{place}", sentence=f"It holds a zebra {place}.", aspect="boundary", label="inferred",
              reasoning="So.", as_of="2026-11-01", is_published=True)
        for audit in audits for place in range(3)
    )  # fmt: skip
    assert sorted(found("zebra")) == ["aider", "codex", "cursor"]
    Claim.objects.filter(audit__agent__slug="aider", slug__in=["c0", "c1", "c2"]).delete()
    assert sorted(found("zebra")) == ["codex", "cursor"]


def test_it_follows_breaks() -> None:
    codex, cursor = make_agent("codex"), make_agent("cursor")
    broken = make_agent_break(codex, "CVE-2026-12345", nickname="NomNom", summary="A zebra got out.")
    for text in ("CVE-2026-12345", "2026-12345", "nomnom", "zebra"):
        assert found(text) == ["codex"]
    AgentBreak.objects.update(agent=cursor)
    assert found("CVE-2026-12345") == ["cursor"]
    AgentBreak.objects.update(identifier="CVE-2026-54321", nickname="", summary="An ostrich got out.")
    assert (found("CVE-2026-54321"), found("nomnom"), found("zebra")) == (["cursor"], [], [])
    broken.delete()
    assert found("ostrich") == []


def test_it_follows_the_agent_itself() -> None:
    agent = make_agent("codex", name="Codex", vendor="OpenAI", license="Apache-2.0")
    for text in ("codex", "openai", "apache"):
        assert found(text) == ["codex"]
    Agent.objects.filter(pk=agent.pk).update(name="Zebra", vendor="Zoo")
    assert (found("zebra"), found("zoo"), found("openai")) == (["codex"], ["codex"], [])


def test_it_follows_the_names_of_surfaces() -> None:
    audit = make_audit("codex", name="Zebra")
    assert found("zebra") == ["codex"]
    AgentAudit.objects.update(name="Ostrich")
    assert (found("zebra"), found("ostrich")) == ([], ["codex"])
    AgentAudit.objects.update(agent=make_agent("cursor"))
    assert found("ostrich") == ["cursor"]
    audit.delete()
    assert found("ostrich") == []


def test_it_follows_what_is_published() -> None:
    public = make_audit("codex", "cli")
    audit = make_audit(public.agent, "cloud", name="Ostrich", is_published=False)
    make_claim(audit, sentence="It holds a zebra.")
    for is_published in (False, True, False):
        AgentAudit.objects.filter(pk=audit.pk).update(is_published=is_published)
        assert [found("zebra"), found("ostrich")] == [["codex"] if is_published else []] * 2
    sql("UPDATE audits_agentaudit SET is_published = true")
    assert found("zebra") == ["codex"]


def test_the_text_of_a_draft_is_not_searched_whatever_changes() -> None:
    audit = make_audit("codex", name="Ostrich", is_published=False)
    claim = make_claim(audit, sentence="It holds a zebra.")
    Claim.objects.filter(pk=claim.pk).update(sentence="It holds a zebra too.")
    AgentAudit.objects.update(name="Ostrich, again")
    audit.agent.save()
    agent = Agent.objects.get()
    assert (found("zebra"), found("ostrich")) == ([], [])
    for words in ("zebra", "ostrich"):
        assert words not in f"{agent.search_vector} {agent.search_keys} {agent.search_names}"
