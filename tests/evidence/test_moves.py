"""A claim that moves or is withdrawn keeps its address, whoever moves or withdraws it."""

import datetime
from pathlib import Path

import pghistory
import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audits.models import AgentAudit
from evidence.models import Claim, FormerAddress, Label, Source, Withdrawn
from sandboxicon.content.files import BadFile
from sandboxicon.content.loading import database_files, load
from tests.admin_form import AdminForm
from tests.content import small
from tests.factories import make_audit, make_claim, make_posture, make_primitive, make_tier
from tests.sql import refused, sql

pytestmark = pytest.mark.django_db

TODAY = timezone.localdate()
RUNC = "primitives/runc.yaml"
MOVED = "primitive.runc.no-policy"


def leads_to(client: Client, address: str) -> str | int:
    """Where a reader of an address comes to: the address there, or the status of a page that says what became of it."""
    response = client.get(f"/claims/{address}/")
    return response["Location"].split("/")[2] if response.status_code == 301 else response.status_code


def tombstone(client: Client, address: str) -> str:
    response = client.get(f"/claims/{address}/")
    assert response.status_code == 410
    page = BeautifulSoup(response.content, "html.parser")
    assert page.select_one("meta[name=robots]")["content"] == "noindex"
    return " ".join(page.find("main").get_text(" ").split())


# ---- moved ----


def test_a_claim_that_moves_by_any_way_leaves_an_address_that_leads_to_it(client: Client) -> None:
    gvisor, runc = make_primitive("gvisor"), make_primitive("runc")
    claim = make_claim(gvisor, slug="a")
    claim.slug = "b"
    claim.save()
    Claim.objects.filter(pk=claim.pk).update(slug="c")
    Claim.objects.bulk_update([Claim(pk=claim.pk, primitive=runc)], ["primitive"])
    sql("UPDATE evidence_claim SET slug = 'd' WHERE id = %s", claim.pk)
    sql("UPDATE primitives_primitive SET slug = 'runc-2' WHERE slug = 'runc'")
    former = ["primitive.gvisor.a", "primitive.gvisor.b", "primitive.gvisor.c", "primitive.runc.c", "primitive.runc.d"]
    assert [it.address for it in claim.former_addresses.all()] == former
    assert {leads_to(client, address) for address in former} == {"primitive.runc-2.d"}
    assert leads_to(client, "primitive.runc-2.d") == 200
    assert FormerAddress.objects.get(address=former[0]).since == TODAY


def test_a_claim_that_comes_back_has_its_own_address_again(client: Client) -> None:
    claim = make_claim(make_primitive("gvisor"), slug="a")
    for slug in ("b", "a"):
        Claim.objects.filter(pk=claim.pk).update(slug=slug)
    assert leads_to(client, "primitive.gvisor.a") == 200
    assert leads_to(client, "primitive.gvisor.b") == "primitive.gvisor.a"


def test_no_other_claim_takes_an_address_that_leads_elsewhere(client: Client) -> None:
    primitive = make_primitive("gvisor")
    claim = make_claim(primitive, slug="a")
    Claim.objects.update(slug="b")
    with refused("primitive.gvisor.a was that of a claim which is now at primitive.gvisor.b"):
        make_claim(primitive, slug="a")
    other = make_claim(primitive, slug="c")
    with refused("primitive.gvisor.a was that of a claim"):
        Claim.objects.filter(pk=other.pk).update(slug="a")
    with refused("There is a claim at primitive.gvisor.c"):
        FormerAddress.objects.create(address="primitive.gvisor.c", claim=claim)
    with refused("There is a claim at primitive.gvisor.c"):
        Withdrawn.objects.create(address="primitive.gvisor.c", sentence="It was so.", label="inferred")


def test_a_curator_moves_a_claim_on_its_own_page(admin_client: Client) -> None:
    claim = make_claim(make_primitive("gvisor"), slug="a")
    form = AdminForm(admin_client, reverse("admin:evidence_claim_change", args=[claim.pk]))
    form.fields["slug"] = "b"
    assert form.send() is None
    assert leads_to(admin_client, "primitive.gvisor.a") == "primitive.gvisor.b"


# ---- withdrawn ----


def test_a_claim_that_is_deleted_by_any_way_leaves_its_last_words_and_the_reason(client: Client) -> None:
    primitive = make_primitive("gvisor")
    for slug in ("orm", "bulk", "sql", "cascade"):
        make_claim(primitive, Label.INFERRED, slug=slug, sentence=f"The `{slug}` & it.")
    Claim.objects.filter(slug="orm").update(slug="orm-2")
    with pghistory.context(why="It was never so."):
        Claim.objects.get(slug="orm-2").delete()
    Claim.objects.filter(slug="bulk").delete()
    sql("DELETE FROM evidence_claim WHERE slug = 'sql'")
    primitive.delete()
    connection.check_constraints()
    for slug in ("orm-2", "bulk", "sql", "cascade"):
        words = tombstone(client, f"primitive.gvisor.{slug}")
        assert f"no longer in the content since {TODAY.day} {TODAY:%B %Y}" in words
        assert f"The {slug.removesuffix('-2')} & it. inferred" in words
    for address in ("primitive.gvisor.orm", "primitive.gvisor.orm-2"):
        assert "Why It was never so." in tombstone(client, address)
    assert not FormerAddress.objects.exists()


def test_without_a_reason_it_says_that_there_is_none(client: Client) -> None:
    make_claim(make_tier("microvm"), slug="a").delete()
    assert "No reason was recorded." in tombstone(client, "tier.microvm.a")
    link = BeautifulSoup(client.get("/claims/tier.microvm.a/").content, "html.parser").select("main p a")[-1]
    assert link["href"] == "/evidence/?tier=microvm"


def test_a_withdrawn_claim_that_is_made_again_stands(client: Client) -> None:
    primitive = make_primitive("gvisor")
    make_claim(primitive, slug="a").delete()
    make_claim(primitive, slug="a")
    assert leads_to(client, "primitive.gvisor.a") == 200
    assert not Withdrawn.objects.exists()


def test_of_a_draft_nothing_becomes_public_by_its_move_or_its_end(client: Client) -> None:
    audit = make_audit("secret", postures=[], is_published=False)
    subjects = [audit, make_primitive("hidden", is_published=False), make_tier("microvm")]
    for subject in subjects:
        make_claim(subject, slug="a", is_published=subject not in subjects[2:])
    addresses = list(Claim.objects.values_list("address", flat=True))
    Claim.objects.update(slug="b")
    assert {leads_to(client, address) for address in addresses} == {404}
    Claim.objects.all().delete()
    assert {leads_to(client, address) for address in addresses} == {404}
    assert not Withdrawn.objects.exists()


def test_a_whole_surface_that_goes_leaves_the_addresses_of_its_claims(client: Client) -> None:
    audit = make_audit("codex", postures=[])
    make_posture(audit, claims=[make_claim(audit, slug="a")])
    AgentAudit.objects.all().delete()
    connection.check_constraints()
    assert leads_to(client, "audit.codex.cli.a") == 410


# ---- in files ----


def test_a_load_that_lacks_a_claim_withdraws_it_and_says_so(client: Client, tmp_path: Path) -> None:
    content = small.documents()
    load(small.write(tmp_path, content))
    content[RUNC]["claims"].pop()
    load(small.write(tmp_path, content))
    assert "Why It is no longer in the content." in tombstone(client, MOVED)


def test_files_say_why_a_claim_was_withdrawn_and_where_it_moved(client: Client, tmp_path: Path) -> None:
    content = small.documents()
    load(small.write(tmp_path, content))
    before = dict(Claim.objects.values_list("slug", "pk"))
    policy, own = content[RUNC]["claims"].pop(), content[RUNC]["claims"][0]
    content["primitives/docker.yaml"]["claims"].append(policy | {"slug": "no-rules", "former_addresses": [MOVED]})
    own |= {"slug": "namespaces", "former_addresses": ["primitive.runc.own-namespaces", "primitive.runc.before"]}
    withdrawn = {
        "address": "tier.container.gone",
        "sentence": "It was so.",
        "label": "documented",
        "since": datetime.date(2026, 3, 1),
        "reason": "It never was.",
    }
    content["withdrawn/tier.container.gone.yaml"] = withdrawn
    load(small.write(tmp_path, content))
    assert leads_to(client, MOVED) == "primitive.docker.no-rules"
    assert leads_to(client, "primitive.runc.own-namespaces") == "primitive.runc.namespaces"
    assert leads_to(client, "primitive.runc.before") == "primitive.runc.namespaces"
    assert "It never was." in tombstone(client, "tier.container.gone")
    assert "1 March 2026" in tombstone(client, "tier.container.gone")
    # Both kept their rows, and with them their history.
    assert Claim.objects.get(slug="namespaces").pk == before["own-namespaces"]
    assert Claim.objects.get(slug="no-rules").pk == before["no-policy"]
    assert Source.objects.filter(claim__slug="namespaces").count() == 1


def test_addresses_survive_the_round_trip_and_a_file_that_is_no_more_is_removed(tmp_path: Path) -> None:
    load(small.write(tmp_path / "first", small.documents()))
    Claim.objects.filter(slug="no-policy").update(slug="no-rules")
    Claim.objects.filter(slug="own-namespaces").delete()
    files = database_files()
    assert f"former_addresses:\n  - {MOVED}" in files[RUNC].decode()
    assert "withdrawn/primitive.runc.own-namespaces.yaml" in files
    call_command("dump_content", folder=tmp_path / "second", verbosity=0)
    connection.check_constraints()
    tables = "ladder_tier, primitives_primitive, audits_agent, nesting_inner, nesting_environment, nesting_errortext"
    sql(f"TRUNCATE {tables}, evidence_withdrawn, sandboxicon_loadeddocument CASCADE")
    load(tmp_path / "second")
    assert database_files() == files
    assert FormerAddress.objects.get().address == MOVED
    make_claim(Claim.objects.get(slug="no-rules").primitive, slug="own-namespaces")
    call_command("dump_content", folder=tmp_path / "second", verbosity=0)
    assert list((tmp_path / "second" / "withdrawn").iterdir()) == []


@pytest.mark.parametrize(
    ("former", "problem"),
    [
        ("tier", "claims[1].former_addresses: not a list"),
        ([1], "claims[1].former_addresses[1]: not text"),
        (["No Address"], "claims[1].former_addresses[1]: Enter a valid value."),
        (["primitive.docker.root-by-default"], "There is a claim at primitive.docker.root-by-default"),
    ],
)
def test_a_former_address_that_cannot_be_is_refused(tmp_path: Path, former: object, problem: str) -> None:
    content = small.documents()
    load(small.write(tmp_path, content))
    content[RUNC]["claims"][0]["former_addresses"] = former
    with pytest.raises(BadFile) as caught:
        load(small.write(tmp_path, content))
    assert problem in str(caught.value)
    assert RUNC in str(caught.value)


def test_a_file_cannot_withdraw_a_claim_that_is_there(tmp_path: Path) -> None:
    content = small.documents()
    content[f"withdrawn/{MOVED}.yaml"] = {
        "address": MOVED,
        "sentence": "It was so.",
        "label": "documented",
        "since": TODAY,
        "reason": None,
    }
    with pytest.raises(BadFile, match=f"withdrawn/{MOVED}.yaml: There is a claim at {MOVED}"):
        load(small.write(tmp_path, content))
