"""The admin's door: how often one may guess, what the second factor keeps shut, and who may come near at all."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from bs4 import BeautifulSoup
from django.contrib.auth.hashers import Argon2PasswordHasher, MD5PasswordHasher, identify_hasher, make_password
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, override_settings
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from sandboxicon import door, door_settings, settings
from tests.sandboxicon.test_settings import start

pytestmark = pytest.mark.django_db

PASSWORD = "a long and strange one 7"
LOGIN = "/admin/login/"
SECOND = "/admin/second-factor/"


@pytest.fixture
def curator() -> User:
    return User.objects.create_superuser("ada", password=PASSWORD)


def log_in(client: Client, username: str = "ada", password: str = PASSWORD, **more: Any) -> Any:
    return client.post(LOGIN, {"username": username, "password": password, "next": "/admin/"}, **more)


def code(key: str | bytes) -> str:
    return f"{TOTP(bytes.fromhex(key) if isinstance(key, str) else key).token():06}"


def words(response: Any) -> str:
    """What a page says, without the token that is another one each time and without what was typed."""
    text = re.sub(r'(csrfmiddlewaretoken" value=)"\w+"', r"\1", response.content.decode())
    return re.sub(r'value="(ada|nobody)"', "", text)


# ---- guessing ----


def test_after_five_wrong_passwords_even_the_right_one_is_refused_and_elsewhere_it_works(curator: User) -> None:
    for _ in range(4):
        assert log_in(Client(), password="wrong").status_code == 200
    # Other clients, other names: they are counted by the address, and in the database, where every worker sees them.
    assert log_in(Client(), username="nobody", password="wrong").status_code == 429
    refused = log_in(Client())
    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert "Try again in 15 minutes" in refused.content.decode()
    assert AccessAttempt.objects.count() == 2
    assert log_in(Client(REMOTE_ADDR="192.0.2.7")).status_code == 302
    assert AccessFailureLog.objects.filter(username="ada").count() == 4
    assert AccessLog.objects.get().ip_address == "192.0.2.7"


def test_one_ipv6_customer_is_one_address(curator: User) -> None:
    for number in range(5):
        log_in(Client(REMOTE_ADDR=f"2001:db8:0:1::{number:x}"), password="wrong")
    assert log_in(Client(REMOTE_ADDR="2001:db8:0:1:ffff::1")).status_code == 429
    assert log_in(Client(REMOTE_ADDR="2001:db8:0:2::1")).status_code == 302


def test_an_unknown_name_gets_the_answer_of_a_wrong_password_after_the_same_work(
    curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def counting(self: Any, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counting)
    known, unknown = log_in(Client(), password="wrong"), log_in(Client(), username="nobody", password="wrong")
    assert words(known) == words(unknown)
    assert len(hashed) == 2
    for _ in range(3):
        log_in(Client(), password="wrong")
    assert words(log_in(Client())) == words(log_in(Client(), username="nobody"))


def test_passwords_are_kept_as_argon2() -> None:
    with override_settings(PASSWORD_HASHERS=settings.PASSWORD_HASHERS):
        assert isinstance(identify_hasher(make_password(PASSWORD)), Argon2PasswordHasher)


# ---- the second factor ----


@pytest.fixture
def second_factor() -> Any:
    with override_settings(SECOND_FACTOR=True):
        yield


@pytest.mark.usefixtures("second_factor")
def test_a_curator_sets_up_an_authenticator_and_needs_it_from_then_on(curator: User) -> None:
    client = Client()
    log_in(client)
    for address in ("/admin/", "/admin/evidence/claim/", "/admin/auth/user/", "/admin/password_change/"):
        response = client.get(address, follow=True)
        assert response.redirect_chain[-1][0].startswith(SECOND), address
    page = BeautifulSoup(response.content, "html.parser")
    assert page.select_one("svg path")
    assert not page.select("[style], style")
    session_before = client.session.session_key
    key = client.session["second-factor-key"]
    assert client.post(SECOND, {"code": "000000"}).status_code == 200
    assert not TOTPDevice.objects.exists()
    done = client.post(SECOND, {"code": code(key), "next": "/admin/evidence/claim/"})
    codes = [
        element.get_text() for element in BeautifulSoup(done.content, "html.parser").select(".recovery-codes code")
    ]
    assert len(set(codes)) == 10
    assert "no-store" in done["Cache-Control"]
    assert client.session.session_key != session_before
    assert client.get("/admin/").status_code == 200

    again = Client()
    log_in(again)
    assert again.get("/admin/").status_code == 302
    # The code was used, and works no more; nor does a wrong one, and a right one right after that.
    assert "not accepted" in again.post(SECOND, {"code": code(key)}).content.decode()
    TOTPDevice.objects.update(last_t=-1)
    assert "not accepted" in again.post(SECOND, {"code": code(key)}).content.decode()
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    response = again.post(SECOND, {"code": f"{code(key)[:3]} {code(key)[3:]}", "next": "/admin/ladder/tier/"})
    assert (response.status_code, response["Location"]) == (302, "/admin/ladder/tier/")
    assert again.get("/admin/").status_code == 200

    spare = Client()
    log_in(spare)
    assert spare.post(SECOND, {"code": codes[0].upper()}).status_code == 302
    assert StaticToken.objects.count() == 9
    spare.logout()
    log_in(spare)
    assert spare.post(SECOND, {"code": codes[0]}).status_code == 200
    assert spare.get("/admin/").status_code == 302

    call_command("forget_second_factor", "ada")
    assert again.get("/admin/").status_code == 302


@pytest.mark.usefixtures("second_factor")
def test_who_knows_only_the_password_never_sees_the_key_that_another_session_agrees_on(curator: User) -> None:
    thief, owner = Client(), Client()
    keys = []
    for client in (thief, owner):
        log_in(client)
        client.get(SECOND)
        keys.append(client.session["second-factor-key"])
    assert keys[0] != keys[1]
    assert owner.post(SECOND, {"code": code(keys[1])}).status_code == 200
    assert "not accepted" in thief.post(SECOND, {"code": code(keys[0])}).content.decode()
    assert TOTPDevice.objects.get().key == keys[1]


@pytest.mark.usefixtures("second_factor")
def test_nothing_leads_off_the_site(curator: User) -> None:
    for wanted in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\thttps://x"):
        client = Client()
        answer = client.post(LOGIN, {"username": "ada", "password": PASSWORD, "next": wanted})
        assert answer["Location"] == "/admin/"
        assert "evil" not in client.get(SECOND, {"next": wanted}).content.decode()
    assert Client().get(SECOND)["Location"] == "/admin/"


def test_who_does_not_curate_has_no_second_factor_to_set_up(client: Client) -> None:
    client.force_login(User.objects.create_user("reader"))
    with override_settings(SECOND_FACTOR=True):
        assert client.get(SECOND).status_code == 302
    assert "second-factor-key" not in client.session


# ---- where the door is, and for whom ----


@pytest.mark.parametrize(
    ("proxies", "forwarded", "found"),
    [
        (0, "203.0.113.9", "198.51.100.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "10.0.0.1, 203.0.113.9", "203.0.113.9"),
        (2, "10.0.0.1, 203.0.113.9, 192.0.2.1", "203.0.113.9"),
        (2, "203.0.113.9", "198.51.100.1"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
        (1, "nonsense<b>", "None"),
        (1, None, "198.51.100.1"),
    ],
)
def test_the_clients_address_is_what_our_own_proxies_saw(proxies: int, forwarded: str | None, found: str) -> None:
    meta = {"REMOTE_ADDR": "198.51.100.1"} | ({"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {})
    request: Any = SimpleNamespace(META=meta)
    with override_settings(PROXIES=proxies):
        assert str(door.client_address(request)) == found


def test_outside_the_allowed_networks_there_is_no_admin(curator: User) -> None:
    with override_settings(ADMIN_ALLOW=door_settings.networks(["192.0.2.0/24", "2001:db8::/32"])):
        for inside in ("192.0.2.200", "2001:db8::5"):
            assert Client(REMOTE_ADDR=inside).get(LOGIN).status_code == 200
        for address in (LOGIN, "/admin/", "/admin", SECOND, "/admin/nothing/"):
            for outside in ("198.51.100.1", "2001:db9::1", ""):
                answer = Client(REMOTE_ADDR=outside).get(address)
                assert (answer.status_code, answer["Cache-Control"]) == (404, "private, no-store"), (address, outside)
        assert Client(REMOTE_ADDR="192.0.2.200").get("/admin")["Cache-Control"] == "private, no-store"
        assert log_in(Client()).status_code == 404
        assert Client().get("/healthz").status_code == 200


def test_the_door_can_be_elsewhere_and_a_half_right_setting_is_refused_by_name() -> None:
    where = (
        "from django.urls import reverse; from django.conf import settings; "
        "print(reverse('admin:login'), settings.SECOND_FACTOR, settings.PROXIES)"
    )
    done = start("manage.py", "shell", "-v0", "-c", where, SECRET_KEY="x", BEHIND_TLS="1", ADMIN_PATH="/desk/of-ours")
    assert done.stdout.split() == ["/desk/of-ours/login/", "True", "1"]
    for wrong in ("a b", "", "/", "a//b", "..", "a?b", "<b>"):
        with pytest.raises(ValueError, match="ADMIN_PATH"):
            door_settings.path(wrong)
    for networks in (["192.0.2.1/24"], ["here"], ["192.0.2.0/24", "::1/200"]):
        with pytest.raises(ValueError, match="ADMIN_ALLOW"):
            door_settings.networks(networks)
    done = start("manage.py", "check", SECRET_KEY="x", ADMIN_ALLOW="here")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
