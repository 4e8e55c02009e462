import re
from collections import Counter
from html import unescape
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup
from django.db import DatabaseError, connection
from django.http import QueryDict
from django.test import Client, RequestFactory, override_settings
from django.urls import resolve
from django.views.defaults import server_error

from audits.models import Agent, AgentBreak
from evidence.models import Claim, Label
from ladder.models import Tier
from primitives.models import Break, Primitive
from tests.factories import make_claim, make_tier


@pytest.mark.django_db
@pytest.mark.usefixtures("content")
def test_home_counts_what_there_is_and_shows_one_claim_of_each_label(client: Client) -> None:
    page = BeautifulSoup(client.get("/").content, "html.parser")
    text = page.get_text(" ", strip=True)
    assert f"Each of the {Claim.objects.count()} claims" in text
    assert f"{Break.objects.count() + AgentBreak.objects.count()} published breaks" in text
    assert f"{Primitive.objects.count()} technologies" in text
    stamps = [stamp.get_text(strip=True) for stamp in page.select(".claim .stamp")]
    assert stamps == Label.values


@pytest.mark.django_db
def test_home_stands_on_an_empty_database(client: Client) -> None:
    assert client.get("/").status_code == 200


@pytest.mark.django_db
def test_numbers_by_label_name_every_label_best_first() -> None:
    make_claim(make_tier(), Label.INFERRED)
    assert Claim.objects.numbers_by_label() == [
        (Label.VERIFIED_CODE, 0),
        (Label.DOCUMENTED, 0),
        (Label.INFERRED, 1),
        (Label.UNDISCLOSED, 0),
    ]


# Of what there is very much of, and of lists in all their states, so many pages are asked for; of all else every one.
A_FEW = 4


def kind_of(address: str) -> str:
    """What an address is one of many of; "" where it is asked for in any case."""
    path, _, query = address.partition("?")
    match = resolve(path)
    if query:
        return f"{match.url_name} {sorted(QueryDict(query))}"
    return "" if match.url_name in ("primitive", "agent", "tier") or not match.kwargs else str(match.url_name)


@pytest.mark.django_db
@pytest.mark.usefixtures("content")
def test_every_page_links_only_to_pages_that_exist(client: Client) -> None:
    """Pages are read without a parser, which would take longer than they do."""
    seen, to_visit, visited, of_kind = {"/"}, ["/"], set(), Counter()
    while to_visit:
        address = to_visit.pop()
        kind = kind_of(address)
        of_kind[kind] += 1
        if kind and of_kind[kind] > A_FEW:
            continue
        response = client.get(address)
        assert response.status_code == 200, address
        if "?" in address or not response["Content-Type"].startswith("text/html"):
            continue
        visited.add(address)
        page = response.content.decode()
        assert page.count("<h1") == 1, address
        assert len(re.findall(r"<title>(.+?)</title>", page, re.DOTALL)[0].strip()) > len("sandboxicon")
        ids = re.findall(r'\sid="([^"]+)"', page)
        assert len(ids) == len(set(ids)), (address, [item for item in ids if ids.count(item) > 1])
        for link in map(unescape, re.findall(r'<a\s[^>]*?href="([/#][^"]*)"', page)):
            path, _, fragment = link.partition("#")
            if not path:
                assert fragment in ids, (address, link)
            elif path not in seen:
                seen.add(path)
                to_visit.append(path)
    claims = {address for address in seen if kind_of(address) == "claim"}
    assert claims <= {claim.get_absolute_url() for claim in Claim.objects.all()}
    for model in (Primitive, Agent, Tier):
        assert {entry.get_absolute_url() for entry in model.objects.all()} <= visited, model


def test_healthz_answers_without_a_database(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_readyz_answers_when_all_migrations_are_applied(client: Client) -> None:
    assert client.get("/readyz").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'evidence'")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert b"not applied" in response.content


@pytest.mark.django_db
def test_readyz_says_when_the_database_does_not_answer(client: Client) -> None:
    def refuse(*args: object) -> None:
        raise DatabaseError("down, with a password=secret")

    with connection.execute_wrapper(refuse):
        response = client.get("/readyz")
    assert response.status_code == 503
    assert b"secret" not in response.content


def test_a_404_is_in_the_sites_own_dress(client: Client) -> None:
    response = client.get("/no/such/page/")
    assert response.status_code == 404
    assert b"wordmark" in response.content


def test_the_500_page_is_in_the_sites_own_dress_and_needs_nothing_that_may_be_broken() -> None:
    response = server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert b"wordmark" in response.content
    assert b"on our side" in response.content


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/ladder/", "/primitives/", "/nowhere/", "/admin/login/"])
def test_every_page_has_a_policy_that_allows_only_our_own_files(client: Client, address: str) -> None:
    policy = client.get(address)["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.django_db
@override_settings(ALLOWED_HOSTS=["sandboxicon.example"])
def test_a_host_that_is_not_ours_is_refused(client: Client) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.django_db
@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(
    ("address", "section"),
    [
        ("/", None),
        ("/ladder/", "/ladder/"),
        ("/ladder/microvm/", "/ladder/"),
        ("/primitives/", "/primitives/"),
        ("/primitives/runc/", "/primitives/"),
        ("/audits/", "/audits/"),
        ("/audits/codex/", "/audits/"),
    ],
)
def test_the_masthead_says_where_the_reader_is(client: Client, address: str, section: str | None) -> None:
    page = BeautifulSoup(client.get(address).content, "html.parser")
    here = [link["href"] for link in page.select(".masthead nav a[aria-current]")]
    assert here == ([section] if section else [])


def test_a_browser_that_asks_for_an_icon_is_led_to_ours(client: Client) -> None:
    response = client.get("/favicon.ico")
    assert response.status_code == 302
    assert response["Location"].endswith("icons/icon.svg")


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/primitives/", "/audits/", "/evidence/", "/nesting/", "/search/?q=kernel"])
@pytest.mark.parametrize("nonsense", ["http://[", "//[", "http://\N{ACCOUNT OF}.example", "\x00"])
def test_what_a_client_says_of_the_page_before_may_be_nonsense(client: Client, address: str, nonsense: str) -> None:
    htmx = {"HX-Request": "true", "HX-Trigger": "filters"}
    headers = {**htmx, "HX-Current-URL": quote(nonsense), "HX-Current-URL-URI-AutoEncoded": "true"}
    assert client.get(address, headers=headers).status_code == 200
