"""What a process keeps of pages: each page says what it would say if nothing were kept."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.template import Context, Template, TemplateSyntaxError
from django.test import Client, RequestFactory

from evidence.kept import kept_page
from tests.factories import make_agent, make_audit, make_claim, make_primitive, make_tier

pytestmark = pytest.mark.django_db

STATES = itertools.count()
state: int | None = None


def at_a_revision(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: the content is at the state of this test, as sandboxicon.response_cache would say."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.content_state = state  # type: ignore[attr-defined]
        return get_response(request)

    return middleware


@pytest.fixture
def client(settings: Any) -> Client:
    """A reader whose pages are made of what is kept wherever that may be."""
    settings.MIDDLEWARE = [f"{__name__}.at_a_revision", *settings.MIDDLEWARE]
    settings.ALLOWED_HOSTS = ["testserver", "elsewhere.example"]
    return Client()


def addresses() -> list[str]:
    """Pages of all kinds, and many states of the lists."""
    values = {
        "q": ["", "box", "Box 7", "<b>", "wal", "nothing-like-it", "\x00"],
        "tier": ["microvm", "container", "no-such"],
        "platform": ["linux", "macos"],
        "label": ["documented", "inferred"],
        "status": ["active", "archived"],
        "sort": ["name", "tier", "claims", "checked", "vendor", "newest", "oldest", "best", "no-such"],
        "rows": ["surfaces"],
        "kind": ["cli", "ide", "ci"],
        "a": ["claude", "gone"],
        "page": ["1", "2", "3", "x"],
        "p": ["box-7", "box-61", "gone"],
    }
    chance = random.Random(6)
    found = ["/", "/ladder/", "/primitives/box-7/", "/evidence/", "/evidence/?q=box", "/evidence/?page=2", "/audits/"]
    found += ["/audits/?tier=container", "/audits/?q=claude", "/audits/?platform=macos", "/audits/?kind=ci"]
    found += ["/audits/claude/", "/nesting/", "/search/?q=box", "/no/such/page", "/about/"]
    found += ["/?open=microvm", "/?open=no-such", "/method/", "/primitives/box-8/", "/primitives/box-7/?from=elsewhere"]
    for _ in range(100):
        chosen = [(name, chance.choice(values[name])) for name in values if chance.random() < 0.3]
        path = chance.choice(["/primitives/", "/primitives/", "/audits/", "/evidence/"])
        found.append(f"{path}?" + "&".join(f"{name}={value}" for name, value in chosen).replace("\x00", "%00"))
    return found


def test_a_page_of_kept_parts_says_what_it_would_say_without(client: Client) -> None:
    global state
    for number in range(130):
        entry = make_primitive(f"box-{number}", tier=make_tier(("microvm", "container")[number % 2]),
                               platforms=("linux", "macos")[: 1 + number % 3])  # fmt: skip
        make_claim(entry, "documented")
    make_audit(make_agent("claude"))
    # Its rows differ with the kinds asked for, and it brings a column that the others have with it alone.
    both = make_agent("walled")
    make_audit(both, "ide", kind="ide", postures=[{"platforms": ("linux", "macos"), "tier": "container"}], position=1)
    make_audit(both, "ci", kind="ci", postures=[{"platforms": ("linux", "a-phone"), "tier": "microvm"}], position=2)

    def answers(asked: list[tuple[str, dict[str, Any]]]) -> list[tuple[int, bytes]]:
        return [(each.status_code, each.content) for each in (client.get(it, **extra) for it, extra in asked)]

    readers: list[dict[str, Any]] = [
        {},
        {"headers": {"host": "elsewhere.example"}},
        {"secure": True},
        {"headers": {"hx-request": "true"}},
    ]
    asked = [(address, readers[number % 9 % 4]) for number, address in enumerate(addresses() * 2)]
    state = None
    alone = answers(asked)
    state = next(STATES)
    try:
        kept = answers(asked)
        # Made of what another one left behind, in another order.
        again = answers(asked[::-1])[::-1]
    finally:
        state = None
    for (address, extra), one, two, three in zip(asked, alone, kept, again, strict=True):
        assert one == two, (address, extra)
        assert one == three, (address, extra)


def test_a_part_is_kept_for_as_long_as_the_content_is_the_same() -> None:
    template = Template("{% load kept %}{% kept %}{{ word }}{% endkept %}")
    request = RequestFactory().get("/")

    def say(word: str) -> str:
        return template.render(Context({"request": request, "word": word}))

    assert [say("one"), say("two")] == ["one", "two"]
    request.content_state = next(STATES)  # type: ignore[attr-defined]
    assert [say("three"), say("four")] == ["three", "three"]
    request.content_state = next(STATES)  # type: ignore[attr-defined]
    assert say("five") == "five"


def test_a_kept_part_can_have_no_live_one() -> None:
    with pytest.raises(TemplateSyntaxError, match="no live part"):
        Template("{% load kept %}{% kept %}{% if x %}{% live %}{{ x }}{% endlive %}{% endif %}{% endkept %}")


def test_no_live_part_comes_into_what_is_kept_by_an_include(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "part.html").write_text("{% load kept %}{% live %}{{ x }}{% endlive %}")
    (tmp_path / "page.html").write_text("{% load kept %}{% kept %}{% include 'part.html' %}{% endkept %}")
    [engine] = settings.TEMPLATES
    settings.TEMPLATES = [{**engine, "DIRS": [tmp_path]}]
    request = RequestFactory().get("/")
    request.content_state = next(STATES)  # type: ignore[attr-defined]
    with pytest.raises(TemplateSyntaxError, match="no live part"):
        kept_page(request, "page.html", {"x": "told once"}, 1)


def test_where_nothing_is_kept_a_live_part_is_like_any_other() -> None:
    template = Template("{% load kept %}a{% live %}{{ x }}{% endlive %}c")
    assert template.render(Context({"x": "b"})) == "abc"


def test_the_front_page_counts_once_a_revision_whichever_rungs_are_open(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    global state
    make_claim(make_primitive("box"))
    try:
        state = next(STATES)
        assert b"Each of the 1 claims" in client.get("/").content
        # The rungs, and for an open one its costs.
        with django_assert_max_num_queries(2):
            assert b"Each of the 1 claims" in client.get("/?open=microvm").content
        make_claim(make_primitive("crate"))
        state = next(STATES)
        assert b"Each of the 2 claims" in client.get("/").content
    finally:
        state = None
