"""A claim's address follows from its subject and its slug, whoever writes."""

import re

import pytest
from django.db import connection, transaction

from audits.models import AgentAudit
from evidence.addresses import PATTERN
from evidence.models import Claim, Kind
from tests.factories import (
    make_agent,
    make_audit,
    make_cell,
    make_claim,
    make_environment,
    make_inner,
    make_primitive,
    make_tier,
)
from tests.races import while_another
from tests.sql import sql

pytestmark = pytest.mark.django_db


def address(claim: Claim) -> str:
    return Claim.objects.values_list("address", flat=True).get(pk=claim.pk)


def test_a_claim_has_its_address_as_soon_as_it_is_made() -> None:
    of = {
        "tier.microvm.own-kernel": make_claim(make_tier("microvm"), slug="own-kernel"),
        "primitive.gvisor.own-kernel": make_claim(make_primitive("gvisor"), slug="own-kernel"),
        "audit.codex.cli.own-kernel": make_claim(make_audit("codex"), slug="own-kernel"),
    }
    for expected, claim in of.items():
        assert claim.address == expected
        assert claim.kind == expected.split(".")[0] in Kind.values
        assert claim.get_absolute_url() == f"/claims/{expected}/"
        assert Claim.objects.at(expected).get() == claim


def test_claims_made_in_bulk_and_past_the_orm_have_theirs_too() -> None:
    primitive = make_primitive("gvisor")
    fields = {"primitive": primitive, "aspect": "boundary", "sentence": "It is so.", "label": "inferred"}
    fields |= {"reasoning": "So it is.", "as_of": "2026-01-01"}
    many = Claim.objects.bulk_create([Claim(slug="a", **fields), Claim(slug="b", address="x.y.z", **fields)])
    assert many[0].address == "primitive.gvisor.a"
    assert [address(claim) for claim in many] == ["primitive.gvisor.a", "primitive.gvisor.b"]
    sql(
        "INSERT INTO evidence_claim (primitive_id, slug, aspect, sentence, label, version, as_of, reasoning, looked,"
        " position, says_how_to_check, address) SELECT primitive_id, 'c', aspect, sentence, label, version, as_of,"
        " reasoning, looked, position, false, 'mine' FROM evidence_claim WHERE slug = 'a'"
    )
    assert Claim.objects.get(slug="c").address == "primitive.gvisor.c"


def test_nobody_can_set_it_past_its_slug() -> None:
    claim = make_claim(make_primitive("gvisor"), slug="own-kernel")
    Claim.objects.update(address="primitive.gvisor.mine", kind="tier")
    sql("UPDATE evidence_claim SET address = ''")
    claim.address = "mine"
    claim.save()
    assert address(claim) == "primitive.gvisor.own-kernel"


def test_it_follows_a_subject_that_is_renamed_or_changed() -> None:
    primitive, tier, audit = make_primitive("gvisor"), make_tier("microvm"), make_audit("codex")
    of_primitive, of_tier, of_audit = (make_claim(each, slug="one") for each in (primitive, tier, audit))
    other = make_claim(make_primitive("other"), slug="one")
    primitive.slug = "gvisor-2"
    primitive.save()
    sql("UPDATE ladder_tier SET slug = 'small-vm' WHERE slug = 'microvm'")
    AgentAudit.objects.update(slug="tui")
    assert [address(each) for each in (of_primitive, of_tier, of_audit, other)] == [
        "primitive.gvisor-2.one",
        "tier.small-vm.one",
        "audit.codex.tui.one",
        "primitive.other.one",
    ]
    AgentAudit.objects.update(agent=make_agent("coder"))
    assert address(of_audit) == "audit.coder.tui.one"
    Claim.objects.filter(pk=of_primitive.pk).update(primitive=None, tier=tier, slug="two")
    assert address(of_primitive) == "tier.small-vm.two"
    connection.check_constraints()


@pytest.mark.django_db(transaction=True)
def test_a_claim_made_while_its_subject_is_renamed_or_moves_has_the_address_of_what_that_becomes() -> None:
    with transaction.atomic():
        audit, cell = make_audit("codex"), make_cell()
        coder, podman, wsl = make_agent("coder"), make_inner("podman"), make_environment("wsl1")
    for number, (subject, change, expected) in enumerate(
        [
            (audit, {"agent": coder}, "audit.coder.cli"),
            (audit, {"slug": "tui"}, "audit.coder.tui"),
            (coder, {"slug": "coda"}, "audit.coda.tui"),
            (cell, {"inner": podman}, "cell.podman.docker-default"),
            (cell, {"outer": wsl}, "cell.podman.wsl1"),
            (podman, {"slug": "podman-5"}, "cell.podman-5.wsl1"),
            (wsl, {"slug": "wsl"}, "cell.podman-5.wsl"),
        ]
    ):
        rows = type(subject)._default_manager.filter(pk=subject.pk)
        about, slug = (audit if expected.startswith("audit") else cell), f"number-{number}"

        def make() -> None:
            with transaction.atomic():
                make_claim(about, slug=slug)  # noqa: B023 (done before the next)

        while_another(lambda: rows.update(**change), make)  # noqa: B023
        assert Claim.objects.get(slug=slug).address == f"{expected}.{slug}"


@pytest.mark.usefixtures("content")
def test_every_address_of_the_content_has_the_form_of_one() -> None:
    addresses = list(Claim.objects.values_list("address", flat=True))
    assert len(set(addresses)) == len(addresses) > 1000
    assert [each for each in addresses if not re.fullmatch(PATTERN, each)] == []
