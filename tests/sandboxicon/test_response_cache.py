"""Whole responses that are kept: for whom, for how long, in which forms, and in how many bytes."""

import gzip
import os
import threading
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import brotli
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from evidence.kept import KeptByRevision
from primitives.filters import PrimitiveFilterSet
from primitives.models import Primitive
from sandboxicon import replica, response_cache
from sandboxicon.response_cache import ResponseCache
from sandboxicon.revision import Revision, Unreachable
from tests.factories import make_agent, make_audit, make_claim, make_primitive
from tests.sandboxicon.test_foot import foot

PARTS = {"HX-Request": "true"}
# Distinct addresses in a flood. The whole 100,000 takes half a minute: FLOOD=100000 make test ARGS="-k flood".
ADDRESSES = int(os.environ.get("FLOOD", 10_000))
WINDOWS = {"User-Agent": "Mozilla/5.0 (Windows NT 10.0)"}
MAC = {"User-Agent": "Mozilla/5.0 (Macintosh)"}


@pytest.fixture
def client(transactional_db: None, settings: Any) -> Iterator[Client]:
    """A reader of one worker that keeps responses."""
    settings.RESPONSE_CACHE_BYTES = 4_000_000
    client = Client()
    yield client
    watch_of(client).close()


def cache_of(client: Client) -> Any:
    """The middleware, below whatever stands above it."""
    if client.handler._middleware_chain is None:
        client.handler.load_middleware()
    middleware: Any = client.handler._middleware_chain
    while not hasattr(middleware.__wrapped__, "watch"):
        middleware = middleware.__wrapped__.get_response
    return middleware.__wrapped__


def watch_of(client: Client) -> Any:
    return cache_of(client).watch


def status(response: Any) -> str:
    return str(response.headers.get("Cache-Status", "")).removeprefix("sandboxicon; ")


def test_what_was_made_once_is_served_again_until_the_content_changes_and_not_once_more(client: Client) -> None:
    make_primitive(slug="box", name="Before")
    assert status(client.get("/primitives/")) == "fwd=miss"
    assert status(client.get("/primitives/")) == "hit"
    for name in ("After", "Later", "Last"):
        Primitive.objects.filter(slug="box").update(name=name)
        response = client.get("/primitives/")
        assert status(response) == "fwd=miss"
        assert name in response.content.decode()
        assert status(client.get("/primitives/")) == "hit"


def test_rows_and_options_of_lists_are_made_once_a_revision(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    for_rows = PrimitiveFilterSet.for_rows
    monkeypatch.setattr(PrimitiveFilterSet, "for_rows", lambda self: made.append(self) or for_rows(self))
    make_primitive(slug="box", name="Before", platforms=("linux",))
    for address in ("/primitives/", "/primitives/?platform=linux", "/primitives/?q=before"):
        assert "Before" in client.get(address).content.decode()
    assert len(made) == 1
    Primitive.objects.filter(slug="box").update(name="After")
    for address in ("/primitives/?platform=linux", "/primitives/?q=after"):
        page = client.get(address).content.decode()
        assert "After" in page
        assert "Before" not in page
    assert len(made) == 2
    make_primitive(slug="crate", platforms=("macos",))
    assert "platform-macos" in client.get("/primitives/").content.decode()


def test_a_row_that_is_kept_is_shown_as_picked_only_where_it_is(client: Client) -> None:
    make_primitive(slug="box")
    ticked = 'value="box" checked'
    assert ticked not in client.get("/primitives/").content.decode()
    assert ticked in client.get("/primitives/?p=box").content.decode()
    assert ticked not in client.get("/primitives/?sort=tier").content.decode()


def test_what_curators_and_readers_get_without_a_known_revision_is_kept_from_others() -> None:
    kept = KeptByRevision(most=2)
    request = RequestFactory().get("/")
    kept.at(request)["row"] = "made for a curator"
    assert kept.at(request) == {}
    request.content_state = 1, timezone.now(), timezone.localdate()  # type: ignore[attr-defined]
    assert kept.get(request, "row", lambda: "first") == "first"
    assert kept.get(request, "row", lambda: "second") == "first"


def test_what_is_kept_by_revision_stays_within_its_number() -> None:
    kept = KeptByRevision(most=2)
    request = RequestFactory().get("/")
    request.content_state = 1, timezone.now(), timezone.localdate()  # type: ignore[attr-defined]
    for number in range(10):
        kept.get(request, number, lambda: "row")
        assert len(kept.at(request)) <= 3


def test_the_foot_says_when_the_content_last_changed(client: Client) -> None:
    with transaction.atomic():
        make_claim(make_primitive())
    day = timezone.localdate()
    assert f"The content last changed on {day:%-d %B %Y}" in foot(client)


def test_a_hit_costs_no_query_and_says_what_a_fresh_page_says(client: Client, django_assert_num_queries: Any) -> None:
    make_primitive()
    fresh = client.get("/primitives/")
    with django_assert_num_queries(0):
        kept = client.get("/primitives/")
    assert kept.content == fresh.content
    differing = {name for name in {*fresh.headers, *kept.headers} if fresh.headers.get(name) != kept.headers.get(name)}
    assert differing == {"Cache-Status", "X-Request-ID"}


def test_a_curator_is_never_served_from_it_and_leaves_nothing_in_it(client: Client) -> None:
    make_primitive()
    client.get("/primitives/")
    curator = User.objects.create_superuser("ada", password="x")
    anonymous_cookies = client.cookies.copy()
    client.force_login(curator)
    response = client.get("/primitives/")
    assert "Cache-Status" not in response.headers
    assert response.headers["Cache-Control"] == "private, no-store"
    assert "Cache-Status" not in client.get("/admin/").headers
    client.cookies = anonymous_cookies
    assert status(client.get("/primitives/")) == "hit"


def test_pages_with_a_token_or_a_cookie_are_kept_by_nobody(client: Client) -> None:
    for _ in range(2):
        response = client.get("/admin/login/")
        assert "Cache-Status" not in response.headers
        assert "no-store" in response.headers["Cache-Control"] or "private" in response.headers["Cache-Control"]


def test_cookies_that_are_not_ours_reach_no_page(client: Client) -> None:
    seen: list[dict[str, str]] = []
    inner = client.get("/primitives/")
    assert inner.status_code == 200
    cache = cache_of(client)
    get_response = cache.get_response

    def look(request: HttpRequest) -> Any:
        seen.append(dict(request.COOKIES))
        return get_response(request)

    cache.get_response = look
    client.cookies["messages"] = "hello"
    client.cookies["tracker"] = "me"
    client.get("/ladder/")
    assert seen == [{}]
    assert status(client.get("/ladder/")) == "hit"


@pytest.mark.parametrize("first", [{}, PARTS])
def test_a_part_is_never_served_for_a_page_nor_a_page_for_a_part(client: Client, first: dict[str, str]) -> None:
    make_primitive()
    for headers in (first, {}, PARTS, {}, PARTS):
        response = client.get("/primitives/", headers=headers)
        assert response.content.startswith(b"<!doctype html>") == (not headers)
        assert "HX-Request" in response.headers["Vary"]
    restored = client.get("/primitives/", headers={**PARTS, "HX-History-Restore-Request": "true"})
    assert restored.content.startswith(b"<!doctype html>")
    assert status(restored) == "hit"


@pytest.mark.parametrize(
    "odd",
    [
        {"HX-Request": "true", "HX-History-Restore-Request": "1"},
        {"HX-Request": "true", "HX-History-Restore-Request": ""},
        {"HX-Request": "1"},
        {"HX-Request": ""},
        {"HX-Request": "TRUE"},
        {"HX-Request": "true, true"},
        {"HX-Request": "%74rue"},
        {"HX-Request": "%74rue", "HX-Request-URI-AutoEncoded": "true"},
        {**PARTS, "HX-History-Restore-Request": "%74rue", "HX-History-Restore-Request-URI-AutoEncoded": "true"},
    ],
)  # fmt: skip
def test_no_odd_header_of_htmx_puts_a_part_in_the_place_of_the_page(client: Client, odd: dict[str, str]) -> None:
    make_primitive(slug="box")
    for address in ("/", "/primitives/", "/search/?q=box", "/ladder/"):
        client.get(address, headers=odd)
        assert client.get(address).content.startswith(b"<!doctype html>")
        assert not client.get(address, headers=PARTS).content.startswith(b"<!doctype html>")


def test_a_header_of_htmx_that_is_encoded_is_kept_as_what_it_says(client: Client) -> None:
    make_primitive(slug="one")
    make_primitive(slug="two")
    elsewhere = {**PARTS, "HX-Trigger": "filters", "HX-Current-URL": "http://testserver/primitives/%3Fp=one"}
    address = "/primitives/?p=one&p=two"
    encoded = client.get(address, headers={**elsewhere, "HX-Current-URL-URI-AutoEncoded": "true"})
    plain = client.get(address, headers=elsewhere)
    assert b'id="results"' not in encoded.content
    assert b'id="results"' in plain.content


def test_links_lead_here_whatever_path_a_request_says_that_the_site_stands_at(client: Client) -> None:
    make_primitive(slug="box")
    make_primitive(slug="other")
    for address in ("/", "/primitives/box/", "/audits/?q=x"):
        assert b"evil" not in client.get(address, SCRIPT_NAME="//evil.example").content
    for address in ("/", "/primitives/box/", "/primitives/other/", "/audits/?q=x"):
        assert b"evil" not in client.get(address).content


def test_parts_that_htmx_is_to_put_elsewhere_are_told_apart_by_their_etags(client: Client) -> None:
    make_primitive(slug="box")
    here = "http://testserver/primitives/"
    from_list = client.get("/primitives/?q=box", headers={**PARTS, "HX-Current-URL": here})
    from_search = client.get("/primitives/?q=box", headers={**PARTS, "HX-Current-URL": f"{here}?q=bo"})
    assert from_list.content == from_search.content
    assert from_list.has_header("HX-Push-Url")
    assert from_search.has_header("HX-Replace-Url")
    assert from_list.headers["ETag"] != from_search.headers["ETag"]


def test_a_search_typed_on_and_one_that_is_new_each_say_what_the_history_is_to_hold(client: Client) -> None:
    make_primitive(slug="box")
    for _ in range(2):
        typed_on = client.get("/search/?q=box", headers={**PARTS, "HX-Current-URL": "http://testserver/search/?q=bo"})
        anew = client.get("/search/?q=box", headers={**PARTS, "HX-Current-URL": "http://testserver/search/"})
        assert (typed_on.has_header("HX-Replace-Url"), typed_on.has_header("HX-Push-Url")) == (True, False)
        assert (anew.has_header("HX-Replace-Url"), anew.has_header("HX-Push-Url")) == (False, True)


def test_a_page_made_while_the_database_failed_is_kept_by_nobody_nor_any_part_of_it(client: Client) -> None:
    with transaction.atomic():
        make_claim(make_primitive())
    dates = "The newest claim here holds as of"
    pages = ("/no/such/page/", "/search/", "/primitives/compare/")

    def refuse(*args: object) -> None:
        raise DatabaseError("down")

    cache.clear()
    with connection.execute_wrapper(refuse):
        assert [dates in foot(client, page) for page in pages] == [False] * 3
    assert [dates in foot(client, page) for page in pages] == [True] * 3
    assert status(client.get("/no/such/page/")) == "hit"


def test_picks_alone_are_never_served_for_a_whole_answer(client: Client) -> None:
    make_primitive(slug="one")
    make_primitive(slug="two")
    from_here = {**PARTS, "HX-Current-URL": "http://testserver/primitives/?p=one"}
    for _ in range(2):
        picks = client.get("/primitives/?p=one&p=two", headers={**from_here, "HX-Trigger": "filters"})
        whole = client.get("/primitives/?p=one&p=two", headers={**from_here, "HX-Trigger": "sort"})
        assert b'id="results"' in whole.content
        assert b'id="results"' not in picks.content


def test_the_guessed_platform_has_a_page_of_its_own_but_each_browser_has_not(client: Client) -> None:
    with transaction.atomic():
        make_audit(agent=make_agent(slug="everywhere", name="Everywhere"))
    client.get("/audits/everywhere/", headers=WINDOWS)
    assert status(client.get("/audits/everywhere/", headers=MAC)) == "fwd=miss"
    assert status(client.get("/audits/everywhere/", headers={"User-Agent": "Windows NT 6, and else"})) == "hit"


def test_each_encoding_says_the_same_and_has_a_validator_of_its_own(client: Client) -> None:
    make_primitive()
    plain = client.get("/primitives/")
    forms = {"br": brotli.decompress, "gzip": gzip.decompress}
    etags = {plain.headers["ETag"]}
    for asked, encoding in [
        ("gzip", "gzip"), ("br, gzip", "br"), ("gzip;q=1.0, br;q=0", "gzip"), ("deflate, gzip, br;q=0.9", "br"),
    ]:  # fmt: skip
        response = client.get("/primitives/", headers={"Accept-Encoding": asked})
        assert status(response) == "hit"
        assert response.headers["Content-Encoding"] == encoding
        assert forms[encoding](response.content) == plain.content
        assert int(response.headers["Content-Length"]) == len(response.content)
        assert "Accept-Encoding" in response.headers["Vary"]
        etags.add(response.headers["ETag"])
    assert len(etags) == 3
    for asked in ("", "identity", "br;q=0, gzip;q=0.0", "brr, xgzip"):
        response = client.get("/primitives/", headers={"Accept-Encoding": asked})
        assert not response.has_header("Content-Encoding")
        assert response.content == plain.content


def test_conditional_requests(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_primitive(slug="box")
    part = client.get("/primitives/", headers=PARTS).headers["ETag"]
    page = client.get("/primitives/").headers["ETag"]
    unchanged = client.get("/primitives/", headers={"If-None-Match": page})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", page)
    assert client.get("/primitives/", headers={"If-None-Match": f'"other", W/{page}'}).status_code == 304
    assert client.get("/primitives/", headers={"If-None-Match": part}).status_code == 200
    assert client.get("/primitives/", headers={"If-None-Match": page, "Accept-Encoding": "br"}).status_code == 200
    assert client.get("/primitives/", headers={"If-None-Match": page, **PARTS}).status_code == 200
    assert client.get("/primitives/none/", headers={"If-None-Match": "*"}).status_code == 404
    Primitive.objects.filter(slug="box").update(name="Else")
    changed = client.get("/primitives/", headers={"If-None-Match": page})
    assert changed.status_code == 200
    # A second change could share the second of the first, so a date is given only once that cannot be.
    assert not changed.has_header("Last-Modified")
    monkeypatch.setattr(response_cache, "SETTLED", timezone.timedelta(0))
    date = client.get("/primitives/").headers["Last-Modified"]
    assert client.get("/primitives/", headers={"If-Modified-Since": date}).status_code == 304
    # The date counts for nothing beside a tag, not even beside one that says nothing.
    for tag in ('"other"', "", "garbage"):
        both = {"If-Modified-Since": date, "If-None-Match": tag}
        assert client.get("/primitives/", headers=both).status_code == 200
    for tag in ('"other"', page):
        assert client.get("/primitives/", headers={"If-None-Match": page, "If-Match": tag}).status_code == 200


def test_the_date_of_a_page_moves_with_a_change_that_was_begun_before_another_and_committed_after_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "SETTLED", timezone.timedelta(0))
    make_primitive(slug="box", name="Before")
    make_primitive(slug="other")
    begun, commit = threading.Event(), threading.Event()

    def slowly() -> None:
        with transaction.atomic():
            Primitive.objects.filter(slug="box").update(name="After")
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            begun.set()
            commit.wait(20)
        connection.close()

    slow = threading.Thread(target=slowly)
    slow.start()
    assert begun.wait(20)
    Primitive.objects.filter(slug="other").update(name="Else")
    for _ in range(2):
        before = client.get("/primitives/box/")
    time.sleep(1.1)  # the date tells no less than seconds
    commit.set()
    slow.join()
    after = client.get("/primitives/box/", headers={"If-Modified-Since": before.headers["Last-Modified"]})
    assert after.status_code == 200
    assert "After" in after.content.decode()


def test_what_is_asked_for_again_is_compressed_with_more_care_and_who_has_the_first_form_has_it(client: Client) -> None:
    make_primitive(slug="box")
    br = {"Accept-Encoding": "br"}
    first = client.get("/primitives/box/", headers=br)
    again, once_more = (client.get("/primitives/box/", headers=br) for _ in range(2))
    assert brotli.decompress(again.content) == brotli.decompress(first.content)
    assert len(again.content) < len(first.content)
    assert again.headers["ETag"] != first.headers["ETag"]
    assert (once_more.content, once_more.headers["ETag"]) == (again.content, again.headers["ETag"])
    for known in (first, again):
        unchanged = client.get("/primitives/box/", headers={**br, "If-None-Match": known.headers["ETag"]})
        assert (unchanged.status_code, unchanged.headers["ETag"]) == (304, known.headers["ETag"])
        # As proxies say it that have compressed it anew.
        weak = {**br, "If-None-Match": f"W/{known.headers['ETag']}"}
        assert client.get("/primitives/box/", headers=weak).status_code == 304
    # Another worker, where nobody has asked for it yet.
    cache_of(client).shelf.clear()
    unchanged = client.get("/primitives/box/", headers={**br, "If-None-Match": again.headers["ETag"]})
    assert (unchanged.status_code, unchanged.headers["ETag"]) == (304, again.headers["ETag"])
    Primitive.objects.filter(slug="box").update(name="Else")
    assert client.get("/primitives/box/", headers={**br, "If-None-Match": again.headers["ETag"]}).status_code == 200


def test_head_is_get_without_its_body_whichever_came_first(client: Client) -> None:
    make_primitive()
    for address in ("/primitives/", "/ladder/"):
        first, second = (("head", "get"), ("get", "head"))[address == "/ladder/"]
        answers = {method: getattr(client, method)(address) for method in (first, second)}
        assert status(answers[second]) == "hit"
        assert answers["head"].content == b""
        assert int(answers["head"].headers["Content-Length"]) == len(answers["get"].content) > 0
        assert answers["head"].headers["ETag"] == answers["get"].headers["ETag"]
    for method in ("options", "post", "put", "delete"):
        response = getattr(client, method)("/primitives/")
        assert response.status_code == 405
        assert "Cache-Status" not in response.headers
    assert status(client.get("/primitives/")) == "hit"


def test_addresses_that_differ_in_the_order_of_parameters_are_one_and_others_are_not(client: Client) -> None:
    make_primitive(slug="one")
    make_primitive(slug="two")
    client.get("/primitives/?sort=name&status=maintained")
    assert status(client.get("/primitives/?status=maintained&sort=name")) == "hit"
    one = client.get("/primitives/compare/?p=one&p=two")
    other = client.get("/primitives/compare/?p=two&p=one")
    assert status(other) == "fwd=miss"
    assert one.content != other.content


def test_what_a_page_does_not_read_makes_no_address_of_its_own(client: Client) -> None:
    make_primitive()
    first = client.get("/primitives/?sort=tier&utm_source=feed")
    for query in ("utm_source=other&sort=tier", "sort=tier", "fbclid=x&sort=tier&fbclid=y&=&tier%00=1"):
        again = client.get(f"/primitives/?{query}")
        assert (status(again), again.content) == ("hit", first.content)
    assert status(client.get("/primitives/?sort=tier&tier=microvm")) == "fwd=miss"
    assert status(client.get("/primitives/?sort=claims")) == "fwd=miss"
    # A part is another answer yet.
    assert status(client.get("/primitives/?sort=tier&x=1", headers=PARTS)) == "fwd=miss"
    client.get("/about/")
    many = "&".join(f"x{number}" for number in range(1_000))
    assert [status(client.get(f"/about/?{query}")) for query in ("x=1", "x=2", many)] == ["hit"] * 3


def test_what_a_page_does_not_read_gets_into_no_answer_that_others_are_given(client: Client, settings: Any) -> None:
    settings.SECURITY_CONTACT = "mailto:security@sandboxicon.example"
    mine = client.get("/.well-known/security.txt?mine=1")
    assert "Canonical: http://testserver/.well-known/security.txt\n" in mine.content.decode()
    assert client.get("/.well-known/security.txt?yours=2").content == mine.content


def test_an_answer_from_before_the_page_is_given_for_its_own_address_alone(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    make_primitive()
    client.get("/primitives/?mine=1", secure=True)
    assert status(client.get("/primitives/?mine=2", secure=True)) == "hit"
    for query in ("?mine=1", "", "?mine=2"):
        assert client.get(f"/primitives/{query}").headers["Location"] == f"https://testserver/primitives/{query}"


def test_machines_that_ask_for_health_are_never_answered_from_it(client: Client) -> None:
    for address in ("/healthz", "/readyz"):
        for _ in range(2):
            assert "Cache-Status" not in client.get(address).headers
    cache_of(client).watch, watch = None, watch_of(client)
    assert client.get("/healthz").content == b"ok\n"  # without a question to the database
    cache_of(client).watch = watch


def test_a_shared_cache_may_hold_a_page_for_a_moment_and_a_browser_must_ask(client: Client, settings: Any) -> None:
    settings.EDGE_SECONDS = 7
    assert client.get("/ladder/").headers["Cache-Control"] == "public, max-age=0, s-maxage=7, stale-if-error=86400"


class FixedWatch:
    """A database whose revision the test sets; None for one that does not answer."""

    revision: Revision | None = Revision(1, timezone.now())

    def current(self) -> Revision:
        if self.revision is None:
            raise Unreachable
        return self.revision


def cache_over(view: Any, settings: Any, most: int) -> tuple[ResponseCache, FixedWatch]:
    settings.RESPONSE_CACHE_BYTES = most
    watch = FixedWatch()
    return ResponseCache(view, watch), watch  # type: ignore[arg-type]


def test_without_the_database_kept_pages_are_served_and_say_so(settings: Any) -> None:
    cache, watch = cache_over(lambda request: HttpResponse("made", status=200), settings, 1_000_000)
    request = RequestFactory().get
    cache(request("/a/"))
    watch.revision = None
    kept = cache(request("/a/"))
    assert (kept.content, status(kept)) == (b"made", 'hit; detail="database unreachable"')
    cache.get_response = lambda request: HttpResponse("no database", status=503)
    refused = cache(request("/b/"))
    assert (refused.status_code, refused.headers["Cache-Control"]) == (503, "private, no-store")
    watch.revision = Revision(1, FixedWatch.revision.moved_at)  # type: ignore[union-attr]
    assert status(cache(request("/a/"))) == "hit"


def test_a_flood_of_addresses_stays_within_the_bytes_and_drives_no_common_page_out(settings: Any) -> None:
    most = 2_000_000
    cache, _ = cache_over(lambda request: HttpResponse(b"x" * 5_000), settings, most)
    request = RequestFactory().get
    common = [f"/common/{number}/" for number in range(20)]
    for address in common * 2:
        cache(request(address))
    for number in range(ADDRESSES):
        cache(request("/search/", {"q": str(number)}))
        if number % 1_000 == 0:
            assert cache.shelf.bytes <= most
    assert cache.shelf.bytes <= most
    assert {status(cache(request(address))) for address in common} == {"hit"}


def test_the_bytes_are_those_of_memory_whatever_a_stranger_puts_into_an_address(settings: Any) -> None:
    most = 2_000_000

    def view(request: HttpRequest) -> HttpResponse:
        read = {"Vary": "HX-Request, HX-Current-URL", "No-Vary-Search": 'key-order, params, except=("q")'}
        return HttpResponse(b"x" * 500, headers=read)

    cache, _ = cache_over(view, settings, most)
    request = RequestFactory().get
    tracemalloc.start()
    try:
        for number in range(2_000):
            long = {"HX-Request": "true", "HX-Current-URL": "u" * (1_900 + number % 200)}
            cache(
                request("/a/", {"q": str(number).ljust(3_900, "x")}, headers={"Host": f"here:{number:08000}", **long})
            )
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Beside it stand the 500 queries that were put in order last.
    assert used < 1.5 * most + 500 * 8_000


def test_what_is_sent_while_it_is_made_is_read_from_the_replica_to_its_end(settings: Any) -> None:
    def view(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(str(replica._is_reading.get()) for _ in range(3))

    cache, watch = cache_over(view, settings, 1_000_000)
    cache.replica_watch = watch  # type: ignore[assignment]
    assert b"".join(cache(RequestFactory().get("/a/"))) == b"TrueTrueTrue"  # type: ignore[arg-type]
    assert not replica._is_reading.get()


def test_raw_bytes_in_an_address_are_not_taken_for_those_that_they_look_like(settings: Any) -> None:
    cache, _ = cache_over(lambda request: HttpResponse(request.GET["q"]), settings, 1_000_000)

    def get(query: str) -> str:
        request = RequestFactory().get("/search/")
        request.META["QUERY_STRING"] = request.environ["QUERY_STRING"] = query
        return cache(request).content.decode()  # type: ignore[attr-defined, no-any-return]

    assert [get("q=\xc3\xa9"), get("q=%C3%83%C2%A9")] == ["é", "Ã©"]


def test_a_body_that_is_made_later_changes_nothing_that_others_read() -> None:
    kept = response_cache.Kept(200, {}, "tag", timezone.now(), {"": b"body"})
    others = kept.bodies
    assert gzip.decompress(kept.body("gzip")) == b"body"
    assert others == {"": b"body"}
    assert set(kept.bodies) == {"", "gzip"}


def test_one_who_makes_a_part_keeps_nobody_waiting_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.kept.PATIENCE_SECONDS", 0.05)
    kept = KeptByRevision(most=9)
    request = RequestFactory().get("/")
    request.content_state = 1, timezone.now(), timezone.localdate()  # type: ignore[attr-defined]
    has_begun, may_end = threading.Event(), threading.Event()

    def slowly() -> str:
        has_begun.set()
        may_end.wait(20)
        return "row"

    slow = threading.Thread(target=kept.get, args=(request, "slow", slowly))
    slow.start()
    assert has_begun.wait(20)
    assert kept.get(request, "quick", lambda: "another row") == "another row"
    assert slow.is_alive()
    may_end.set()
    slow.join()
    assert kept.get(request, "slow", lambda: "never made") == "row"


def test_a_feed_is_sent_again_only_when_what_it_tells_has_changed(client: Client) -> None:
    make_primitive(slug="box", name="Before")
    make_primitive(slug="other")
    feed = client.get("/primitives/box/feed/").headers["ETag"]
    assert client.get("/primitives/box/feed/", headers={"If-None-Match": feed}).status_code == 304
    Primitive.objects.filter(slug="other").update(name="After")
    assert client.get("/primitives/box/feed/", headers={"If-None-Match": feed}).status_code == 304
    Primitive.objects.filter(slug="box").update(name="After all")
    assert client.get("/primitives/box/feed/", headers={"If-None-Match": feed}).status_code == 200
