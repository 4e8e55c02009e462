"""Agents in the admin: added step by step, published when all is there, and refused with a line for every fault."""

import datetime

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audits.models import (
    Agent,
    AgentAudit,
    AgentBreak,
    Posture,
    PostureClaim,
    PosturePlatform,
    PosturePrimitive,
)
from evidence.models import Claim, Source
from tests.admin_form import AdminForm, curator_client, queries, text_of
from tests.factories import (
    make_agent,
    make_agent_break,
    make_audit,
    make_claim,
    make_platform,
    make_posture,
    make_primitive,
    make_tier,
)

pytestmark = pytest.mark.django_db

ADD = "/admin/audits/agent/add/"
AGENTS = "/admin/audits/agent/"
AUDITS = "/admin/audits/agentaudit/"
LEVELS = {f"{name}_level": "unknown" for name in ("read", "write", "network", "credentials", "approvals")}


def change(row: Agent | AgentAudit) -> str:
    return reverse(f"admin:audits_{row._meta.model_name}_change", args=[row.pk])


def type_posture(form: AdminForm, mode: str, **values: object) -> str:
    """Add a posture to a form, isolated by nothing unless `values` say otherwise."""
    unknown = {**LEVELS, "on_failure": "unknown"}
    return form.add("postures", **{"mode": mode, "position": 1000, "isolation": "none", **unknown, **values})


def faults(form: AdminForm | None) -> list[str]:
    """What the form says above all fields, an item a line."""
    assert form is not None
    return [item.text for item in form.page.select("#content-main form > div > .errorlist.nonfield > li")]


def everything() -> list[list[dict[str, object]]]:
    """All that a form of an audit could change."""
    models = (Agent, AgentAudit, AgentBreak, Posture, PosturePlatform, PosturePrimitive, PostureClaim, Claim, Source)
    return [list(model.objects.order_by("pk").values()) for model in models]


# ---- from nothing to a page ----


def test_a_curator_adds_an_agent_step_by_step_until_it_is_public() -> None:
    client = curator_client()
    linux, macos = make_platform(), make_platform("macos", name="macOS", position=2)
    sandbox, bwrap = make_tier("process-sandbox", name="Process sandbox"), make_primitive("bwrap", name="Bubblewrap")

    form = AdminForm(client, ADD)
    form.fields |= {"name": "Newcomer", "slug": "newcomer", "vendor": "New, Inc.", "open_source": "no"}
    form.add("audits", name="Newcomer CLI", slug="cli", kind="cli", position=1)
    form.add("breaks", identifier="CVE-2026-1", year=2026, summary="It got out.", url="https://nvd.nist.gov/")
    assert form.send() is None
    agent = Agent.objects.get()
    audit = agent.audits.get()
    assert not audit.is_published
    assert agent.breaks.get().identifier == "CVE-2026-1"

    link = AdminForm(client, change(agent)).page.select_one("#audits-0 .field-holds a")
    assert link is not None
    assert (link["href"], link.text) == (change(audit), "0 postures, 0 claims")

    form = AdminForm(client, change(audit))
    claim = form.add(
        "claims", slug="on-by-default", aspect="default", label="documented", sentence="On.", as_of="2026-11-01"
    )
    form.add(f"{claim}-sources", kind="doc", title="Its page", url="https://example.org/")
    assert form.send() is None
    claim_row = audit.claims.get()

    form = AdminForm(client, change(audit))
    reach = {"network": "no route out", "network_level": "off", "on_failure": "warns"}
    type_posture(
        form,
        "sandboxed",
        is_default="on",
        isolation="isolated",
        tier=sandbox.pk,
        on_platforms=[linux.pk],
        stands_on=[bwrap.pk],
        rests_on=[claim_row.pk],
        **reach,
    )
    type_posture(form, "off", how="--no-sandbox", on_platforms=[linux.pk, macos.pk], rests_on=[claim_row.pk])
    form.fields["is_published"] = "on"
    form.fields["claims-0-is_published"] = "on"
    assert form.send() is None

    posture = audit.postures.get(mode="sandboxed")
    assert (posture.tier, posture.network_level, posture.network) == (sandbox, "off", "no route out")
    assert list(posture.platforms.all()) == [linux]
    assert list(posture.primitives.all()) == [bwrap]
    assert list(posture.claims.all()) == [claim_row]
    assert set(audit.postures.get(mode="off").platforms.all()) == {linux, macos}

    matrix = text_of(client.get("/audits/"))
    assert "Newcomer" in matrix
    assert "Process sandbox" in matrix
    page = text_of(client.get("/audits/newcomer/"))
    for words in ("Newcomer CLI", "Process sandbox", "no route out", "--no-sandbox", "CVE-2026-1"):
        assert words in page


def test_a_draft_shows_nowhere_public(client: Client) -> None:
    draft = make_audit(make_agent("zebra"), name="Draft surface", is_published=False)
    make_claim(draft, sentence="Unheard words.")
    public = make_audit(make_agent("ostrich"), "cli", name="Public ways")
    half = make_audit(public.agent, "cloud", name="Draft surface", kind="cloud", is_published=False)
    make_claim(half, sentence="Unheard words.")
    make_posture(half, mode="secret-mode", is_default=False)
    for address in ("/audits/", "/audits/?rows=surfaces"):
        page = text_of(client.get(address))
        assert "ostrich" in page
        assert "zebra" not in page
        assert "Draft surface" not in page
    assert client.get("/audits/zebra/").status_code == 404
    page = text_of(client.get("/audits/ostrich/"))
    assert "Public ways" in page
    for words in ("Draft surface", "Unheard words", "secret-mode"):
        assert words not in page
    for question in ("zebra", "unheard words", "draft surface"):
        links = BeautifulSoup(client.get("/audits/", {"q": question}).content, "html.parser").select("main a")
        assert not [link for link in links if link.text.strip() in ("zebra", "ostrich")]
    assert "ostrich" in text_of(client.get("/audits/?q=public+ways"))


def test_publishing_shows_at_once_and_taking_it_back_hides() -> None:
    client = curator_client()
    audit = make_audit("back-and-forth", is_published=False)
    for publish, status in (("on", 200), (None, 404), ("on", 200)):
        form = AdminForm(client, change(audit))
        form.fields.pop("is_published", None)
        form.fields |= {"is_published": publish} if publish else {}
        assert form.send() is None
        assert client.get("/audits/back-and-forth/").status_code == status


# ---- refusals, each on its line, with what was typed kept ----


def incomplete() -> tuple[AgentAudit, list[str]]:
    """A draft with all that can be missing, and what is said when it is published."""
    audit = make_audit(make_agent("codex", name="Codex"), name="Codex CLI", is_published=False, postures=[])
    make_posture(audit, mode="read-only", is_default=False, claims=[], position=1)
    make_posture(audit, mode="full-access", is_default=False, claims=[], platforms=(), position=2)
    return audit, [
        "Codex CLI has no default posture, so it cannot be published.",
        "Posture read-only of Codex CLI names no claim that it rests on, so it cannot be published.",
        "Posture full-access of Codex CLI names no claim that it rests on, so it cannot be published.",
        "Posture full-access of Codex CLI names no platform, so it cannot be published.",
    ]


def test_publishing_what_is_incomplete_lists_every_fault_on_the_surfaces_page() -> None:
    audit, missing = incomplete()
    form = AdminForm(curator_client(), change(audit))
    form.fields |= {"is_published": "on", "name": "Typed, and kept"}
    again = form.send()
    assert faults(again) == [line.replace("Codex CLI", "Typed, and kept") for line in missing]
    assert again is not None
    assert again.fields["name"] == "Typed, and kept"
    assert again.fields["is_published"] == ["on"]
    audit.refresh_from_db()
    assert (audit.name, audit.is_published) == ("Codex CLI", False)


def test_publishing_what_is_incomplete_lists_every_fault_on_the_agents_page() -> None:
    audit, missing = incomplete()
    form = AdminForm(curator_client(), change(audit.agent))
    form.fields |= {"audits-0-is_published": "on", "vendor": "Typed, and kept"}
    again = form.send()
    assert faults(again) == missing
    assert again is not None
    assert again.fields["vendor"] == "Typed, and kept"
    assert again.fields["audits-0-is_published"] == ["on"]


@pytest.mark.django_db(transaction=True)
def test_publishing_what_is_incomplete_is_refused_at_a_real_commit() -> None:
    audit, missing = incomplete()
    form = AdminForm(curator_client(), change(audit))
    form.fields["is_published"] = "on"
    assert faults(form.send()) == missing
    assert not AgentAudit.objects.get().is_published


def test_a_draft_may_be_saved_incomplete() -> None:
    audit, _ = incomplete()
    form = AdminForm(curator_client(), change(audit))
    type_posture(form, "a third")
    assert form.send() is None
    assert audit.postures.count() == 3


@pytest.mark.parametrize(
    ("isolation", "tier"), [("isolated", False), ("none", True), ("undisclosed", True)], ids=lambda value: str(value)
)
def test_a_tier_if_and_only_if_isolated(isolation: str, tier: bool) -> None:
    audit = make_audit(is_published=False)
    rung = str(make_tier().pk) if tier else ""
    form = AdminForm(curator_client(), change(audit))
    form.fields |= {"postures-0-isolation": isolation, "postures-0-tier": rung, "postures-0-note": "Typed, and kept."}
    again = form.send()
    assert again is not None
    assert "A posture has a tier if it is isolated, and only then." in again.errors
    assert again.fields["postures-0-note"] == "Typed, and kept."
    assert again.fields["postures-0-tier"] == rung
    assert again.page.select("#postures-0 > details[open]")
    assert audit.postures.get().isolation == "none"


@pytest.mark.parametrize("is_published", [True, False])
def test_a_second_default_on_a_platform_is_refused_by_name(is_published: bool) -> None:
    linux, macos = make_platform("linux", name="Linux"), make_platform("macos", name="macOS")
    audit = make_audit(name="Codex CLI", postures=[{"platforms": ("linux", "macos")}], is_published=is_published)
    form = AdminForm(curator_client(), change(audit))
    platforms, grounds = [str(linux.pk), str(macos.pk)], [str(audit.claims.get().pk)]
    type_posture(form, "another", is_default="on", on_platforms=platforms, rests_on=grounds, note="Typed, and kept.")
    again = form.send()
    assert faults(again) == [
        "Codex CLI has more than one default posture on Linux.",
        "Codex CLI has more than one default posture on macOS.",
    ]
    assert again is not None
    assert again.fields["postures-1-note"] == "Typed, and kept."
    assert again.fields["postures-1-on_platforms"] == platforms
    assert again.fields["postures-1-rests_on"] == grounds
    assert again.page.select("#postures-1 > details[open]")
    assert not again.page.select("#postures-0 > details[open]")
    assert audit.postures.count() == 1


@pytest.mark.parametrize("gone", ["the default", "its platforms", "its claims", "its only claim", "the posture"])
def test_what_a_published_audit_needs_is_not_taken_away(gone: str) -> None:
    audit = make_audit(name="Codex CLI")
    make_posture(audit, mode="other", is_default=False)
    form = AdminForm(curator_client(), change(audit))
    match gone:
        case "the default":
            del form.fields["postures-0-is_default"]
        case "its platforms":
            del form.fields["postures-0-on_platforms"]
        case "its claims":
            del form.fields["postures-0-rests_on"]
        case "its only claim":
            form.fields["claims-0-DELETE"] = "on"
        case "the posture":
            form.fields["postures-0-DELETE"] = "on"
    before = everything()
    expected = {
        "the default": "Codex CLI has no default posture, so it cannot be published.",
        "the posture": "Codex CLI has no default posture, so it cannot be published.",
        "its platforms": "Posture default of Codex CLI names no platform, so it cannot be published.",
        "its claims": "Posture default of Codex CLI names no claim that it rests on, so it cannot be published.",
        "its only claim": "Posture default of Codex CLI names no claim that it rests on, so it cannot be published.",
    }
    assert faults(form.send()) == [expected[gone]]
    assert before == everything()


def test_a_posture_rests_on_claims_of_its_own_audit_only() -> None:
    audit, other = make_audit(), make_audit()
    form = AdminForm(curator_client(), change(audit))
    offered = [box["value"] for box in form.page.select('[name="postures-0-rests_on"]')]
    assert offered == [str(audit.claims.get().pk)]
    form.fields["postures-0-rests_on"] = [str(other.claims.get().pk)]
    again = form.send()
    assert again is not None
    assert "Select a valid choice." in again.errors


def test_an_unknown_level_is_refused() -> None:
    audit = make_audit()
    form = AdminForm(curator_client(), change(audit))
    form.fields["postures-0-network_level"] = "fast"
    again = form.send()
    assert again is not None
    assert "Select a valid choice. fast is not one of the available choices." in again.errors


def test_one_slug_names_one_surface_of_an_agent() -> None:
    audit = make_audit(make_agent(), "cli")
    form = AdminForm(curator_client(), change(audit.agent))
    form.add("audits", name="Again", slug="cli", kind="ide", position=2)
    again = form.send()
    assert again is not None
    assert "slug" in again.errors
    assert again.fields["audits-1-name"] == "Again"


@pytest.mark.parametrize("kind", ["primitive", "platform", "tier"])
def test_what_a_posture_stands_on_is_not_deleted(admin_client: Client, kind: str) -> None:
    row = {"primitive": make_primitive, "platform": make_platform, "tier": make_tier}[kind]()
    make_audit("codex", postures=[{"tier": "container", "primitives": (row,) if kind == "primitive" else ()}])
    address = reverse(f"admin:{row._meta.app_label}_{kind}_delete", args=[row.pk])
    page = text_of(admin_client.post(address, {"post": "yes", "why": "Gone upstream."}))
    assert "would require deleting the following protected related objects" in page
    assert "codex cli: default" in page
    row.refresh_from_db()


# ---- what is saved ----


def test_a_claim_ticked_and_deleted_at_once_goes_and_the_posture_keeps_the_other() -> None:
    audit = make_audit(postures=[])
    stays, goes = make_claim(audit, position=1), make_claim(audit, position=2)
    posture = make_posture(audit, claims=[stays])
    form = AdminForm(curator_client(), change(audit))
    form.fields |= {"postures-0-rests_on": [str(stays.pk), str(goes.pk)], "claims-1-DELETE": "on"}
    assert form.send() is None
    assert list(posture.claims.all()) == [stays]


def test_choices_are_exchanged_and_emptied() -> None:
    old, new, macos = make_primitive("old"), make_primitive("new"), make_platform("macos")
    audit = make_audit(postures=[{"primitives": (old,)}], is_published=False)
    form = AdminForm(curator_client(), change(audit))
    assert form.fields["postures-0-stands_on"] == [str(old.pk)]
    form.fields |= {"postures-0-stands_on": [str(new.pk)], "postures-0-on_platforms": [str(macos.pk)]}
    del form.fields["postures-0-rests_on"]
    assert form.send() is None
    posture = audit.postures.get()
    assert list(posture.primitives.all()) == [new]
    assert list(posture.platforms.all()) == [macos]
    assert not posture.claims.exists()


def test_saving_untouched_forms_changes_nothing() -> None:
    agent = make_agent(homepage="https://example.org/")
    make_agent_break(agent)
    audit = make_audit(agent, postures=[{"primitives": (make_primitive(),), "tier": "container"}])
    make_posture(audit, mode="other", is_default=False, platforms=("macos", "windows"), network="open, and unfiltered")
    client = curator_client()
    before = everything()
    for row in (agent, audit):
        assert AdminForm(client, change(row)).send() is None
        assert LogEntry.objects.latest("pk").get_change_message() == "No fields changed."
    assert before == everything()


def test_a_posture_that_somebody_else_deleted_is_named_and_the_rest_kept() -> None:
    audit = make_audit()
    gone = make_posture(audit, mode="gone", is_default=False, position=2000)
    form = AdminForm(curator_client(), change(audit))
    gone.delete()
    form.fields["postures-0-note"] = "Typed, and kept."
    again = form.send()
    assert again is not None
    assert "Somebody else has deleted this since you opened the page." in again.errors
    assert again.fields["postures-0-note"] == "Typed, and kept."
    again.fields["postures-1-DELETE"] = "on"
    # It was changed since it was opened, which is said once.
    told = again.send()
    assert told is not None
    assert "Somebody else has changed this since you opened it" in told.errors
    assert told.send() is None
    assert audit.postures.get().note == "Typed, and kept."


def test_slugs_stay_once_they_are_public() -> None:
    audit = make_audit("codex")
    client = curator_client()
    form = AdminForm(client, change(audit.agent))
    form.fields |= {"slug": "other", "audits-0-slug": "other"}
    assert form.send() is None
    form = AdminForm(client, change(audit))
    form.fields |= {"slug": "other", "agent": str(make_agent().pk)}
    assert form.send() is None
    audit.refresh_from_db()
    assert (audit.agent.slug, audit.slug) == ("codex", "cli")


def test_the_change_pages_link_to_what_is_public_and_not_to_drafts() -> None:
    audit, client = make_audit("codex"), curator_client()
    for row, end in ((audit, "/audits/codex/#cli"), (audit.agent, "/audits/codex/")):
        link = AdminForm(client, change(row)).page.select_one(".viewsitelink")
        assert link is not None
        assert link["href"].endswith(end)
    AgentAudit.objects.update(is_published=False)
    for row in (audit, audit.agent):
        page = AdminForm(client, change(row)).page
        assert not page.select(".viewsitelink")
        assert "View on site" not in page.text


def test_a_claim_of_an_audit_has_a_page_in_the_admin_and_a_place_in_the_list() -> None:
    audit, client = make_audit("codex"), curator_client()
    form = AdminForm(client, reverse("admin:evidence_claim_change", args=[audit.claims.get().pk]))
    assert form.fields["audit"] == str(audit.pk)
    form.fields["sentence"] = "Typed on the claim's own page."
    assert form.send() is None
    assert "Typed on the claim's own page." in text_of(client.get("/admin/evidence/claim/?q=codex"))


def test_a_claim_that_a_posture_rests_on_alone_stays_whoever_deletes_it() -> None:
    claim = make_audit(name="Codex CLI").claims.get()
    client = curator_client()
    page = client.post(
        reverse("admin:evidence_claim_delete", args=[claim.pk]), {"post": "yes", "why": "Gone upstream."}, follow=True
    )
    assert "Posture default of Codex CLI names no claim that it rests on" in text_of(page)
    action = {"action": "delete_selected", "_selected_action": [claim.pk], "post": "yes", "why": "Gone upstream."}
    page = client.post("/admin/evidence/claim/", action, follow=True)
    assert "Posture default of Codex CLI names no claim that it rests on" in text_of(page)
    claim.refresh_from_db()


# ---- lists ----


def badges(client: Client, address: str) -> dict[str, list[str]]:
    response = client.get(address)
    assert response.status_code == 200
    rows = BeautifulSoup(response.content, "html.parser").select("#result_list tbody tr")
    return {row.select_one(".field-name").text: [badge.text for badge in row.select(".badge")] for row in rows}  # type: ignore[union-attr]


@pytest.fixture
def faulty_and_sound(db: None) -> None:
    """Agents and surfaces named after what is wrong with them."""
    today = timezone.localdate()
    due, stale = (today - datetime.timedelta(days=days + 1) for days in settings.CLAIM_AGES["audit"])
    sound = make_audit(make_agent("sound", vendor="Sound, Inc.", open_source="yes"), name="sound cli")
    draft = make_audit(sound.agent, "cloud", name="sound cloud", kind="cloud", is_published=False, postures=[])
    make_posture(draft, "microvm", is_default=False, platforms=(), claims=[])
    make_claim(draft)
    Claim.objects.update(as_of=today)
    make_agent("empty")
    make_audit("bare", name="bare cli", is_published=False, postures=[])
    old = make_audit("old", name="old cli", postures=[{"tier": "container", "platforms": ("macos",)}])
    old.claims.update(as_of=due)
    make_claim(old, as_of=stale)
    make_claim(old, as_of=stale)


def test_the_lists_say_what_is_wrong(faulty_and_sound: None) -> None:
    client = curator_client()
    assert badges(client, AGENTS) == {
        "bare": ["draft"],
        "empty": ["no surface"],
        "old": ["2 stale", "1 due for a check"],
        "sound": ["1 surface in draft"],
    }


def test_the_list_of_surfaces_says_what_is_wrong(faulty_and_sound: None) -> None:
    client = curator_client()
    assert badges(client, AUDITS) == {
        "bare cli": ["draft", "no default posture", "no claims"],
        "old cli": ["2 stale", "1 due for a check"],
        "sound cli": ["in order"],
        "sound cloud": [
            "draft",
            "no default posture",
            "1 posture without a claim",
            "1 posture without a platform",
        ],
    }


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("agent/?open_source__exact=yes", {"sound"}),
        ("agent/?vendor=Sound, Inc.", {"sound"}),
        ("agent/?audits__kind__exact=cloud", {"sound"}),
        ("agent/?audits__is_published__exact=0", {"sound", "bare"}),
        ("agent/?audits__postures__isolation__exact=isolated", {"sound", "old"}),
        ("agent/?audits__postures__tier__id__exact={container}", {"old"}),
        ("agent/?audits__postures__platforms__id__exact={macos}", {"old"}),
        ("agent/?fault=no_surface", {"empty"}),
        ("agent/?fault=not_public", {"empty", "bare"}),
        ("agent/?fault=draft", {"sound", "bare"}),
        ("agent/?fault=stale", {"old"}),
        ("agent/?fault=due", {"old"}),
        ("agent/?q=nothing like it&_facets=True", set()),
        ("agent/?q=sound&_facets=True&o=1", {"sound"}),
        ("agentaudit/?kind__exact=cloud", {"sound cloud"}),
        ("agentaudit/?is_published__exact=1", {"sound cli", "old cli"}),
        ("agentaudit/?postures__isolation__exact=none", {"sound cli"}),
        ("agentaudit/?postures__tier__id__exact={container}", {"old cli"}),
        ("agentaudit/?postures__platforms__id__exact={macos}", {"old cli"}),
        ("agentaudit/?agent__open_source__exact=yes", {"sound cli", "sound cloud"}),
        ("agentaudit/?agent__vendor=Sound, Inc.", {"sound cli", "sound cloud"}),
        ("agentaudit/?fault=draft", {"sound cloud", "bare cli"}),
        ("agentaudit/?fault=no_default", {"sound cloud", "bare cli"}),
        ("agentaudit/?fault=groundless", {"sound cloud"}),
        ("agentaudit/?fault=nowhere", {"sound cloud"}),
        ("agentaudit/?fault=no_claims", {"bare cli"}),
        ("agentaudit/?fault=stale", {"old cli"}),
        ("agentaudit/?fault=due&_facets=True&q=old&o=1", {"old cli"}),
        ("agentaudit/?q=sound", {"sound cli", "sound cloud"}),
        ("agentaudit/?q=cloud", {"sound cloud"}),
    ],
)
def test_the_lists_are_narrowed(faulty_and_sound: None, query: str, names: set[str]) -> None:
    ids = {"container": make_tier("container").pk, "macos": make_platform("macos").pk}
    assert set(badges(curator_client(), "/admin/audits/" + query.format(**ids))) == names


def test_the_lists_are_searched_as_the_site_is(admin_client: Client) -> None:
    make_audit(make_agent("codex", name="Codex", vendor="OpenAI"), name="Codex CLI")
    make_claim(make_audit(make_agent("cursor", name="Cursor"), name="Cursor IDE"), sentence="It is not Codex.")
    assert list(badges(admin_client, AGENTS + "?q=codex")) == ["Codex", "Cursor"]
    assert list(badges(admin_client, AGENTS + "?q=codex&o=-1")) == ["Cursor", "Codex"]
    assert list(badges(admin_client, AGENTS + "?q=codxe")) == ["Codex"]
    assert list(badges(admin_client, AGENTS + "?q=openai")) == ["Codex"]
    assert list(badges(admin_client, AGENTS + "?q=%20")) == ["Codex", "Cursor"]
    assert list(badges(admin_client, AUDITS + "?q=codex")) == ["Codex CLI", "Cursor IDE"]
    assert list(badges(admin_client, AUDITS + "?q=codxe")) == ["Codex CLI"]


def test_primitives_and_subjects_are_found_by_the_search_of_the_site() -> None:
    make_primitive("firecracker", name="Firecracker")
    make_audit(make_agent("codex"), name="Codex CLI")
    client = curator_client()
    for term, model, field, texts in (
        ("firecr", "app_label=audits&model_name=posture", "primitives", ["Firecracker"]),
        ("codxe", "app_label=evidence&model_name=claim", "audit", ["codex: Codex CLI"]),
        ("codxe", "app_label=audits&model_name=agentaudit", "agent", ["codex"]),
    ):
        found = client.get(f"/admin/autocomplete/?{model}&field_name={field}&term={term}").json()
        assert [row["text"] for row in found["results"]] == texts


def test_pages_ask_as_much_for_many_rows_as_for_few() -> None:
    client = curator_client()
    audit = make_audit(make_agent("codex"))
    pages = [AGENTS, AUDITS, change(audit.agent), change(audit), "/admin/evidence/claim/"]

    def more(number: int) -> None:
        for _ in range(number):
            make_audit()
            make_audit(audit.agent, f"surface-{AgentAudit.objects.count()}")
            make_posture(audit, "container", is_default=False, primitives=(make_primitive(),), platforms=("macos",))
            make_agent_break(audit.agent, f"CVE-2026-{AgentBreak.objects.count()}")

    more(2)
    for page in pages:
        queries(client, page)  # what is asked for once and kept
    few = {page: queries(client, page) for page in pages if page != change(audit)}
    # Each claim has its sources, which are asked for one by one: that is so on a primitive's page too.
    claims = audit.claims.count()
    of_the_audit = queries(client, change(audit)) - claims
    more(10)
    assert {page: queries(client, page) for page in few} == few
    assert queries(client, change(audit)) - audit.claims.count() == of_the_audit
    assert max(few.values()) <= 16
