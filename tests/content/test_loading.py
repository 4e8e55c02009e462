"""Fixtures into the database and back: nothing lost, nothing changed twice, and a curator's work kept."""

import datetime
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db.models import Count
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from audits.models import (
    LEVELS,
    Agent,
    AgentAudit,
    AgentBreak,
    Isolation,
    OpenSource,
    Posture,
    PostureClaim,
    PosturePlatform,
    SurfaceKind,
)
from evidence.models import Aspect, Claim, Label, Source
from ladder.models import Tier
from nesting.models import Cell, ErrorText, Fix
from primitives.models import Break, BuildsOn, Category, Isolates, Platform, Primitive, Status
from sandboxicon.content import files
from sandboxicon.content.files import BadFile
from sandboxicon.content.loading import database_documents, load
from sandboxicon.models import LoadedDocument
from tests.content import small
from tests.sql import accepted, sql

pytestmark = pytest.mark.django_db

PACK = settings.BASE_DIR.parent / "shared" / "research"
RUNC = "primitives/runc.yaml"
DOCKER = "primitives/docker.yaml"
CODEX = "agents/codex.yaml"
TABLES = [
    model._meta.db_table
    for app in ("audits", "evidence", "ladder", "nesting", "primitives")
    for model in apps.get_app_config(app).get_models()
]


def fixture_files() -> dict[str, bytes]:
    return {
        path.relative_to(settings.FIXTURES_DIR).as_posix(): path.read_bytes()
        for path in settings.FIXTURES_DIR.glob("*/*.yaml")
    }


def rows(*tables: str) -> dict[str, list[tuple[Any, ...]]]:
    """Each row's id and its place on the disk, which changes with any write, also of the same values."""
    return {table: sql(f"SELECT id, xmin::text, ctid::text FROM {table} ORDER BY id") for table in tables}


def entries() -> dict[str, Any]:
    """The documents of the database but for what is left of claims that were withdrawn."""
    return {path: document for path, document in database_documents() if not path.startswith("withdrawn/")}


# ---- the whole content ----


def test_everything_in_the_files_is_in_the_database(content: None) -> None:
    documents = {path: files.parse(data, path) for path, data in fixture_files().items()}
    entries = [document for path, document in documents.items() if path.startswith("primitives/")]
    agents = [document for path, document in documents.items() if path.startswith("agents/")]
    audits = [audit for agent in agents for audit in agent["audits"]]
    errors = [document for path, document in documents.items() if path.startswith("errors/")]
    cells = [cell for path, document in documents.items() if path.startswith("nesting/") for cell in document["cells"]]
    subjects = [*documents.values(), *audits, *cells]
    claims = [claim for subject in subjects for claim in subject.get("claims", [])]
    assert Primitive.objects.count() == len(entries) >= 175
    assert Tier.objects.count() == 6
    assert Category.objects.count() == sum(path.startswith("categories/") for path in documents)
    assert Platform.objects.count() == sum(path.startswith("platforms/") for path in documents)
    assert Claim.objects.count() == len(claims)
    assert Source.objects.count() == sum(len(claim["sources"]) for claim in claims)
    assert Break.objects.count() == sum(len(entry["breaks"]) for entry in entries)
    assert BuildsOn.objects.count() == sum(len(entry["builds_on"]) for entry in entries)
    assert Agent.objects.count() == len(agents) >= 59
    assert AgentAudit.objects.count() == len(audits)
    assert Posture.objects.count() == sum(len(audit["postures"]) for audit in audits)
    assert AgentBreak.objects.count() == sum(len(agent["breaks"]) for agent in agents)
    assert Cell.objects.count() == len(cells) >= 154
    assert ErrorText.objects.count() == len(errors) >= 56
    assert Fix.objects.count() == sum(len(subject["fixes"]) for subject in [*cells, *errors])
    assert LoadedDocument.objects.count() == len(documents)


@pytest.mark.skipif(not PACK.is_dir(), reason="the research pack is not beside this checkout")
def test_everything_in_the_pack_is_in_the_database(content: None) -> None:
    pack = [files.parse(path.read_bytes(), path.name) for path in (PACK / "primitives").glob("*.yaml")]
    facts = {(entry["slug"], fact["id"], fact["fact"], fact["label"]) for entry in pack for fact in entry["facts"]}
    escapes = {(entry["slug"], escape["url"]) for entry in pack for escape in entry.get("escapes") or []}
    assert set(Primitive.objects.values_list("slug", flat=True)) == {entry["slug"] for entry in pack}
    ours = Claim.objects.filter(primitive__isnull=False)
    assert set(ours.values_list("primitive__slug", "slug", "sentence", "label")) == facts
    assert ours.count() == sum(len(entry["facts"]) for entry in pack)
    assert set(Break.objects.values_list("primitive__slug", "url")) == escapes
    assert Break.objects.count() == sum(len(entry.get("escapes") or []) for entry in pack)


def as_said(entry: dict[str, Any], fixes: str) -> tuple[Any, ...]:
    """What stands behind a cell or an error of the pack, and its fixes, as plain values."""
    return (
        *(entry[name] or "" for name in ("label", "version", "reasoning")),
        (entry["as_of"], len(entry["sources"])),
        frozenset(fix["do"] for fix in entry[fixes]),
    )


def as_kept(subject: Cell | ErrorText) -> tuple[Any, ...]:
    """The same of ours."""
    claim = subject.claims.get()
    return (
        *(claim.label, claim.version, claim.reasoning),
        (claim.as_of, claim.sources.count()),
        frozenset(fix.do for fix in subject.fixes.all()),
    )


@pytest.mark.skipif(not PACK.is_dir(), reason="the research pack is not beside this checkout")
def test_every_cell_and_error_of_the_pack_is_in_the_database(content: None) -> None:
    pack = [files.parse(path.read_bytes(), path.name) for path in (PACK / "nesting").glob("*.yaml")]
    theirs = {
        (entry["inner"], cell["outer"].replace(".", "-"), cell["result"], cell["cause"], *cell["errors"]): as_said(
            cell, "fix"
        )
        for entry in pack
        for cell in entry.get("cells", [])
    }
    ours = {
        (cell.inner.slug, cell.outer.slug, cell.result, cell.cause, *cell.error_lines): as_kept(cell)
        for cell in Cell.objects.named()
    }
    assert ours == theirs
    names = ("pattern", "example", "tool", "source_path", "meaning")
    errors = [error for entry in pack for error in entry.get("errors", [])]
    assert {
        (error.slug, *(getattr(error, name) for name in names), *error.causes, *error.checks): as_kept(error)
        for error in ErrorText.objects.all()
    } == {
        (error["id"], *(error[name] or "" for name in names), *error["causes"], *error["checks"]): as_said(
            error, "fixes"
        )
        for error in errors
    }


def in_the_pack(posture: dict[str, Any]) -> tuple[Any, ...]:
    """A posture of the pack as plain values."""
    texts = ("mode", "note", "how", "filesystem_read", "filesystem_write", "network", "credentials", "approvals")
    return (
        *(posture[name] or "" for name in texts),
        *(posture["levels"][name] for name in ("read", "write", "network", "credentials", "approvals")),
        posture["on_failure"] or "unknown",
        (posture["isolation"], posture["tier"], posture["is_default"]),
        *(frozenset(posture[name]) for name in ("platforms", "primitives", "facts")),
    )


def in_the_database(posture: Posture) -> tuple[Any, ...]:
    """The same of ours."""
    texts = ("mode", "note", "how", "filesystem_read", "filesystem_write", "network", "credentials", "approvals")
    return (
        *(getattr(posture, name) for name in (*texts, *LEVELS)),
        (posture.isolation, posture.tier and posture.tier.slug, posture.is_default),
        *(
            frozenset(item.slug for item in related.all())
            for related in (posture.platforms, posture.primitives, posture.claims)
        ),
    )


@pytest.mark.skipif(not PACK.is_dir(), reason="the research pack is not beside this checkout")
def test_every_agent_surface_posture_fact_and_incident_of_the_pack_is_in_the_database(content: None) -> None:
    pack = [files.parse(path.read_bytes(), path.name) for path in (PACK / "agents").glob("*.yaml")]
    surfaces = [(agent["slug"], surface) for agent in pack for surface in agent["surfaces"]]
    theirs = {agent["slug"]: (agent["name"], agent["vendor"], agent["license"] or "") for agent in pack}
    assert {slug: rest for slug, *rest in Agent.objects.values_list("slug", "name", "vendor", "license")} == {
        slug: list(rest) for slug, rest in theirs.items()
    }
    ours = AgentAudit.objects.order_by("agent__slug", "position").values_list("agent__slug", "slug", "name", "kind")
    assert list(ours) == [
        (slug, *(surface[name] for name in ("slug", "name", "kind")))
        for slug, surface in sorted(surfaces, key=lambda item: item[0])
    ]
    assert not AgentAudit.objects.filter(is_published=False).exists()
    postures = Posture.objects.order_by("position").select_related("audit__agent", "tier")
    found: dict[tuple[str, str], list[Any]] = {}
    for posture in postures.prefetch_related("platforms", "primitives", "claims"):
        found.setdefault((posture.audit.agent.slug, posture.audit.slug), []).append(in_the_database(posture))
    assert found == {
        (slug, surface["slug"]): [in_the_pack(posture) for posture in surface["postures"]] for slug, surface in surfaces
    }
    facts = [
        (slug, surface["slug"], fact["id"], fact["about"], fact["fact"], fact["label"], len(fact["sources"]))
        for slug, surface in surfaces
        for fact in surface["facts"]
    ]
    claims = Claim.objects.filter(audit__isnull=False).annotate(number=Count("sources"))
    names = ("audit__agent__slug", "audit__slug", "slug", "aspect", "sentence", "label", "number")
    assert sorted(claims.values_list(*names)) == sorted(facts)
    incidents = [(agent["slug"], item["year"], item["url"]) for agent in pack for item in agent.get("incidents") or []]
    assert sorted(AgentBreak.objects.values_list("agent__slug", "year", "url")) == sorted(incidents)


def test_writing_it_back_gives_the_same_files_to_the_byte(content: None, tmp_path: Path) -> None:
    """So loading what was written back gives the same database: it is what `content` did."""
    call_command("dump_content", "--to", str(tmp_path))
    written = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.glob("*/*.yaml")}
    assert written.keys() == fixture_files().keys()
    assert [path for path, data in fixture_files().items() if written[path] != data] == []


def test_loading_it_again_writes_no_row(content: None) -> None:
    before = rows(*TABLES, "sandboxicon_loadeddocument")
    report = load(settings.FIXTURES_DIR)
    assert not report.created + report.updated + report.kept + report.without_file
    assert len(report.unchanged) == LoadedDocument.objects.count()
    assert rows(*TABLES, "sandboxicon_loadeddocument") == before


def test_loading_it_again_with_force_writes_no_row_of_the_content(content: None) -> None:
    before = rows(*TABLES)
    report = load(settings.FIXTURES_DIR, overwrite_all=True)
    assert not report.created + report.updated + report.kept
    assert rows(*TABLES) == before


# ---- a later load ----


@pytest.fixture
def content_files(tmp_path: Path) -> small.Documents:
    """A small content that has been loaded; `reload` loads what becomes of it."""
    content = small.documents()
    load(small.write(tmp_path, content))
    return content


def test_a_corrected_file_updates_its_entry_and_writes_only_what_differs(
    content_files: small.Documents, tmp_path: Path
) -> None:
    claims = dict(Claim.objects.values_list("slug", "pk"))
    before = rows("evidence_claim", "evidence_source", "primitives_break", "primitives_buildson")
    content_files[RUNC]["summary"] = "A better summary."
    content_files[RUNC]["claims"][1]["sentence"] = "A corrected sentence."
    report = load(small.write(tmp_path, content_files))
    assert (report.updated, report.created, report.kept) == ([RUNC], [], [])
    assert Primitive.objects.get(slug="runc").summary == "A better summary."
    assert Claim.objects.get(slug="no-policy").sentence == "A corrected sentence."
    assert dict(Claim.objects.values_list("slug", "pk")) == claims
    after = rows("evidence_claim", "evidence_source", "primitives_break", "primitives_buildson")
    changed = set(after["evidence_claim"]) - set(before["evidence_claim"])
    assert [pk for pk, *_ in changed] == [claims["no-policy"]]
    assert after["evidence_source"] == before["evidence_source"]
    assert after["primitives_buildson"] == before["primitives_buildson"]


def test_a_cost_and_the_claim_that_it_rests_on_are_corrected_together(
    content_files: small.Documents, tmp_path: Path
) -> None:
    cost = {"kind": "start-up", "low": "40 ms", "high": None, "measured_by": "Its README.", "claims": ["runc/start"]}
    content_files[RUNC]["claims"].append(small.claim("start", sentence="It starts in 40 ms."))
    tier = content_files["tiers/container.yaml"] = {**content_files["tiers/container.yaml"], "costs": [cost]}
    load(small.write(tmp_path, content_files))
    content_files[RUNC]["claims"][-1]["sentence"] = "It starts in 50 ms."
    cost["low"] = "50 ms"
    with accepted():
        load(small.write(tmp_path, content_files))
    assert dict(database_documents())["tiers/container.yaml"] == tier
    cost["low"] = "60 ms"
    with pytest.raises(BadFile, match=r"tiers/container.yaml: No claim that the start-up rests on says “60 ms”"):
        load(small.write(tmp_path, content_files))
    cost |= {"low": "50 ms", "claims": ["runc/start", "runc/nothing"]}
    with pytest.raises(BadFile, match=r"tiers/container.yaml: costs\[1\].claims\[2\]: no such claim: runc/nothing"):
        load(small.write(tmp_path, content_files))


def test_a_corrected_source_keeps_its_claims_row(content_files: small.Documents, tmp_path: Path) -> None:
    pk = Claim.objects.get(slug="own-namespaces").pk
    content_files[RUNC]["claims"][0]["sources"] = [small.DOC, {**small.CODE, "lines": "14"}]
    load(small.write(tmp_path, content_files))
    assert Claim.objects.get(slug="own-namespaces").pk == pk
    assert [str(source) for source in Claim.objects.get(pk=pk).sources.all()] == [
        "Docker's documentation",
        "opencontainers/runc@0123456 init.go:14",
    ]


def test_claims_breaks_platforms_and_parts_that_left_the_file_leave_the_database(
    content_files: small.Documents, tmp_path: Path
) -> None:
    content_files[RUNC]["claims"].pop()
    content_files[RUNC]["breaks"] = []
    content_files[RUNC]["platforms"] = []
    content_files[DOCKER]["builds_on"] = []
    load(small.write(tmp_path, content_files))
    runc = Primitive.objects.get(slug="runc")
    assert [claim.slug for claim in runc.claims.all()] == ["own-namespaces"]
    assert not runc.breaks.exists()
    assert not runc.platforms.exists()
    assert not BuildsOn.objects.exists()
    assert entries() == content_files


def test_claims_in_another_order_keep_their_rows_and_take_the_order(
    content_files: small.Documents, tmp_path: Path
) -> None:
    claims = dict(Claim.objects.values_list("slug", "pk"))
    content_files[RUNC]["claims"].reverse()
    load(small.write(tmp_path, content_files))
    assert dict(Claim.objects.values_list("slug", "pk")) == claims
    runc = Primitive.objects.get(slug="runc")
    assert [claim.slug for claim in runc.claims.in_reading_order()] == ["no-policy", "own-namespaces"]


POSTURE_TABLES = [
    *("audits_agentaudit", "audits_posture", "audits_postureplatform", "audits_postureprimitive"),
    *("audits_postureclaim", "evidence_claim", "evidence_source"),
]


def test_a_corrected_agent_keeps_its_rows_and_writes_the_posture_and_the_claim_that_differ(
    content_files: small.Documents, tmp_path: Path
) -> None:
    keys = {model: list(model.objects.values_list("pk", flat=True)) for model in (Agent, AgentAudit, Posture, Claim)}
    before = rows(*POSTURE_TABLES)
    cli = content_files[CODEX]["audits"][0]
    cli["postures"][1] |= {"how": "--dangerous", "levels": {**cli["postures"][1]["levels"], "network": "open"}}
    cli["claims"][1]["sentence"] = "A corrected sentence."
    assert load(small.write(tmp_path, content_files)).updated == [CODEX]
    posture = Posture.objects.get(mode="full access")
    assert (posture.how, posture.network_level) == ("--dangerous", "open")
    assert Claim.objects.get(slug="warns-without").sentence == "A corrected sentence."
    for model, pks in keys.items():
        assert list(model.objects.values_list("pk", flat=True)) == pks, model
    after = rows(*POSTURE_TABLES)
    changed = {table: [row[0] for row in set(after[table]) - set(before[table])] for table in POSTURE_TABLES}
    assert changed["audits_posture"] == [posture.pk]
    assert changed["evidence_claim"] == [Claim.objects.get(slug="warns-without").pk]
    assert not changed["evidence_source"]
    assert dict(database_documents()) == content_files


def test_surfaces_and_postures_in_another_order_keep_their_rows_and_take_the_order(
    content_files: small.Documents, tmp_path: Path
) -> None:
    keys = {model: set(model.objects.values_list("pk", flat=True)) for model in (AgentAudit, Posture, Claim)}
    content_files[CODEX]["audits"].reverse()
    content_files[CODEX]["audits"][2]["postures"].reverse()
    load(small.write(tmp_path, content_files))
    assert {model: set(model.objects.values_list("pk", flat=True)) for model in keys} == keys
    assert dict(database_documents()) == content_files


def test_what_left_an_agents_file_leaves_the_database(content_files: small.Documents, tmp_path: Path) -> None:
    agent = content_files[CODEX]
    cli = agent["audits"][0]
    del agent["audits"][1:], cli["postures"][1], cli["claims"][1]
    cli["postures"][0] |= {"rests_on": ["on-by-default"], "primitives": []}
    agent["breaks"] = []
    load(small.write(tmp_path, content_files))
    assert entries() == content_files
    assert [posture.mode for posture in Posture.objects.all()] == ["boxed"]
    assert not Claim.objects.filter(slug__in=["not-said", "warns-without"]).exists()


def test_two_postures_of_one_mode_and_platform_are_two_rows_also_after_a_correction(
    content_files: small.Documents, tmp_path: Path
) -> None:
    postures = content_files[CODEX]["audits"][0]["postures"]
    postures.append({**postures[1], "how": "--also"})
    load(small.write(tmp_path, content_files))
    postures[1]["note"] = "The first of the two."
    load(small.write(tmp_path, content_files))
    assert dict(database_documents()) == content_files


def test_a_default_can_move_from_one_posture_to_another(content_files: small.Documents, tmp_path: Path) -> None:
    boxed, full = content_files[CODEX]["audits"][0]["postures"]
    boxed["is_default"], full["is_default"] = False, True
    load(small.write(tmp_path, content_files))
    assert {posture.mode for posture in Posture.objects.filter(is_default=True)} == {"full access", "cloud"}


def test_how_to_check_is_marked_in_the_file_of_an_agent_and_left_out_where_it_is_not(
    content_files: small.Documents, tmp_path: Path
) -> None:
    marked = Claim.objects.filter(says_how_to_check=True)
    assert [claim.slug for claim in marked.all()] == ["warns-without"]
    by_default, warns = content_files[CODEX]["audits"][0]["claims"]
    del warns["says_how_to_check"]
    assert load(small.write(tmp_path, content_files)).updated == [CODEX]
    assert not marked.exists()
    assert dict(database_documents())[CODEX] == content_files[CODEX]
    by_default["says_how_to_check"] = True
    warns["says_how_to_check"] = False
    load(small.write(tmp_path, content_files))
    assert [claim.slug for claim in marked.all()] == ["on-by-default"]
    assert [claim.get("says_how_to_check") for claim in dict(database_documents())[CODEX]["audits"][0]["claims"]] == [
        *(True, None)
    ]


def test_what_a_curator_changed_is_kept_and_said(content_files: small.Documents, tmp_path: Path) -> None:
    Primitive.objects.filter(slug="runc").update(summary="A curator's summary.")
    content_files[RUNC]["summary"] = "The file's summary."
    content_files[DOCKER]["summary"] = "Another."
    small.write(tmp_path, content_files)
    for _ in range(2):
        report = load(tmp_path)
        assert report.kept == [RUNC]
        assert Primitive.objects.get(slug="runc").summary == "A curator's summary."
    assert Primitive.objects.get(slug="docker").summary == "Another."


@pytest.mark.parametrize(
    "curate",
    [
        lambda: Agent.objects.update(vendor="Another"),
        lambda: AgentAudit.objects.filter(slug="ide").update(name="A curator's name"),
        lambda: AgentAudit.objects.filter(slug="cloud").update(is_published=False),
        lambda: Posture.objects.filter(mode="boxed").update(network_level="open"),
        lambda: Posture.objects.filter(mode="boxed").update(position=7),
        lambda: Posture.objects.get(mode="boxed").primitives.clear(),
        lambda: PostureClaim.objects.get(claim__slug="warns-without").delete(),
        lambda: PosturePlatform.objects.create(
            posture=Posture.objects.get(mode="full access"), platform=Platform.objects.get(slug="vendor-cloud")
        ),
        lambda: AgentBreak.objects.all().delete(),
    ],
)
def test_a_change_to_any_part_of_an_agent_is_a_curators_change(
    curate: Any, content_files: small.Documents, tmp_path: Path
) -> None:
    with accepted():
        curate()
    before = dict(database_documents())[CODEX]
    content_files[CODEX]["license"] = "MIT"
    assert load(small.write(tmp_path, content_files)).kept == [CODEX]
    assert dict(database_documents())[CODEX] == before


@pytest.mark.parametrize(
    "curate",
    [
        lambda: Claim.objects.filter(slug="no-policy").update(sentence="A curator's sentence."),
        lambda: Claim.objects.get(slug="no-policy").delete(),
        lambda: Source.objects.filter(claim__slug="no-policy").update(title="A curator's title"),
        lambda: Break.objects.all().delete(),
        lambda: Break.objects.update(nickname="Runcescape"),
        lambda: Primitive.objects.get(slug="runc").platforms.clear(),
        lambda: Primitive.objects.filter(slug="runc").update(isolates=["kernel"]),
        lambda: Claim.objects.filter(slug="no-policy").update(position=0),
    ],
)
def test_a_change_to_any_part_of_an_entry_is_a_curators_change(
    curate: Any, content_files: small.Documents, tmp_path: Path
) -> None:
    with accepted():
        curate()
    before = dict(database_documents())[RUNC]
    content_files[RUNC]["license"] = "MIT"
    assert load(small.write(tmp_path, content_files)).kept == [RUNC]
    assert dict(database_documents())[RUNC] == before


def test_overwrite_takes_the_file_that_is_named_and_no_other(content_files: small.Documents, tmp_path: Path) -> None:
    Primitive.objects.update(summary="A curator's summary.")
    small.write(tmp_path, content_files)
    report = load(tmp_path, overwrite=[RUNC])
    assert report.updated == [RUNC]
    assert Primitive.objects.get(slug="runc").summary == "What runc is."
    assert Primitive.objects.get(slug="docker").summary == "A curator's summary."
    content_files[RUNC]["summary"] = "After that the entry is the file's again."
    assert load(small.write(tmp_path, content_files)).updated == [RUNC]


def test_overwrite_all_takes_every_file(content_files: small.Documents, tmp_path: Path) -> None:
    Primitive.objects.update(summary="A curator's summary.")
    Break.objects.all().delete()
    assert load(tmp_path, overwrite_all=True).updated == [DOCKER, RUNC]
    assert dict(database_documents()) == content_files


def test_a_curators_change_written_back_to_the_file_is_the_files_own(
    content_files: small.Documents, tmp_path: Path
) -> None:
    Primitive.objects.filter(slug="runc").update(summary="A curator's summary.")
    call_command("dump_content", "--to", str(tmp_path))
    assert not load(tmp_path).kept
    content_files = dict(database_documents())
    content_files[RUNC]["license"] = "MIT"
    assert load(small.write(tmp_path, content_files)).updated == [RUNC]


def test_an_entry_that_a_curator_deleted_does_not_come_back(
    content_files: small.Documents, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with accepted():
        Primitive.objects.get(slug="docker").delete()
    assert load(tmp_path).kept == [DOCKER]
    content_files[DOCKER]["summary"] = "A correction of what is gone."
    small.write(tmp_path, content_files)
    call_command("load_content", "--from", str(tmp_path))
    assert f"kept as a curator left it: {DOCKER}" in capsys.readouterr().out
    assert not Primitive.objects.filter(slug="docker").exists()
    assert load(tmp_path, overwrite=[DOCKER]).created == [DOCKER]
    assert Primitive.objects.get(slug="docker").summary == "A correction of what is gone."


def test_an_entry_that_a_curator_made_is_left_alone_and_written_out(
    content_files: small.Documents, tmp_path: Path
) -> None:
    runc = Primitive.objects.get(slug="runc")
    Primitive.objects.create(slug="crun", name="crun", summary="Another.", tier=runc.tier, category=runc.category)
    before = dict(database_documents())
    load(tmp_path)
    assert dict(database_documents()) == before
    call_command("dump_content", "--to", str(tmp_path))
    assert files.parse((tmp_path / "primitives/crun.yaml").read_bytes(), "crun")["name"] == "crun"


def test_a_file_that_is_gone_is_said_and_its_entry_stays(
    content_files: small.Documents, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / DOCKER).unlink()
    assert load(tmp_path).without_file == [DOCKER]
    call_command("load_content", "--from", str(tmp_path))
    assert f"no file any more, entry kept: {DOCKER}" in capsys.readouterr().out
    assert Primitive.objects.filter(slug="docker").exists()


def test_a_file_whose_lists_stand_in_another_order_is_not_taken_for_a_curators_work(
    content_files: small.Documents, tmp_path: Path
) -> None:
    untidy = content_files[RUNC]
    untidy["isolates"].reverse()
    untidy["breaks"] = [
        {**untidy["breaks"][0], "identifier": f"CVE-20{year}-1", "year": 2000 + year} for year in (19, 21)
    ]
    untidy["claims"][0]["reasoning"] = None
    assert load(small.write(tmp_path, content_files)).updated == [RUNC]
    untidy["summary"] = "A correction."
    assert load(small.write(tmp_path, content_files)).updated == [RUNC]
    assert Primitive.objects.get(slug="runc").summary == "A correction."


def test_writing_back_removes_the_file_of_a_deleted_entry_and_leaves_unchanged_files_alone(
    content_files: small.Documents, tmp_path: Path
) -> None:
    date = (tmp_path / RUNC).stat().st_mtime_ns
    with accepted():
        Primitive.objects.get(slug="docker").delete()
    call_command("dump_content", "--to", str(tmp_path))
    assert not (tmp_path / DOCKER).exists()
    assert (tmp_path / RUNC).stat().st_mtime_ns == date


def test_files_can_be_loaded_one_folder_after_another_place(content_files: small.Documents, tmp_path: Path) -> None:
    """Where the folder lies is no part of what is remembered."""
    other = tmp_path / "with a space"
    shutil.copytree(tmp_path, other)
    assert len(load(other).unchanged) == len(content_files)


# ---- any text at all ----

# What files are read as by other tools must come back as the text that it was.
TRICKY = ["null", "~", "yes", "no", "on", "1.10", "1e3", "0x1f", "2026-08-21", "12:30", "=", "<<", "- a", "a: b", "# a"]
TRICKY += [
    "!tag",
    "&a",
    "*a",
    "{a}",
    "[a]",
    "| a",
    "> a",
    "%a",
    "@a",
    "`a`",
    "'",
    '"',
    "\\",
    " a",
    "a ",
    "\ta",
    "a\n",
    "\n\na",
]
TRICKY += ["a\r\nb", "\u2028", "\u0085", "\ufeffa", "é", "日本語", "🦊", "\x1b[0m", "a\u0301", "...", "---", "a " * 200]
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def texts(most: int = 300) -> st.SearchStrategy[str]:
    anything = st.text(characters, min_size=1, max_size=most)
    return st.sampled_from([text for text in TRICKY if len(text) <= most]) | anything


def spoken(most: int = 300) -> st.SearchStrategy[str]:
    """With at least one visible character, somewhere."""
    return st.tuples(texts(most // 3), st.sampled_from("aZ9é"), texts(most // 3)).map("".join)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


sources = st.lists(
    st.fixed_dictionaries({"kind": st.just("doc"), "url": st.just("https://example.org/c?d=e#f"), "title": spoken(300)})
    | st.fixed_dictionaries(
        {
            "kind": st.just("code"),
            "repo": st.just("a/b"),
            "commit": st.just("0123456789" * 4),
            "path": spoken(300),
            "lines": st.sampled_from(["1", "010", "12-30"]),
        }
    )
    | st.fixed_dictionaries({"kind": st.just("package"), "purl": st.just("pkg:npm/a@1"), "title": spoken(300)}),
    max_size=3,
)


@st.composite
def claims(draw: st.DrawFn, slug: str) -> dict[str, Any]:
    label = draw(st.sampled_from(Label.values))
    claim = {
        "slug": slug,
        "aspect": draw(st.sampled_from(Aspect.values)),
        "sentence": draw(spoken()),
        "label": label,
        "version": draw(maybe(texts(200))),
        "as_of": draw(st.dates(datetime.date(1000, 1, 1))),
    }
    needed = {"inferred": "reasoning", "undisclosed": "looked"}.get(label)
    for name in ("reasoning", "looked"):
        if name == needed or draw(st.booleans()):
            claim[name] = draw(spoken())
    kinds = {"verified-code": small.CODE, "documented": small.DOC, "undisclosed": small.DOC}
    return {**claim, "sources": [*([kinds[label]] if label in kinds else []), *draw(sources)]}


@st.composite
def primitives(draw: st.DrawFn) -> dict[str, Any]:
    breaks = [
        {
            "identifier": identifier,
            "year": draw(st.integers(1980, 2100)),
            "summary": draw(texts()),
            "fixed_in": draw(maybe(texts(200))),
            "url": "https://example.org/",
            **draw(st.sampled_from([{}, {"nickname": draw(texts(100))}])),
        }
        for identifier in draw(st.lists(texts(100), max_size=2, unique=True))
    ]
    number = draw(st.integers(0, 3))
    return small.primitive(
        "runc",
        name=draw(texts(100)),
        aliases=draw(st.lists(texts(100), max_size=3)),
        summary=draw(texts()),
        status=draw(st.sampled_from(Status.values)),
        license=draw(maybe(texts(100))),
        written_in=draw(maybe(texts(60))),
        first_release=draw(maybe(st.integers(1960, 2100))),
        maintainer=draw(maybe(texts(100))),
        isolates=[thing for thing in Isolates.values if draw(st.booleans())],
        claims=[draw(claims(f"claim-{place}")) for place in range(number)],
        breaks=sorted(breaks, key=lambda item: (-item["year"], item["identifier"])),
    )


@st.composite
def agents(draw: st.DrawFn) -> dict[str, Any]:
    """An agent with a surface whose postures hold any text at all."""
    modes = draw(st.lists(texts(40), min_size=1, max_size=3))
    postures = []
    for place, mode in enumerate(modes):
        isolation = draw(st.sampled_from(Isolation.values))
        words = ("note", "how", "filesystem_read", "filesystem_write", "network", "credentials", "approvals")
        postures.append(
            small.posture(
                mode,
                is_default=place == 0,
                isolation=isolation,
                tier="container" if isolation == "isolated" else None,
                primitives=["runc"] if draw(st.booleans()) else [],
                platforms=draw(st.sampled_from([["linux"], ["linux", "vendor-cloud"]])),
                rests_on=draw(st.sampled_from([["claim-0"], ["claim-0", "claim-1"]])),
                on_failure=draw(st.sampled_from(LEVELS["on_failure"].values)),
                levels={
                    name: draw(st.sampled_from(LEVELS[f"{name}_level"].values))
                    for name in ("read", "write", "network", "credentials", "approvals")
                },
                **{name: draw(maybe(texts())) for name in words},
            )
        )
    surface = {"slug": "cli", "name": draw(texts(100)), "kind": draw(st.sampled_from(SurfaceKind.values))}
    audit = {**surface, "is_published": True, "postures": postures, "claims": [draw(claims("claim-0"))]}
    audit["claims"].append(draw(claims("claim-1")))
    return small.agent(
        "codex",
        name=draw(texts(100)),
        vendor=draw(texts(100)),
        open_source=draw(st.sampled_from(OpenSource.values)),
        license=draw(maybe(texts(100))),
        audits=[audit],
    )


# The same examples in every run: a test that fails now and then is no news.
examples = hypothesis_settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@hypothesis_settings(examples, max_examples=100)
@given(primitives())
def test_any_document_survives_being_written_and_read(document: dict[str, Any]) -> None:
    data = files.dump(document)
    assert files.parse(data, RUNC) == document
    assert files.dump(files.parse(data, RUNC)) == data


@examples
@given(primitives())
def test_any_document_survives_the_database(tmp_path: Path, document: dict[str, Any]) -> None:
    content = small.documents()
    del content[DOCKER]
    content[RUNC] = document
    small.write(tmp_path, content)
    load(tmp_path, overwrite_all=True)
    assert dict(database_documents())[RUNC] == document


@examples
@given(agents())
def test_any_agent_survives_its_file_and_the_database(tmp_path: Path, document: dict[str, Any]) -> None:
    content = small.documents()
    content[CODEX] = document
    small.write(tmp_path, content)
    load(tmp_path, overwrite_all=True)
    assert dict(database_documents())[CODEX] == document


@pytest.mark.parametrize("text", TRICKY)
def test_a_tricky_text_comes_back_as_text(text: str) -> None:
    document = {"a": text, "b": [text, {"c": text}]}
    assert files.parse(files.dump(document), "a") == document


def test_one_object_in_two_places_is_written_out_twice() -> None:
    day = datetime.date(2026, 8, 21)
    claim = {"as_of": day, "sources": [small.DOC]}
    data = files.dump({"claims": [claim, claim], "as_of": day})
    assert b"&" not in data
    assert files.parse(data, "a") == {"claims": [claim, claim], "as_of": day}
