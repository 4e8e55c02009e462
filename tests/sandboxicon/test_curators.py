"""The group Curators, and the admin around it."""

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from tests.admin_form import curator_client, text_of
from tests.factories import make_agent, make_audit, make_primitive, make_tier

NESTING = ("environment", "inner", "cell", "errortext")
RIGHTS = {
    *(
        f"{action}_{model}"
        for model in (
            *("claim", "source", "break", "supportedplatform", "buildson"),
            *("posture", "postureplatform", "postureprimitive", "postureclaim", "agentbreak", "innerprimitive", "fix"),
        )
        for action in ("add", "change", "delete", "view")
    ),
    *(f"{action}_{model}" for model in ("primitive", "agent", "agentaudit") for action in ("add", "change", "view")),
    *(f"{action}_{model}" for model in NESTING for action in ("add", "change", "view")),
    *(f"{action}_{model}" for model in ("tier", "category", "platform") for action in ("change", "view")),
    *(f"{action}_correction" for action in ("change", "delete", "view")),
    *(f"{action}_proposal" for action in ("change", "view")),
    *("view_formeraddress", "view_withdrawn", "change_withdrawn"),
}


def rights() -> set[str]:
    return set(Group.objects.get(name="Curators").permissions.values_list("codename", flat=True))


@pytest.mark.django_db
def test_curators_have_the_rights_that_they_need_and_no_others() -> None:
    assert rights() == RIGHTS


@pytest.mark.django_db(transaction=True)
def test_the_migration_that_makes_the_group_goes_back_and_forth() -> None:
    try:
        call_command("migrate", "sandboxicon", "0001", verbosity=0)
        assert not Group.objects.exists()
    finally:
        call_command("migrate", verbosity=0)
    assert rights() == RIGHTS


@pytest.mark.django_db(transaction=True)
def test_the_migration_that_adds_audits_goes_back_and_forth() -> None:
    try:
        call_command("migrate", "sandboxicon", "0002", verbosity=0)
        later = (
            "agent",
            "posture",
            "innerprimitive",
            "fix",
            "correction",
            "proposal",
            "withdrawn",
            "formeraddress",
            *NESTING,
        )
        assert rights() == {right for right in RIGHTS if not any(name in right for name in later)}
    finally:
        call_command("migrate", verbosity=0)
    assert rights() == RIGHTS


@pytest.mark.django_db
@pytest.mark.parametrize("make", [make_primitive, make_agent, make_audit])
def test_a_curator_cannot_delete_an_entry(make) -> None:
    entry = make()
    client = curator_client()
    admin = f"admin:{entry._meta.app_label}_{entry._meta.model_name}"
    address = reverse(f"{admin}_delete", args=[entry.pk])
    assert client.get(address).status_code == 403
    assert client.post(address, {"post": "yes", "why": "Gone upstream."}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [entry.pk], "post": "yes", "why": "Gone upstream."}
    client.post(reverse(f"{admin}_changelist"), action)
    entry.refresh_from_db()


@pytest.mark.django_db
def test_a_curator_cannot_add_or_delete_a_rung() -> None:
    client = curator_client()
    assert client.get("/admin/ladder/tier/add/").status_code == 403
    assert (
        client.post(
            reverse("admin:ladder_tier_delete", args=[make_tier().pk]), {"post": "yes", "why": "Gone upstream."}
        ).status_code
        == 403
    )


@pytest.mark.django_db
def test_a_curator_sees_no_users_and_no_groups() -> None:
    client = curator_client()
    index = text_of(client.get("/admin/"))
    assert "Primitives" in index
    assert "Users" not in index
    assert "Groups" not in index
    for address in ("/admin/auth/user/", "/admin/auth/group/", "/admin/auth/user/add/"):
        assert client.get(address).status_code == 403
    assert client.get(reverse("admin:auth_user_change", args=[User.objects.get().pk])).status_code == 403


@pytest.mark.django_db
def test_the_admin_says_whose_it_is_and_leads_back_to_the_site(admin_client: Client) -> None:
    page = admin_client.get("/admin/")
    assert "sandboxicon: curation" in text_of(page)
    assert '<a href="/">View site</a>' in page.content.decode()


@pytest.mark.django_db
def test_a_stranger_is_asked_to_log_in(client: Client) -> None:
    assert client.get("/admin/primitives/primitive/").url.startswith("/admin/login/")  # type: ignore[attr-defined]
