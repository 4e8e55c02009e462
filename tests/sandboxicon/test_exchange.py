"""A selection out of the admin and back: what goes out comes in unchanged, and nothing comes in half or unseen."""

import csv
import io
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evidence.models import Claim
from primitives.models import Primitive
from sandboxicon.content import files
from sandboxicon.content.loading import database_files
from tests.admin_form import AdminForm, curator_client, text_of
from tests.content import small
from tests.factories import make_audit, make_claim, make_primitive, make_source

pytestmark = pytest.mark.django_db

IMPORT = "/admin/import/"


def exported(client: Client, model: str, rows: Any) -> dict[str, bytes]:
    chosen = {"action": "export_yaml", "_selected_action": [row.pk for row in rows]}
    response = client.post(f"/admin/{model}/", chosen)
    assert response["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(content: dict[str, bytes]) -> SimpleUploadedFile:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return SimpleUploadedFile("some.zip", made.getvalue())


def shown(client: Client, *uploads: SimpleUploadedFile, folder: str = "primitives") -> Any:
    return client.post(IMPORT, {"chosen": uploads, "folder": folder})


def test_what_goes_out_comes_in_unchanged_and_what_was_changed_is_shown_before_it_is_done() -> None:
    client = curator_client()
    kept, gone = make_primitive("kept"), make_primitive("runc", is_published=False, builds_on=(make_primitive("part"),))
    make_claim(gone, slug="one", is_published=False)
    before = exported(client, "primitives/primitive", [kept, gone])
    assert before == {path: data for path, data in database_files().items() if path in before}
    assert len(before) == 2

    assert "as before primitives/kept.yaml" in text_of(shown(client, archive_of(before)))
    changed = files.parse(before["primitives/runc.yaml"], "") | {"summary": "It starts boxes."}
    changed["claims"][0]["sentence"] = "One says so."
    new = small.primitive("crun", tier="container", category="sandbox-tool")
    upload = archive_of(
        {**before, "primitives/runc.yaml": files.dump(changed), "primitives/crun.yaml": files.dump(new)}
    )
    page = shown(client, upload)
    words = text_of(page)
    for part in ("created primitives/crun.yaml", "updated primitives/runc.yaml", "+summary: It starts boxes."):
        assert part in words
    assert Primitive.objects.filter(slug="crun").count() == 0, "shown, not done"

    form = AdminForm(client, IMPORT, page)
    form.fields["why"] = ""
    again = form.send()
    assert again is not None
    assert "This field is required" in again.errors
    again.fields["why"] = "Release 2 read."
    assert again.send() is None
    gone.refresh_from_db()
    assert gone.summary == "It starts boxes."
    assert gone.claims.get().sentence == "One says so."
    event = gone.claims.get().events.order_by("-pgh_id")[0]  # type: ignore[attr-defined]
    assert event.pgh_context.metadata["why"] == "Release 2 read."
    assert not Primitive.objects.get(slug="runc").is_published
    tampered = AdminForm(
        client,
        IMPORT,
        shown(client, archive_of({"primitives/new.yaml": files.dump({**new, "slug": "new", "name": "N"})})),
    )
    tampered.fields |= {"carried": str(tampered.fields["carried"])[:-3] + "abc", "why": "x"}
    assert tampered.send() is not None
    assert not Primitive.objects.filter(slug="new").exists()


def test_each_problem_is_said_with_its_place_and_nothing_is_changed() -> None:
    client = curator_client()
    make_primitive("part")
    good = small.primitive("good", tier="container", category="sandbox-tool")
    bad = small.primitive(
        "bad",
        tier="nowhere",
        category="sandbox-tool",
        claims=[small.claim("one", label="verified-code"), small.claim("two", label="sure")],
    )
    page = shown(client, archive_of({"primitives/good.yaml": files.dump(good), "primitives/bad.yaml": files.dump(bad)}))
    assert page.status_code == 422
    for problem in ("bad.yaml: tier: no such entry: nowhere", "bad.yaml: claims[2].label"):
        assert problem in text_of(page)
    bad |= {"tier": "container", "claims": [small.claim("one", label="verified-code")]}
    page = shown(
        client, SimpleUploadedFile("bad.yaml", files.dump(bad)), SimpleUploadedFile("good.yaml", files.dump(good))
    )
    assert "primitives/bad.yaml: Claim one: verified-code needs a code source" in text_of(page)
    for name, content in (
        ("some.zip", b"no archive"),
        ("../../etc/passwd.yaml", b"a: 1"),
        ("a.yaml", b"\xff"),
        ("a.yaml", b"- 1"),
        ("b.yaml", b"slug: a"),
        ("a.txt", b"slug: a"),
    ):
        page = shown(client, SimpleUploadedFile(name, content))
        assert page.status_code in (200, 422)
        assert b"errorlist" in page.content
    assert shown(client, archive_of({"../a.yaml": b"slug: a"})).status_code == 200
    assert list(Primitive.objects.values_list("slug", flat=True)) == ["part"]


def test_only_who_may_change_the_content_may_import(client: Client) -> None:
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    assert client.get(IMPORT).status_code == 403
    assert shown(client, archive_of({"primitives/a.yaml": b"slug: a"})).status_code == 403


def test_claims_go_out_as_a_table_in_which_nothing_is_a_formula() -> None:
    client = curator_client()
    claim = make_claim(
        make_primitive("gvisor"), slug="sum", sentence='=HYPERLINK("https://evil.example")', version="-1+1"
    )
    make_source(claim, "code")
    chosen = {"action": "export_csv", "_selected_action": [claim.pk]}
    response = client.post("/admin/evidence/claim/", chosen)
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [row["address"] for row in rows] == ["primitive.gvisor.sum"]
    assert rows[0]["sentence"] == "'" + claim.sentence
    assert rows[0]["version"] == "'-1+1"
    assert "https://github.com/google/gvisor/blob/" in rows[0]["sources"]
    assert Claim.objects.get().sentence.startswith("=")


def test_files_do_not_change_a_default_past_the_second_curator() -> None:
    client = curator_client()
    audit = make_audit("codex")
    content = exported(client, "audits/agent", [audit.agent])
    document = files.parse(content["agents/codex.yaml"], "")
    document["audits"][0]["postures"][0]["isolation"] = "undisclosed"
    changed = {"agents/codex.yaml": files.dump(document)}
    assert "updated agents/codex.yaml" in text_of(shown(client, archive_of(changed)))
    User.objects.create_superuser("second")
    assert "by default on linux, which a second curator has to approve" in text_of(shown(client, archive_of(changed)))
