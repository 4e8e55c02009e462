"""The pictures that stand for pages where their address is passed on."""

from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client, RequestFactory
from PIL import Image

from audits.models import Agent
from primitives.models import Primitive
from sandboxicon import views
from sandboxicon.cards import drawing, version, words
from sandboxicon.cards.words import Card
from sandboxicon.revision import Revision
from tests.factories import make_audit

pytestmark = pytest.mark.django_db

PAGES = [
    *("/", "/ladder/", "/ladder/microvm/", "/models/", "/models/?step=jailer", "/method/", "/about/", "/search/?q=x"),
    *("/primitives/", "/primitives/gvisor/", "/primitives/compare/?p=gvisor&p=firecracker", "/primitives/compare/"),
    *("/audits/", "/audits/codex/", "/audits/?q=openai", "/audits/compare/?a=codex&a=jules&a=devin"),
    "/claims/primitive.gvisor.directfs-on/",
]


@pytest.mark.usefixtures("content")
def test_every_page_names_a_picture_that_there_is_and_its_measures(client: Client) -> None:
    pictures = {}
    for address in PAGES:
        page = BeautifulSoup(client.get(address).content, "html.parser")
        said = {it["property"]: it["content"] for it in page.select("meta[property^='og:image']")}
        assert said["og:image:alt"] == " ".join(page.title.get_text().split())
        host, path = urlsplit(said["og:image"]).netloc, urlsplit(said["og:image"]).path
        assert host == "testserver"
        response = client.get(path)
        assert (response.status_code, response["Content-Type"]) == (200, "image/png"), (address, path)
        picture = Image.open(BytesIO(response.content))
        assert picture.size == (int(said["og:image:width"]), int(said["og:image:height"])) == (1200, 630)
        assert len(response.content) < 60_000
        pictures[path] = response.content
    assert len(set(pictures.values())) == len(pictures) == 13


@pytest.mark.usefixtures("content")
def test_a_card_says_what_the_page_says(client: Client) -> None:
    for kind, slug, address in [
        ("agent", "codex", "/audits/codex/"),
        ("agent", "jules", "/audits/jules/"),
        ("agent", "aider", "/audits/aider/"),
        ("primitive", "gvisor", "/primitives/gvisor/"),
        ("tier", "microvm", "/ladder/microvm/"),
    ]:
        card = words.find(kind, slug)
        assert card
        page = BeautifulSoup(client.get(address).content, "html.parser")
        verdict = page.select_one(".verdict")
        assert card.title == page.h1.get_text()
        assert card.side in verdict["class"], address
        if kind == "agent":
            assert card.verdict == " ".join(verdict.get_text().split())


@pytest.mark.usefixtures("content")
def test_there_is_a_card_for_every_entry_however_long_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn for the longest alone; asked for all."""
    cards: list[Card | None] = [words.find("primitive", it.slug) for it in Primitive.objects.all()]
    cards += [words.find("agent", it.slug) for it in Agent.objects.published()]
    assert None not in cards
    for card in sorted(filter(None, cards), key=lambda it: len(it.title) + len(it.verdict) + len(it.note))[-3:]:
        assert drawing.png(card)


def test_a_card_with_no_words_and_one_with_far_too_many_are_drawn() -> None:
    for text in ("", "x" * 3_000, "two words " * 400, "\n" * 50, "漢字 ‮ \x00"):
        assert drawing.png(Card(text, text, text, "undisclosed", text, (1, 6), (text,) * 6))


@pytest.mark.parametrize(
    "path",
    [
        *("nothing", "tier", "home/x", "tier/none", "agent/nobody", "primitive/%00", "primitive/a'b", "agent/draft"),
        *("agents-compared/draft", "agents-compared/a+b+c+d+e", "primitives-compared/+", "primitives-compared/a+a"),
        *("claim/primitive.gvisor.none", "claim/x", "agent/primitive.gvisor.none"),
    ],
)
def test_there_is_no_picture_of_what_is_no_page(client: Client, path: str) -> None:
    make_audit(is_published=False, postures=[])
    assert client.get(f"/cards/{path}.png").status_code == 404


def test_a_picture_is_kept_for_long_under_the_version_in_force_alone() -> None:
    def asked(query: str, revision: Any) -> str:
        request = RequestFactory().get(f"/cards/about.png{query}")
        if revision:
            request.revision = revision  # type: ignore[attr-defined]
        return str(views.card(request, "about")["Cache-Control"])

    now = Revision(7, None)  # type: ignore[arg-type]
    request = RequestFactory().get("/")
    request.revision = now  # type: ignore[attr-defined]
    current = version(request)
    assert "immutable" in asked(f"?v={current}", now)
    for query, revision in [("", now), ("?v=", now), ("?v=1-6", now), (f"?v={current}", None), ("?v=", None)]:
        assert asked(query, revision) == "public, max-age=300"
