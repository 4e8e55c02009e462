"""Every public address and every parameter with whatever a stranger may send. `make fuzz` sends 100,000 requests."""

import logging
import os
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, quote, quote_from_bytes, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evidence.models import Label
from tests.factories import (
    make_agent,
    make_agent_break,
    make_audit,
    make_break,
    make_cell,
    make_claim,
    make_error,
    make_primitive,
    make_source,
    make_tier,
)

REQUESTS = int(os.environ.get("FUZZ", 250))
# Hypothesis remembers all that it tried. Of more than so many Python's collector takes seconds to look through it, in
# the middle of some request.
AT_ONCE = 5_000
SECONDS = 3  # of computing, whatever else the machine does
PATIENCE = 60  # seconds by the clock

# What must never come back as markup, as a header, or as a place to go.
MARK = "zq9x"
HOSTILE = [
    f"<{MARK}>",
    f'"><script {MARK}>alert(1)</script>',
    f"' onmouseover={MARK} '",
    f"javascript:{MARK}",
    f"x\r\nSet-Cookie: {MARK}=1\r\n\r\n<{MARK}>",
    f"//{MARK}.example/",
    f"https://{MARK}.example/",
    f"/\\{MARK}.example",
    "http://[",
    "\x00",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    "%00",
    "%ff%fe",
    "{{7*7}}{% debug %}",
    "' OR 1=1 --",
    "\\'; DROP TABLE evidence_claim; --",
    "(((((((((((((((((((((((((",
    "a & b | !c <-> d :* ",
    "-1",
    "0",
    "1e309",
    "99999999999999999999999999",
    "٣",
    "NaN",
    "../../../../etc/passwd",
    "a" * 5_000,
    "é" * 2_000,
    "[]",
    "",
]
HEADERS = ["Hx-Request", "Hx-Target", "Hx-Trigger", "Hx-Current-URL", "Hx-History-Restore-Request", "Accept-Encoding"]
HEADERS += ["If-None-Match", "If-Modified-Since", "Accept", "User-Agent", "Sec-Ch-Ua-Platform", "Cookie", "Range"]
HEADERS += ["X-Forwarded-For", "X-Forwarded-Host", "X-Request-Id", "Accept-Language", "Authorization", "Referer"]

anything = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.integers().map(str))


def routes(patterns: Any = None, before: str = "") -> Iterator[str]:
    """Each public address as a template, with {} where something varies."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        text = before + re.sub(r"<[^>]+>|\(\?P<.*?\)(?=/|\$|$)", "{}", str(pattern.pattern)).replace("^", "")
        if isinstance(pattern, URLResolver) and pattern.app_name != "admin":
            yield from routes(pattern.url_patterns, text)
        elif isinstance(pattern, URLPattern):
            yield "/" + text.replace("$", "")


@pytest.fixture
def a_bit_of_everything(db: None) -> None:
    tier = make_tier()
    runc = make_primitive(slug="runc", name="runc")
    make_break(runc)
    make_source(make_claim(runc, Label.DOCUMENTED))
    make_claim(tier)
    agent = make_agent("codex")
    make_claim(make_audit(agent))
    make_agent_break(agent)
    make_cell()
    make_error()


def names_and_values(client: Client, addresses: list[str]) -> tuple[list[str], list[str]]:
    """What forms and links of these pages name as parameters, and the values that they give."""
    names, values = {"q", "page", "sort", "next", "format"}, {"runc", "codex", "linux", "container"}
    for address in addresses:
        response = client.get(address)
        if not response.get("Content-Type", "").startswith("text/html"):
            continue
        page = BeautifulSoup(response.content, "html.parser")
        names |= {str(field["name"]) for field in page.select("[name]") if field.name != "meta"}
        values |= {str(field["value"]) for field in page.select("input[value], option[value]")}
        for link in page.select("a[href*='?']"):
            for name, value in parse_qsl(urlsplit(str(link["href"])).query):
                names.add(name)
                values.add(value)
    return sorted(names), sorted(values)


@pytest.mark.usefixtures("a_bit_of_everything")
def test_nothing_that_a_stranger_sends_breaks_a_page_or_comes_back_as_markup(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.raise_request_exception = False
    # pytest keeps each line that is logged, and with it the request.
    for logger in ("django.request", "django.security"):
        caplog.set_level(logging.ERROR, logger)
    templates = sorted(set(routes()))
    assert len(templates) > 30
    names, values = names_and_values(client, [template for template in templates if "{}" not in template])
    slowest = [0.0, ""]

    value = st.one_of(st.sampled_from(values), anything)
    pairs = st.lists(st.tuples(st.one_of(st.sampled_from(names), anything), value), max_size=6)
    query = st.one_of(pairs.map(_encoded), st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))

    @settings(
        max_examples=min(REQUESTS, AT_ONCE),
        deadline=None,
        database=None,
        derandomize=REQUESTS <= 1_000,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        template=st.one_of(st.sampled_from(templates), st.just("/{}")),
        parts=st.lists(value, min_size=4, max_size=4),
        query=query,
        method=st.sampled_from(["GET"] * 8 + ["HEAD", "POST", "PUT", "OPTIONS", "TRACE"]),
        headers=st.dictionaries(st.sampled_from(HEADERS), value, max_size=3),
        htmx=st.sampled_from([{}, {"Hx-Request": "true"}]),
        form=pairs,
    )
    def ask(
        template: str, parts: list[str], query: str, method: str, headers: dict[str, str], htmx: Any, form: Any
    ) -> None:
        path = template
        for part in parts:
            path = path.replace("{}", quote(part, safe="/", errors="surrogatepass"), 1)
        begun, worked = time.monotonic(), time.thread_time()
        response = client.generic(
            method,
            path,
            _encoded(form) if method == "POST" else "",
            content_type="application/x-www-form-urlencoded",
            headers={name: text.encode(errors="replace").decode("latin-1") for name, text in (headers | htmx).items()},
            QUERY_STRING=query,
        )
        took = time.thread_time() - worked
        if took > slowest[0]:
            slowest[:] = [took, f"{path}?{query}"]
        assert took < SECONDS
        assert time.monotonic() - begun < PATIENCE
        well_behaved(response, method)

    for _ in range(0, REQUESTS, AT_ONCE):
        ask()
    print(f"{REQUESTS} requests to {len(templates)} addresses with {len(names)} names; slowest: {slowest}")


def well_behaved(response: Any, method: str) -> None:
    """No fault of ours, no place elsewhere, nothing of what was sent as markup or as a header."""
    assert response.status_code < 500, response.status_code
    body = b"".join(response) if response.streaming else response.content
    text = body.decode(errors="replace") if "br" not in response.get("Content-Encoding", "") else ""
    assert "Traceback" not in text
    assert f"<{MARK}" not in text
    assert not re.search(rf"<[^>]*\son\w+\s*=\s*[\"']?{MARK}", text)
    assert not re.search(rf"(href|src|action)=[\"']?\s*(javascript:|//|/\\|https://){MARK}", text)
    assert "49" not in text or "{{7*7}}" not in text
    place = response.get("Location", "")
    assert not place or (place.startswith("/") and not place.startswith(("//", "/\\")))
    for name, value in response.items():
        assert "\r" not in name + value
        assert "\n" not in name + value
    assert MARK not in response.cookies


def _encoded(pairs: list[tuple[str, str]]) -> str:
    return "&".join(
        "=".join(quote_from_bytes(part.encode(errors="surrogatepass"), safe="") for part in pair) for pair in pairs
    )


def test_the_routes_are_found_and_the_admin_is_none_of_them() -> None:
    found = set(routes())
    assert {"/", "/primitives/", "/primitives/{}/", "/claims/{}/correction/", "/healthz"} <= found
    assert not [route for route in found if "admin" in route]
