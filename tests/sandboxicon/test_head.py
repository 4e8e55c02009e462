"""What a page tells machines of itself: its one address, its words for those who pass it on, where it stands."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.core.management import call_command
from django.test import Client, override_settings

pytestmark = pytest.mark.django_db


def page_at(client: Client, address: str, **headers: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(address, headers=headers).content, "html.parser")


def meta(page: BeautifulSoup) -> dict[str, str]:
    return {it.get("property") or it.get("name"): it["content"] for it in page.select("meta[property], meta[name]")}


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(
    ("address", "canonical"),
    [
        ("/", "/"),
        ("/audits/codex/?platform=macos&utm_source=x", "/audits/codex/"),
        ("/primitives/?tier=microvm", "/primitives/"),
        ("/primitives/?page=2", "/primitives/?page=2"),
        ("/primitives/compare/?p=gvisor&p=firecracker", "/primitives/compare/?p=gvisor&p=firecracker"),
        ("/models/?step=jailer", "/models/"),
        ("/search/?q=docker", "/search/"),
    ],
)
def test_a_page_names_its_one_address_and_the_words_to_pass_it_on(client: Client, address: str, canonical: str) -> None:
    page = page_at(client, address)
    said = meta(page)
    assert page.select_one("link[rel=canonical]")["href"] == said["og:url"] == f"http://testserver{canonical}"
    assert said["og:title"] == " ".join(page.title.get_text().split())
    assert said["og:description"] == " ".join(said["description"].split())
    assert said["twitter:card"] == "summary_large_image"
    assert "robots" not in said


@override_settings(ALLOWED_HOSTS=["guide.example"])
def test_absolute_addresses_are_of_the_host_that_was_asked_if_it_is_one_of_ours(client: Client) -> None:
    page = page_at(client, "/about/", host="guide.example")
    assert page.select_one("link[rel=canonical]")["href"] == "http://guide.example/about/"
    assert client.get("/about/", headers={"host": "evil.example"}).status_code == 400


def test_a_page_that_is_not_there_asks_not_to_be_remembered(client: Client) -> None:
    page = page_at(client, "/nowhere/")
    assert meta(page)["robots"] == "noindex"
    assert not page.select("link[rel=canonical], [property^='og:']")


@pytest.mark.usefixtures("content")
def test_the_way_from_the_front_page_stands_on_every_page_below_it(client: Client) -> None:
    def way(address: str) -> list[tuple[str, str | None]]:
        crumbs = page_at(client, address).select("nav[aria-label=Breadcrumb] li")
        assert [it.find("meta")["content"] for it in crumbs] == [str(place + 1) for place in range(len(crumbs))]
        assert [it.get("aria-current") for it in crumbs[-1:]] == ["page"] * len(crumbs[-1:])
        return [(it.find(itemprop="name").get_text(), it.a["href"] if it.a else None) for it in crumbs]

    assert way("/") == []
    assert way("/audits/codex/") == [("Home", "/"), ("Audits", "/audits/"), ("Codex", None)]
    assert way("/ladder/microvm/") == [("Home", "/"), ("Ladder", "/ladder/"), ("microVM", None)]
    assert way("/models/?step=jailer")[2] == ("A microVM, built up", "/models/#microvm")
    for address in ("/audits/", "/primitives/", "/ladder/", "/models/", "/method/", "/about/", "/search/"):
        assert len(way(address)) == 2, address


def test_what_htmx_reads_is_written_as_html_allows_it() -> None:
    """data-hx-get, not hx-get: the Nu HTML checker (`make html`) calls the latter an error."""
    templates = (settings.BASE_DIR / "templates").rglob("*.html")
    assert [it.name for it in templates if re.search(r"[\s\"]hx-[a-z]+", it.read_text())] == []


def test_every_sheet_is_in_the_one_that_readers_fetch(tmp_path: Path) -> None:
    bundled = {"BACKEND": "sandboxicon.static_files.BundledStaticFilesStorage"}
    with override_settings(
        STATIC_ROOT=tmp_path,
        STATICFILES_FINDERS=["django.contrib.staticfiles.finders.FileSystemFinder"],
        STORAGES={**settings.STORAGES, "staticfiles": bundled},
        WHITENOISE_SKIP_COMPRESS_EXTENSIONS=["css", "js", "svg"],
    ):
        for _ in range(2):  # the second time over what the first has left
            call_command("collectstatic", interactive=False, verbosity=0)
            (bundle,) = tmp_path.glob("css/site.*.css")
            text = bundle.read_text()
            assert "@import" not in text.replace("collectstatic puts the imports", "")
            for sheet in (settings.BASE_DIR / "static" / "css").glob("*.css"):
                if sheet.name not in ("site.css", "admin.css"):
                    assert sheet.read_text().strip() in text, sheet.name
