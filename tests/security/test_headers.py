"""What every answer says to the browser, measured on a gunicorn that stands behind TLS."""

import re
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from sandboxicon import headers
from tests.security.observatory import Answer, directives, modifiers, score
from tests.servers import Server

pytestmark = pytest.mark.django_db


def ask(server: Server, path: str) -> Answer:
    found = []
    for proto in ("http", "https"):
        connection = HTTPConnection(urlsplit(server.address).netloc, timeout=30)
        connection.request("GET", path, headers={"X-Forwarded-Proto": proto})
        response = connection.getresponse()
        found.append((response.getheaders(), response.read()))
        connection.close()
    (insecure, _), (secure, body) = found
    return Answer(secure, body.decode(errors="replace"), dict(insecure).get("Location", ""))


def test_the_observatory_would_give_130_or_more_to_each_kind_of_answer(site_behind_tls: Server) -> None:
    home = ask(site_behind_tls, "/")
    style = re.findall(r'href="(/static/[^"]+\.css)"', home.body)[0]
    for path in ("/", "/audits/", "/nowhere/", "/search/?q=%00", "/admin/login/", "/admin/", style):
        answer = ask(site_behind_tls, path)
        parts = modifiers(answer)
        assert score(answer) >= 130, (path, parts)
        assert min(parts.values()) == 0, (path, parts)
    assert score(home) == 150
    assert home.all("set-cookie") == []


def test_the_score_falls_with_what_is_missing(site_behind_tls: Server) -> None:
    home = ask(site_behind_tls, "/")
    for name in ("content-security-policy", "strict-transport-security", "cross-origin-opener-policy"):
        bare = Answer([(key, value) for key, value in home.headers if key.lower() != name], home.body, "https://x/")
        assert score(bare) < score(home)
    loose = [(key, value.replace("script-src 'self'", "script-src 'unsafe-inline'")) for key, value in home.headers]
    assert score(Answer(loose, home.body, "https://x/")) == 80
    assert score(Answer(home.headers, home.body, "http://x/")) == 80


def test_the_policy_is_as_strict_in_the_admin_as_on_a_page(site_behind_tls: Server) -> None:
    page, admin = (ask(site_behind_tls, path) for path in ("/", "/admin/login/"))
    assert (
        directives(page)
        == directives(admin)
        == {
            "default-src": {"'none'"},
            **{key: {"'self'"} for key in ("script-src", "style-src", "img-src", "connect-src", "form-action")},
            "frame-ancestors": {"'none'"},
            "base-uri": {"'none'"},
            "require-trusted-types-for": {"'script'"},
            "trusted-types": {"default"},
        }
    )
    powers = page.one("permissions-policy").split(", ")
    assert powers == [f"{name}=()" for name in headers.POWERS]
    assert page.one("strict-transport-security") == "max-age=31536000; includesubdomains; preload"
    for html in (page.body, admin.body):
        soup = BeautifulSoup(html, "html.parser")
        assert [tag for tag in soup.select("script") if not tag.get("src")] == []
        assert soup.select("style, [style], [onclick], [onload], [onsubmit]") == []


def test_the_admins_cookies_are_bound_to_tls_and_this_host(site_behind_tls: Server) -> None:
    [cookie] = ask(site_behind_tls, "/admin/login/").all("set-cookie")
    assert cookie.startswith("__Host-csrftoken=")
    assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_no_page_for_readers_sets_a_cookie(client: Client) -> None:
    for path in ("/", "/primitives/", "/audits/", "/ladder/", "/models/", "/search/?q=x", "/method/", "/about/"):
        assert not client.get(path).cookies, path
