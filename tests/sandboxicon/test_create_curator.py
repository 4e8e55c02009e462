from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

PASSWORD = "a long and strange one 7"


@pytest.fixture(autouse=True)
def environment(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    Group.objects.get_or_create(name="Curators")
    monkeypatch.setenv("CURATOR_USERNAME", "ada")
    monkeypatch.setenv("CURATOR_PASSWORD", PASSWORD)


def test_a_curator_may_log_in_and_is_no_superuser() -> None:
    call_command("create_curator", stdout=StringIO())
    user = User.objects.get(username="ada")
    assert user.check_password(PASSWORD)
    assert user.is_staff
    assert not user.is_superuser
    assert [group.name for group in user.groups.all()] == ["Curators"]


def test_a_weak_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_PASSWORD", "ada")
    with pytest.raises(CommandError, match="too short"):
        call_command("create_curator")
    assert not User.objects.exists()


def test_a_name_that_is_taken_is_refused() -> None:
    call_command("create_curator", stdout=StringIO())
    with pytest.raises(CommandError, match="already exists"):
        call_command("create_curator")


def test_a_name_with_odd_characters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_USERNAME", "ada lovelace!")
    with pytest.raises(CommandError, match="valid username"):
        call_command("create_curator")


def test_a_missing_group_is_named() -> None:
    Group.objects.all().delete()
    with pytest.raises(CommandError, match="group Curators does not exist"):
        call_command("create_curator")


def test_without_a_terminal_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURATOR_USERNAME")
    monkeypatch.setattr("sys.stdin", StringIO())
    with pytest.raises(CommandError, match="CURATOR_USERNAME"):
        call_command("create_curator")
