"""What is published rests and stands on nothing that is a draft: whoever writes, Postgres refuses."""

import pytest
from django.db import transaction

from audits.models import AgentAudit, PosturePrimitive
from evidence.models import Claim
from primitives.models import Primitive
from tests.admin_form import curator_client, text_of
from tests.factories import make_audit, make_claim, make_posture, make_primitive
from tests.races import at_the_same_time
from tests.sql import accepted, refused, sql

pytestmark = pytest.mark.django_db

RESTS = "rests on one, which is a draft, so it cannot be published"
STANDS = "stands on runc, which is a draft, so it cannot be published"


def audit_on(*, claim: bool, primitive: bool, published: bool) -> AgentAudit:
    """An audit whose posture rests on a claim and stands on a primitive; which of them are published."""
    audit = make_audit("codex", postures=[], is_published=published)
    one = make_claim(audit, slug="one", is_published=claim)
    runc = make_primitive("runc", is_published=primitive)
    make_posture(audit, "container", claims=[one], primitives=(runc,))
    return audit


def test_an_audit_on_drafts_is_refused_with_a_line_for_each() -> None:
    with accepted():
        audit_on(claim=False, primitive=False, published=False)
    with refused(RESTS, STANDS):
        sql("UPDATE audits_agentaudit SET is_published = true")
    Claim.objects.update(is_published=True)
    with refused(STANDS):
        AgentAudit.objects.update(is_published=True)
    Primitive.objects.update(is_published=True)
    with accepted():
        AgentAudit.objects.update(is_published=True)


def test_what_a_published_posture_needs_cannot_become_a_draft() -> None:
    with accepted():
        audit = audit_on(claim=True, primitive=True, published=True)
    with refused(RESTS):
        sql("UPDATE evidence_claim SET is_published = false")
    with refused(STANDS):
        sql("UPDATE primitives_primitive SET is_published = false")
    with refused("stands on crun, which is a draft"):
        PosturePrimitive.objects.bulk_create(
            [PosturePrimitive(posture=audit.postures.get(), primitive=make_primitive("crun", is_published=False))]
        )
    with accepted():
        make_claim(audit, slug="two", is_published=False)
        Primitive.objects.exclude(slug="runc").update(is_published=False)


@pytest.mark.django_db(transaction=True)
def test_of_a_footing_and_its_becoming_a_draft_at_once_one_is_refused() -> None:
    with transaction.atomic():
        posture = audit_on(claim=True, primitive=True, published=True).postures.get()
        crun = make_primitive("crun")
    assert sorted(
        at_the_same_time(
            lambda: PosturePrimitive.objects.create(posture=posture, primitive=crun),
            lambda: Primitive.objects.filter(pk=crun.pk).update(is_published=False),
        )
    ) == ["committed", "refused"]


def test_a_curator_publishes_several_at_once_and_hears_why_not() -> None:
    with accepted():
        audit_on(claim=True, primitive=True, published=True)
        make_primitive("crun")
    client, address = curator_client(), "/admin/primitives/primitive/"
    everything = list(Primitive.objects.values_list("pk", flat=True))
    page = text_of(client.post(address, {"action": "make_draft", "_selected_action": everything}, follow=True))
    assert STANDS in page
    assert Primitive.objects.filter(is_published=True).count() == 2, "all of them or none"
    crun = Primitive.objects.get(slug="crun")
    page = text_of(client.post(address, {"action": "make_draft", "_selected_action": [crun.pk]}, follow=True))
    assert "Drafts now: 1." in page
    assert client.get("/primitives/crun/").status_code == 404
    client.post(address, {"action": "publish", "_selected_action": [crun.pk]})
    assert client.get("/primitives/crun/").status_code == 200
