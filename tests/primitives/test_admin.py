"""Entries in the admin: edited with all that belongs to them, refused with a message, and listed with what is wrong."""

import datetime
import re

import pytest
from bs4 import BeautifulSoup
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evidence.models import Claim, Source
from primitives.models import BuildsOn, Category, Platform, Primitive
from tests.admin_form import AdminForm, curator_client, queries, text_of
from tests.factories import COMMIT, make_break, make_category, make_claim, make_platform, make_primitive, make_tier

ADD = "/admin/primitives/primitive/add/"
LIST = "/admin/primitives/primitive/"


def change(primitive: Primitive) -> str:
    return reverse("admin:primitives_primitive_change", args=[primitive.pk])


@pytest.mark.django_db
def test_a_curator_edits_a_claim_and_the_page_of_the_entry_shows_it() -> None:
    primitive = make_primitive("gvisor")
    make_claim(primitive)
    client = curator_client()
    form = AdminForm(client, change(primitive))
    form.fields["claims-0-sentence"] = "What the curator wrote."
    assert form.send() is None
    assert Claim.objects.get().sentence == "What the curator wrote."
    assert "What the curator wrote." in text_of(client.get("/primitives/gvisor/"))


@pytest.mark.django_db
def test_a_curator_adds_a_claim_with_a_source() -> None:
    primitive = make_primitive("gvisor")
    client = curator_client()
    form = AdminForm(client, change(primitive))
    claim = form.add(
        "claims", slug="sentry", aspect="boundary", label="verified-code", sentence="A claim.", as_of="2026-08-21"
    )
    form.add(f"{claim}-sources", kind="code", repo="google/gvisor", commit=COMMIT, path="pkg/a.go", lines="7")
    assert form.send() is None
    assert primitive.claims.get().sources.get().path == "pkg/a.go"
    assert "pkg/a.go" not in client.get("/primitives/gvisor/").content.decode(), "a new claim is a draft"
    form = AdminForm(client, change(primitive))
    form.fields["claims-0-is_published"] = ["on"]
    assert form.send() is None
    assert "pkg/a.go" in client.get("/primitives/gvisor/").content.decode()


@pytest.mark.django_db
def test_a_curator_adds_an_entry_with_all_that_belongs_to_it() -> None:
    part, tier, category, platform = make_primitive("seccomp"), make_tier(), make_category(), make_platform()
    form = AdminForm(curator_client(), ADD)
    form.fields |= {"name": "New", "slug": "new", "summary": "It is new.", "tier": str(tier.pk)}
    form.fields |= {"category": str(category.pk), "isolates": ["kernel", "filesystem"]}
    form.add("supportedplatform_set", platform=platform.pk)
    form.add("parts", part=part.pk)
    form.add("breaks", identifier="CVE-2026-1", year=2026, summary="Out of the box.", url="https://nvd.nist.gov/")
    claim = form.add("claims", slug="one", aspect="boundary", label="documented", sentence="One.", as_of="2026-08-21")
    form.add(f"{claim}-sources", kind="doc", title="Its page", url="https://example.org/")
    assert form.send() is None
    new = Primitive.objects.get(slug="new")
    assert new.isolates == ["filesystem", "kernel"], "in the order of lists, whatever the order of the ticks"
    assert list(new.platforms.all()) == [platform]
    assert list(new.builds_on.all()) == [part]
    assert new.breaks.get().identifier == "CVE-2026-1"
    assert new.claims.get().sources.get().title == "Its page"


@pytest.mark.django_db
@pytest.mark.parametrize("label", ["verified-code", "documented", "undisclosed", "inferred"])
def test_a_new_claim_without_its_evidence_is_refused_and_kept(admin_client: Client, label: str) -> None:
    primitive = make_primitive("gvisor")
    form = AdminForm(admin_client, change(primitive))
    form.fields["summary"] = "Typed above."
    form.add("claims", slug="sentry", aspect="boundary", label=label, sentence="Typed below.", as_of="2026-08-21")
    again = form.send()
    assert again is not None
    assert f"Claim sentry: {label} needs" in again.errors
    assert again.fields["summary"] == "Typed above."
    assert again.fields["claims-0-sentence"] == "Typed below."
    primitive.refresh_from_db()
    assert primitive.summary == "What gvisor is."
    assert not Claim.objects.exists()


@pytest.mark.django_db
def test_a_refused_claim_is_shown_unfolded_and_the_others_folded(admin_client: Client) -> None:
    primitive = make_primitive()
    make_claim(primitive, slug="other")
    make_claim(primitive, slug="wrong")
    form = AdminForm(admin_client, change(primitive))
    assert not form.page.select("#claims-0 > details[open], #claims-1 > details[open]")
    form.fields["claims-1-sources-0-DELETE"] = "on"
    again = form.send()
    assert again is not None
    assert "Claim wrong: documented needs" in again.errors
    assert again.page.select("#claims-1 > details[open]")
    assert not again.page.select("#claims-0 > details[open]")
    assert Source.objects.count() == 2


@pytest.mark.django_db
def test_a_new_claim_of_which_only_a_source_was_typed_is_incomplete(admin_client: Client) -> None:
    form = AdminForm(admin_client, change(make_primitive()))
    claim = form.add("claims")
    form.add(f"{claim}-sources", kind="doc", title="Its page", url="https://example.org/")
    again = form.send()
    assert again is not None
    assert "This field is required." in again.errors
    assert again.fields["claims-0-sources-0-title"] == "Its page"


@pytest.mark.django_db
def test_a_claim_goes_with_its_sources(admin_client: Client) -> None:
    primitive = make_primitive()
    make_claim(primitive)
    form = AdminForm(admin_client, change(primitive))
    # Only a browser with JavaScript ticks the sources too.
    form.fields |= {"claims-0-DELETE": "on", "claims-0-sources-0-title": ""}
    assert form.send() is None
    assert not Claim.objects.exists()
    assert not Source.objects.exists()


@pytest.mark.django_db
def test_a_claim_that_somebody_else_deleted_is_named_and_the_rest_kept(admin_client: Client) -> None:
    primitive = make_primitive()
    gone, stays = make_claim(primitive, position=1), make_claim(primitive, position=2)
    form = AdminForm(admin_client, change(primitive))
    gone.delete()
    form.fields["claims-1-sentence"] = "Typed, and kept."
    again = form.send()
    assert again is not None
    assert "Somebody else has deleted this since you opened the page." in again.errors
    assert again.fields["claims-1-sentence"] == "Typed, and kept."
    assert stays.slug in again.page.select_one("#claims-1 h3").text  # type: ignore[union-attr]
    again.fields["claims-0-DELETE"] = "on"
    # What else that somebody changed, this curator has not been told yet.
    told = again.send()
    assert told is not None
    assert "Somebody else has changed this since you opened it" in told.errors
    assert told.send() is None
    assert Claim.objects.get().sentence == "Typed, and kept."


@pytest.mark.django_db
def test_a_circle_of_parts_is_refused_with_its_way(admin_client: Client) -> None:
    runc = make_primitive("runc")
    docker = make_primitive("docker", builds_on=(runc,))
    form = AdminForm(admin_client, change(runc))
    form.add("parts", part=docker.pk)
    form.fields["summary"] = "Typed, and kept."
    again = form.send()
    assert again is not None
    # Which of the two it begins with depends on which link is checked first.
    assert re.search(r"What builds on what goes in a circle: (runc|docker) on \w+ on \1\.", again.errors)
    assert again.fields["summary"] == "Typed, and kept."
    assert again.fields["parts-0-part"] == str(docker.pk)
    assert BuildsOn.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_circle_is_refused_at_a_real_commit(admin_client: Client) -> None:
    runc = make_primitive("runc")
    docker = make_primitive("docker", builds_on=(runc,))
    form = AdminForm(admin_client, change(runc))
    form.add("parts", part=docker.pk)
    again = form.send()
    assert again is not None
    assert "goes in a circle: runc on docker on runc." in again.errors
    assert BuildsOn.objects.count() == 1


@pytest.mark.django_db
def test_an_entry_that_builds_on_itself_is_refused(admin_client: Client) -> None:
    primitive = make_primitive()
    form = AdminForm(admin_client, change(primitive))
    form.add("parts", part=primitive.pk)
    again = form.send()
    assert again is not None
    assert "A primitive cannot build on itself." in again.errors
    assert not BuildsOn.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("make", [make_category, make_platform])
def test_what_is_in_use_is_not_deleted(admin_client: Client, make) -> None:
    row = make()
    make_primitive("gvisor")
    address = f"admin:primitives_{row._meta.model_name}"
    page = admin_client.post(reverse(f"{address}_delete", args=[row.pk]), {"post": "yes", "why": "Gone upstream."})
    assert page.status_code == 200
    assert "would require deleting the following protected related objects" in text_of(page)
    assert "gvisor" in text_of(page)
    action = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes", "why": "Gone upstream."}
    page = admin_client.post(reverse(f"{address}_changelist"), action)
    assert page.status_code == 200
    assert "would require deleting the following protected related objects" in text_of(page)
    assert type(row).objects.get() == row


@pytest.mark.django_db
def test_what_is_in_no_use_is_deleted(admin_client: Client) -> None:
    category, platform = make_category(), make_platform()
    assert (
        admin_client.post(
            reverse("admin:primitives_category_delete", args=[category.pk]), {"post": "yes", "why": "Gone upstream."}
        ).status_code
        == 302
    )
    action = {"action": "delete_selected", "_selected_action": [platform.pk], "post": "yes", "why": "Gone upstream."}
    assert admin_client.post(reverse("admin:primitives_platform_changelist"), action).status_code == 302
    assert not Category.objects.exists()
    assert not Platform.objects.exists()


@pytest.mark.django_db
def test_aliases_are_one_a_line_and_may_hold_a_comma(admin_client: Client) -> None:
    primitive = make_primitive(aliases=["runsc", "Sandbox, the first"])
    form = AdminForm(admin_client, change(primitive))
    assert form.fields["aliases"] == "runsc\nSandbox, the first"
    form.fields["aliases"] = "runsc\r\n\r\n  Sandbox, the first \r\ngVisor\r\n"
    assert form.send() is None
    primitive.refresh_from_db()
    assert primitive.aliases == ["runsc", "Sandbox, the first", "gVisor"]


@pytest.mark.django_db
def test_the_longest_entries_are_saved_whole(admin_client: Client) -> None:
    primitive = make_primitive()
    for number in range(26):
        make_claim(primitive, sources=["doc", "code", "package"], position=number)
    form = AdminForm(admin_client, change(primitive))
    form.fields["claims-25-sources-2-title"] = "Changed."
    assert form.send() is None
    assert Source.objects.filter(title="Changed.").count() == 1
    assert len(form.fields) > 1000


@pytest.mark.django_db
def test_saving_an_untouched_form_changes_nothing(admin_client: Client) -> None:
    primitive = make_primitive(aliases=["a", "b"], isolates=["network", "kernel"], builds_on=(make_primitive(),))
    make_claim(primitive)
    make_break(primitive)
    before = [list(model.objects.order_by("pk").values()) for model in (Primitive, Claim, Source)]
    assert AdminForm(admin_client, change(primitive)).send() is None
    assert before == [list(model.objects.order_by("pk").values()) for model in (Primitive, Claim, Source)]
    assert LogEntry.objects.get().get_change_message() == "No fields changed."


@pytest.mark.django_db
def test_slugs_stay_once_they_are_public(admin_client: Client) -> None:
    primitive = make_primitive("gvisor")
    make_claim(primitive, slug="sentry")
    form = AdminForm(admin_client, change(primitive))
    form.fields |= {"slug": "other", "claims-0-slug": "other"}
    assert form.send() is None
    assert Primitive.objects.get().slug == "gvisor"
    assert Claim.objects.get().slug == "sentry"


@pytest.mark.django_db
def test_the_change_page_links_to_the_page_of_the_entry(admin_client: Client) -> None:
    form = AdminForm(admin_client, change(make_primitive("gvisor")))
    link = form.page.select_one(".viewsitelink")
    assert link is not None
    assert link["href"] == "/primitives/gvisor/"
    draft = AdminForm(admin_client, change(make_primitive("draft", is_published=False)))
    assert not draft.page.select(".viewsitelink")


def badges(client: Client, query: str = "") -> dict[str, list[str]]:
    response = client.get(LIST + query)
    assert response.status_code == 200
    rows = BeautifulSoup(response.content, "html.parser").select("#result_list tbody tr")
    return {row.select_one(".field-name").text: [badge.text for badge in row.select(".badge")] for row in rows}  # type: ignore[union-attr]


@pytest.fixture
def faulty_and_sound(db: None) -> None:
    """Primitives named after what is wrong with them."""
    today = timezone.localdate()
    due, stale = today - datetime.timedelta(days=181), today - datetime.timedelta(days=366)
    make_claim(make_primitive("sound", platforms=("linux", "macos")), as_of=today)
    make_primitive("no-claims")
    make_claim(make_primitive("no-boundary"), aspect="network", as_of=today)
    make_claim(make_primitive("no-platform", platforms=()), as_of=today)
    old = make_primitive("old", tier=make_tier("microvm"), category=make_category("vmm"), status="archived")
    make_claim(old, "inferred", as_of=due)
    make_claim(old, as_of=stale)
    make_claim(old, as_of=stale)


@pytest.mark.django_db
def test_the_list_says_what_is_wrong_with_each_entry(faulty_and_sound: None, admin_client: Client) -> None:
    assert badges(admin_client) == {
        "no-boundary": ["no claim about the boundary"],
        "no-claims": ["no claims"],
        "no-platform": ["no platform"],
        "old": ["2 stale", "1 due for a check"],
        "sound": ["in order"],
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("?tier__id__exact={microvm}", {"old"}),
        ("?category__id__exact={vmm}", {"old"}),
        ("?status__exact=archived", {"old"}),
        ("?platforms__id__exact={macos}", {"sound"}),
        ("?label=inferred", {"old"}),
        ("?freshness=due", {"old"}),
        ("?freshness=stale", {"old"}),
        ("?freshness=fresh", {"sound", "no-boundary", "no-platform"}),
        ("?fault=no_claims", {"no-claims"}),
        ("?fault=no_boundary", {"no-boundary", "no-claims"}),
        ("?fault=no_platform", {"no-platform"}),
        ("?fault=stale", {"old"}),
        ("?fault=due", {"old"}),
        ("?fault=nonsense&_facets=True", {"sound", "no-claims", "no-boundary", "no-platform", "old"}),
        ("?tier__id__exact={microvm}&fault=stale&label=inferred&_facets=True&q=old&o=3.-4", {"old"}),
    ],
)
def test_the_list_is_narrowed(faulty_and_sound: None, admin_client: Client, query: str, names: set[str]) -> None:
    ids = {"microvm": make_tier("microvm").pk, "vmm": make_category("vmm").pk, "macos": make_platform("macos").pk}
    assert set(badges(admin_client, query.format(**ids))) == names


@pytest.mark.django_db
def test_the_list_is_searched_as_the_site_is(admin_client: Client) -> None:
    make_primitive("firecracker", name="Firecracker", aliases=["fc"])
    make_claim(make_primitive("gvisor", name="gVisor"), sentence="It is not Firecracker.")
    make_primitive("runc")
    assert list(badges(admin_client, "?q=firecracker")) == ["Firecracker", "gVisor"]
    assert list(badges(admin_client, "?q=firecracker&o=-1")) == ["gVisor", "Firecracker"]
    assert list(badges(admin_client, "?q=fircracker")) == ["Firecracker"]
    assert list(badges(admin_client, "?q=fc")) == ["Firecracker"]
    assert list(badges(admin_client, "?q=%20")) == ["Firecracker", "gVisor", "runc"]


@pytest.mark.django_db
def test_parts_are_found_by_the_search_of_the_site(admin_client: Client) -> None:
    make_primitive("firecracker", name="Firecracker")
    address = "/admin/autocomplete/?app_label=primitives&model_name=buildson&field_name=part&term=firecr"
    assert [row["text"] for row in admin_client.get(address).json()["results"]] == ["Firecracker"]


@pytest.mark.django_db
def test_the_list_asks_as_much_for_many_entries_as_for_few(admin_client: Client) -> None:
    for _ in range(10):
        make_claim(make_primitive())
    few = queries(admin_client, LIST)
    for _ in range(50):
        make_claim(make_primitive())
    assert queries(admin_client, LIST) == few <= 10


@pytest.mark.django_db
@pytest.mark.parametrize("make", [make_category, make_platform])
def test_categories_and_platforms_keep_their_slugs(admin_client: Client, make) -> None:
    row = make()
    form = AdminForm(admin_client, reverse(f"admin:primitives_{row._meta.model_name}_change", args=[row.pk]))
    form.fields |= {"slug": "other", "name": "Other"}
    assert form.send() is None
    row.refresh_from_db()
    assert (row.name, row.slug != "other") == ("Other", True)
