"""What a surface runs in by default changes when a second curator has approved it."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client, override_settings
from django.urls import reverse

from audits.models import AgentAudit, DefaultCell, Posture, Proposal
from tests.admin_form import AdminForm, curator_client, text_of
from tests.factories import make_audit, make_claim, make_platform, make_tier
from tests.sql import accepted, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def proposer() -> Client:
    return curator_client()


@pytest.fixture
def approver() -> Client:
    user = User.objects.create_user("second", is_staff=True)
    user.groups.add(Group.objects.get(name="Curators"))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def audit() -> AgentAudit:
    make_platform("macos")
    with accepted():
        return make_audit(
            "codex", postures=[{"tier": "container"}, {"mode": "off", "is_default": False, "how": "--off"}]
        )


def page(client: Client, row: Any) -> AdminForm:
    return AdminForm(client, reverse(f"admin:audits_{row._meta.model_name}_change", args=[row.pk]))


def decide(client: Client, decision: str) -> str:
    proposal = Proposal.objects.get()
    return text_of(
        client.post(reverse("admin:audits_proposal_change", args=[proposal.pk]), {decision: "x"}, follow=True)
    )


def defaults() -> list[tuple[Any, ...]]:
    return list(DefaultCell.objects.order_by("pk").values_list("platform__slug", "isolation", "tier__slug"))


def propose_a_rung(client: Client, audit: AgentAudit, slug: str = "microvm") -> None:
    form = page(client, audit)
    form.fields["postures-0-tier"] = str(make_tier(slug).pk)
    form.fields["postures-0-network"] = "no route out"
    assert form.send() is None


def test_a_change_of_a_default_waits_for_another_curator(proposer: Client, approver: Client, audit: AgentAudit) -> None:
    propose_a_rung(proposer, audit)
    posture = audit.postures.get(mode="default")
    assert posture.network == "no route out", "all else is saved at once"
    assert posture.tier == make_tier("container")
    proposal = Proposal.objects.get()
    assert (proposal.proposed_by.get_username(), proposal.decision) == ("curie", "waiting")
    assert "Changes of a default that wait for a second curator 1" in text_of(approver.get("/admin/"))

    shown = page(approver, proposal).page
    assert "default: container, on linux" in shown.get_text()
    assert "default: microvm, on linux" in shown.get_text()
    assert shown.select("[name=approve]")
    assert not page(proposer, proposal).page.select("[name=approve]")
    assert "cannot approve it: another curator must" in decide(proposer, "approve"), "whatever the page offers"
    assert defaults() == [("linux", "isolated", "container")]

    decide(approver, "approve")
    posture.refresh_from_db()
    assert posture.tier == make_tier("microvm")
    proposal.refresh_from_db()
    assert (proposal.decision, proposal.decided_by.get_username()) == ("approved", "second")  # type: ignore[union-attr]
    event = posture.events.order_by("-pgh_id")[0]  # type: ignore[attr-defined]
    assert event.pgh_context.metadata["why"].startswith(proposal.reason)
    assert "decided on this already" in decide(proposer, "decline")


def test_what_is_new_moved_published_or_deleted_waits_too(
    proposer: Client, approver: Client, audit: AgentAudit
) -> None:
    macos = make_platform("macos")
    form = page(proposer, audit)
    form.fields |= {"postures-1-is_default": ["on"], "postures-1-on_platforms": [str(macos.pk)]}
    form.fields.pop("is_published")
    assert form.send() is None
    audit.refresh_from_db()
    assert audit.is_published
    off = Posture.objects.get(mode="off")
    assert (off.is_default, [platform.slug for platform in off.platforms.all()]) == (False, ["linux"])
    again = page(proposer, audit)
    again.fields["postures-1-is_default"] = ["on"]
    shown = again.send()
    assert shown is not None
    assert "waits already" in shown.errors
    decide(approver, "decline")
    assert Proposal.objects.get().decision == "declined"

    form = page(proposer, audit)
    form.fields |= {"postures-1-is_default": ["on"], "postures-1-on_platforms": [str(macos.pk)]}
    assert form.send() is None
    Proposal.objects.filter(decision="declined").delete()
    decide(approver, "approve")
    with accepted():
        off.refresh_from_db()
    assert (off.is_default, [platform.slug for platform in off.platforms.all()]) == (True, ["macos"])

    form = page(proposer, audit)
    form.fields["postures-0-DELETE"] = ["on"]
    shown = form.send()
    assert shown is not None
    assert "second curator approves" in shown.errors
    agent = AdminForm(proposer, reverse("admin:audits_agent_change", args=[audit.agent_id]))
    assert "audits-0-is_published" not in agent.fields


def test_what_has_changed_meanwhile_is_not_approved(proposer: Client, approver: Client, audit: AgentAudit) -> None:
    propose_a_rung(proposer, audit)
    Posture.objects.filter(mode="default").update(tier=make_tier("full-vm"))
    assert "has changed since this was proposed" in decide(approver, "approve")
    assert Proposal.objects.get().decision == "waiting"


def test_one_curator_alone_and_a_draft_wait_for_nobody(proposer: Client, audit: AgentAudit) -> None:
    propose_a_rung(proposer, audit)
    assert audit.postures.get(mode="default").tier == make_tier("microvm")
    User.objects.create_superuser("root")
    with override_settings(SECOND_PAIR_OF_EYES=False):
        propose_a_rung(proposer, audit, "container")
    assert audit.postures.get(mode="default").tier == make_tier("container")
    draft = make_audit("draft", postures=[], is_published=False)
    make_claim(draft)
    form = page(proposer, draft)
    form.add(
        "postures", mode="a", position=1, isolation="none", is_default="on", on_platforms=[make_platform().pk],
        rests_on=[draft.claims.get().pk], on_failure="unknown",
        **{f"{name}_level": "unknown" for name in ("read", "write", "network", "credentials", "approvals")},
    )  # fmt: skip
    assert form.send() is None
    assert draft.postures.get().is_default
    assert not Proposal.objects.exists()


def test_an_earlier_default_is_not_put_back_past_the_second_curator(
    proposer: Client, approver: Client, audit: AgentAudit
) -> None:
    posture = audit.postures.get(mode="default")
    first = posture.events.order_by("pgh_id")[0]  # type: ignore[attr-defined]
    with accepted():
        Posture.objects.filter(pk=posture.pk).update(tier=make_tier("microvm"))
    back = reverse("admin:audits_agentaudit_restore", args=[audit.pk, "audits.posture", first.pk])
    shown = text_of(proposer.post(back, {"why": "It was so."}))
    assert "a second curator has to approve" in shown
    posture.refresh_from_db()
    assert posture.tier == make_tier("microvm")


def test_the_database_refuses_an_approval_by_the_proposer(audit: AgentAudit) -> None:
    one, two = (User.objects.create_user(name) for name in ("one", "two"))
    proposal = Proposal.objects.create(audit=audit, changes={"postures": []}, reason="So.", proposed_by=one)
    with refused("proposal_is_approved_by_another"):
        Proposal.objects.update(decision="approved", decided_by=one)
    with refused("proposal_is_decided_by_somebody"):
        Proposal.objects.update(decision="approved")
    with refused("proposal_waits_alone"):
        Proposal.objects.create(audit=audit, changes={"postures": []}, reason="So.", proposed_by=two)
    with accepted():
        Proposal.objects.update(decision="approved", decided_by=two)
    assert Proposal.objects.get() == proposal
