"""Whole responses, kept by each process for as long as they are true.

What an anonymous reader gets depends on the address, on the headers that the response names in Vary, on the day (claims
age by the day) and on the public content. So a response is kept under all of these, and each answer begins with the
content's revision (`sandboxicon.revision`): what is served was made from the content that is in force at that moment.
A request with a session goes past all of this, and nobody keeps what it gets.
"""

import datetime
import gzip
import re
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode

import brotli
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date, parse_etags
from django_htmx.middleware import HtmxDetails

from audits.verdicts import guess_platform
from sandboxicon import replica
from sandboxicon.revision import Revision, Unreachable, Watch

# In Cache-Status (RFC 9211), where the primary does not say whether this is still true.
UNREACHABLE = '; detail="database unreachable"'
KEPT_STATUSES = {200, 301, 404, 410}
# The next change could share the second in which this one was seen, which is all that Last-Modified can tell. So it is
# told only when the database has said for so long that this one is in force.
SETTLED = datetime.timedelta(seconds=2)
# Brotli's quality for a page that is asked for the first time, where a higher one takes longer than all else that the
# page costs; and for one that is asked for again, and is a fifth smaller then.
BROTLI_ONCE, BROTLI_AGAIN = 0, 5
# How the ETag of the first one ends.
FIRST_FORM = "-br-0"
# No header that a page depends on is longer than an address; what is longer is not worth a place.
LONGEST_HEADER = 2_000

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def _wants_part(request: HttpRequest) -> Hashable:
    return "HTTP_HX_REQUEST" in request.META and "HTTP_HX_HISTORY_RESTORE_REQUEST" not in request.META


def _settle_htmx(request: HttpRequest) -> None:
    """Put what a page makes of htmx's headers in place of what they say.

    A page takes only `true` for true, and may be told that a value is percent-encoded. If the key under which its
    answer is kept had another opinion, a stranger could put a part where everybody looks for the page.
    """
    htmx = HtmxDetails(request)
    told: dict[str, str | None] = {}
    if htmx:
        told = {
            "HTTP_HX_REQUEST": "true",
            "HTTP_HX_HISTORY_RESTORE_REQUEST": "true" if htmx.history_restore_request else None,
            "HTTP_HX_CURRENT_URL": htmx.current_url,
            "HTTP_HX_TARGET": htmx.target,
            "HTTP_HX_TRIGGER": htmx.trigger,
        }
    for name in [name for name in request.META if name.startswith("HTTP_HX_")]:
        del request.META[name]
    request.META.update({name: value for name, value in told.items() if value})
    # Django reads them all at the first, and keeps that.
    request.__dict__.pop("headers", None)


def _platform(request: HttpRequest) -> Hashable:
    return _guessed(_header(request, "user-agent"), _header(request, "sec-ch-ua-platform"))


@lru_cache(500)
def _guessed(agent: str, told: str) -> str:
    return guess_platform({"User-Agent": agent, "Sec-CH-UA-Platform": told})


def _header(request: HttpRequest, name: str) -> str:
    """A header by its lower-case name. Django's `request.headers` reads all of them at the first."""
    value: str = request.META.get(f"HTTP_{name.upper().replace('-', '_')}", "")
    return value


# What a page makes of a header that it varies on, where that is less than the header itself says.
MEANINGS: dict[str, Callable[[HttpRequest], Hashable]] = {
    "hx-request": _wants_part,
    "user-agent": _platform,
    "sec-ch-ua-platform": _platform,
    "accept-encoding": lambda request: None,
}


@dataclass
class Kept:
    """A response as it is kept: one body in one or more encodings."""

    status: int
    headers: dict[str, tuple[str, str]]
    """As a response stores them: by their names in small letters, with the names as they are sent."""
    etag: str
    modified_at: datetime.datetime
    bodies: dict[str, bytes]
    """By encoding. Never changed but put in place of the one before, since others may be reading that."""
    was_asked_again: bool = False
    heads: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes in memory, about: bodies, headers, and what Python needs around them."""
        headers = sum(len(name) + len(value) for name, value in self.headers.values())
        return 4_000 + sum(map(len, self.bodies.values())) + headers

    def body(self, encoding: str) -> bytes:
        """In this encoding, made now if nobody asked for it before."""
        if encoding not in self.bodies:
            quality = BROTLI_AGAIN if self.was_asked_again else BROTLI_ONCE
            self.bodies = {**self.bodies, encoding: _compress(self._plain(), encoding, quality)}
        return self.bodies[encoding]

    def tag(self, encoding: str, *, was_asked_again: bool) -> str:
        """The ETag of the body in this encoding and form: another one for other bytes."""
        is_first = encoding == "br" and not was_asked_again
        return f'"{self.etag}{FIRST_FORM if is_first else encoding and "-" + encoding}"'

    def asked_again(self, encoding: str) -> "Kept":
        """The same response, compressed with more care. A new one, since others may be sending this one."""
        again = Kept(self.status, self.headers, self.etag, self.modified_at, {"": self._plain()}, was_asked_again=True)
        again.bodies = {encoding: again.body(encoding)}
        return again

    def _plain(self) -> bytes:
        encoding, body = next(iter(self.bodies.items()))
        return {"": bytes, "br": brotli.decompress, "gzip": gzip.decompress}[encoding](body)


def _weight(key: Hashable) -> int:
    """Bytes that a key takes in memory, about: who asks decides how long the texts in it are."""
    if isinstance(key, (tuple, frozenset)):
        return sys.getsizeof(key) + sum(map(_weight, key))
    return sys.getsizeof(key)


class Shelf:
    """Values by key, within a number of bytes, keys included; the least lately asked for go first.

    What was asked for once is apart from what was asked for again, so that a flood of addresses that nobody asks for
    twice drives out only its like (a segmented LRU).
    """

    AGAIN = 0.8

    def __init__(self, most: int) -> None:
        self.most = most
        self._once: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._again: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes_once = self._bytes_again = 0
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """All that is kept now."""
        return self._bytes_once + self._bytes_again

    def get(self, key: Hashable) -> Any:
        """What is kept under the key, or None."""
        with self._lock:
            if key in self._again:
                self._again.move_to_end(key)
                return self._again[key][0]
            if key not in self._once:
                return None
            value, size = self._once.pop(key)
            self._bytes_once -= size
            self._again[key] = value, size
            self._bytes_again += size
            self._shrink()
            return value

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep it, in place of what was there. What is larger than an eighth of the whole is not kept."""
        size += _weight(key)
        with self._lock:
            if size > self.most / 8:
                return
            if key in self._again:
                self._bytes_again += size - self._again[key][1]
                self._again[key] = value, size
            else:
                self._bytes_once += size - (self._once.pop(key)[1] if key in self._once else 0)
                self._once[key] = value, size
            self._shrink()

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._once.clear()
            self._again.clear()
            self._bytes_once = self._bytes_again = 0

    def _shrink(self) -> None:
        while self._bytes_again > self.most * self.AGAIN:
            key, (value, size) = self._again.popitem(last=False)
            self._bytes_again -= size
            self._once[key] = value, size
            self._bytes_once += size
        while self.bytes > self.most and self._once:
            _, (_, size) = self._once.popitem(last=False)
            self._bytes_once -= size


State = tuple[int, datetime.datetime, datetime.date]
"""What all kept responses were made from: the revision, its time, and the day."""


class ResponseCache:
    """Middleware, the first of all: answers an anonymous reader from what is kept, or keeps what the site answers."""

    def __init__(self, get_response: GetResponse, watch: Watch | None = None) -> None:
        if not settings.RESPONSE_CACHE_BYTES:
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.watch = watch or Watch()
        self.replica_watch = Watch(replica.ALIAS) if replica.is_there() else None
        self.shelf = Shelf(settings.RESPONSE_CACHE_BYTES)
        self.state: State | None = None
        self.last_answer = 0
        # When the day here began, and when it ends.
        self.day = timezone.localtime(), 0.0
        self.static = f"/{settings.STATIC_URL.strip('/')}/"
        self.liveness = reverse("healthz")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Whether this process answers has nothing to do with the database.
        if request.path_info.startswith(self.static) or request.path_info == self.liveness:
            return _keep_from_others(self.get_response(request))
        if request.method not in ("GET", "HEAD") or _is_personal(request):
            return _keep_from_others(self.get_response(request))
        if "HTTP_HX_REQUEST" in request.META:
            _settle_htmx(request)
        revision, is_primary = self._revision()
        state = self._state(revision)
        read = self.shelf.get((state, _page(request))) if request.META.get("QUERY_STRING") else None
        address = _address(request, read)
        names = self.shelf.get((state, address))
        key = _key(request, address, state, names)
        encoding = _encoding(request)
        kept: Kept | None = self.shelf.get(key) if key else None
        if kept is None:
            response = self._made_now(request, revision, state, encoding)
            if not is_primary and "Cache-Status" in response.headers:
                response["Cache-Status"] += UNREACHABLE
            return response
        is_new_form = not kept.was_asked_again or encoding not in kept.bodies
        if not kept.was_asked_again:
            kept = kept.asked_again(encoding)
        response = _answer(request, kept, encoding, revision, f"hit{'' if is_primary else UNREACHABLE}")
        if is_new_form:
            self.shelf.put(key, kept, kept.size)
        return response

    def _revision(self) -> tuple[Revision | None, bool]:
        """The revision in force, and whether the primary says so.

        Where it does not answer, the replica's counts, but for one older than what this process has seen.
        """
        try:
            return self.watch.current(), True
        except Unreachable:
            pass
        replicas = self._replicas_revision()
        if replicas and self.state and replicas.number < self.state[0]:
            replicas = None
        return replicas, False

    def _replicas_revision(self) -> Revision | None:
        try:
            return self.replica_watch.current() if self.replica_watch else None
        except Unreachable:
            return None

    def _state(self, revision: Revision | None) -> State | None:
        """The state in force, or the last one known; what was made from another one is let go."""
        if revision is None:
            return self.state
        state = revision.number, revision.moved_at, self._midnight().date()
        # A thread that was held up may come with an earlier answer: it is served, and nothing else follows from it.
        if state != self.state and revision.answer >= self.last_answer:
            self.state = state
            self.last_answer = revision.answer
            self.shelf.clear()
        return state

    def _midnight(self) -> datetime.datetime:
        """When the day here began."""
        if time.time() >= self.day[1]:
            midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
            self.day = midnight, (midnight + datetime.timedelta(days=1)).timestamp()
        return self.day[0]

    def _made_now(
        self, request: HttpRequest, revision: Revision | None, state: State | None, encoding: str
    ) -> HttpResponseBase:
        is_head = request.method == "HEAD"
        request.method = "GET"
        request.revision = revision  # type: ignore[attr-defined]
        request.content_state = state if revision else None  # type: ignore[attr-defined]
        _without_cookies(request)
        on_replica = revision is not None and self._replicas_revision() == revision
        with replica.reading() if on_replica else nullcontext():
            response = self.get_response(request)
        if is_head:
            request.method = "HEAD"
        if request.content_state is None:  # type: ignore[attr-defined]
            revision = None  # or it was lost on the way (sandboxicon.context)
        if on_replica and isinstance(response, StreamingHttpResponse):
            # It is made while it is sent, when this has long returned.
            chunks: Any = response.streaming_content
            response.streaming_content = replica.reading_each(chunks)
        if not isinstance(response, HttpResponse) or not _may_be_kept(response):
            return _keep_from_others(response)
        # A page also changes at midnight, when its claims grow a day older.
        modified_at = max(revision.first_told_at, self._midnight()) if revision else timezone.now()
        kept = Kept(
            response.status_code, response.headers._store, _digest(response), modified_at, {"": response.content}
        )
        if revision and state:
            names = tuple(name.strip().lower() for name in response.get("Vary", "").split(",") if name.strip())
            if encoding:
                kept.bodies = {encoding: kept.body(encoding)}
            # By what this very response says: another one of the page may come from somewhere else, and say nothing.
            read = _read(response)
            address = _address(request, read)
            if read is not None:
                self.shelf.put((state, _page(request)), read, 500)
            if key := _key(request, address, state, names):
                self.shelf.put((state, address), names, 500)
                self.shelf.put(key, kept, kept.size)
        return _answer(request, kept, encoding, revision, "fwd=miss")


def _key(
    request: HttpRequest, address: Hashable, state: State | None, names: tuple[str, ...] | None
) -> Hashable | None:
    """Under what the response is kept; None where it is not yet known what it varies on, or is too much."""
    if names is None or state is None:
        return None
    values = [MEANINGS[name](request) if name in MEANINGS else _header(request, name) for name in names]
    if any(isinstance(value, str) and len(value) > LONGEST_HEADER for value in values):
        return None
    return state, address, tuple(values)


def _is_personal(request: HttpRequest) -> bool:
    cookies = request.META.get("HTTP_COOKIE", "")
    return "HTTP_AUTHORIZATION" in request.META or (bool(cookies) and settings.SESSION_COOKIE_NAME in request.COOKIES)


def _without_cookies(request: HttpRequest) -> None:
    """Nothing personal can come into a page that is made without it. A form's token stays: no form is kept."""
    token = request.COOKIES.get(settings.CSRF_COOKIE_NAME) if "HTTP_COOKIE" in request.META else None
    request.META.pop("HTTP_COOKIE", None)
    request.COOKIES = {settings.CSRF_COOKIE_NAME: token} if token else {}


_READ = re.compile(r"key-order, params(?:, except=\(([^)]*)\))?")


def _read(response: HttpResponse) -> frozenset[str] | None:
    """Which parameters of its address the response says that it depends on (sandboxicon.parameters); None for all."""
    found = _READ.fullmatch(response.get("No-Vary-Search", ""))
    return frozenset((found[1] or "").replace('"', "").split()) if found else None


def _page(request: HttpRequest) -> Hashable:
    """The address but for its query."""
    return request.scheme, _header(request, "host"), request.path_info


def _address(request: HttpRequest, read: frozenset[str] | None) -> Hashable:
    """The same for addresses that differ in the order of different parameters alone, or in some that are not `read`."""
    query = request.META.get("QUERY_STRING", "")
    return _page(request), query and _in_order(query, read)


@lru_cache(500)
def _in_order(query: str, read: frozenset[str] | None) -> str:
    # A page reads raw bytes as UTF-8, and this would not.
    if not query.isascii():
        return query
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=settings.DATA_UPLOAD_MAX_NUMBER_FIELDS)
    except ValueError:
        return query
    return urlencode(sorted((it for it in pairs if read is None or it[0] in read), key=lambda it: it[0]))


_NOT_FOR_ALL = re.compile(r"no-store|no-cache|private")
_OF_A_COOKIE = re.compile(r"\*|\bcookie\b", re.IGNORECASE)


def _may_be_kept(response: HttpResponse) -> bool:
    return (
        response.status_code in KEPT_STATUSES
        and not response.streaming
        and not response.cookies
        and not response.has_header("Content-Encoding")
        and not _NOT_FOR_ALL.search(response.get("Cache-Control", ""))
        and not _OF_A_COOKIE.search(response.get("Vary", ""))
    )


def _keep_from_others(response: HttpResponseBase) -> HttpResponseBase:
    if not response.has_header("Cache-Control"):
        response["Cache-Control"] = "private, no-store"
    return response


_CODINGS = re.compile(r"(?:^|,)\s*(br|gzip)\s*(?:;\s*q=([0-9.]+))?\s*(?=,|$)")


def _encoding(request: HttpRequest) -> str:
    """The best encoding that the client takes: br, gzip, or "" for none."""
    return _best(_header(request, "accept-encoding"))


@lru_cache(500)
def _best(header: str) -> str:
    taken = {name for name, quality in _CODINGS.findall(header) if not quality or quality.strip("0.")}
    return "br" if "br" in taken else "gzip" if "gzip" in taken else ""


def _compress(body: bytes, encoding: str, quality: int) -> bytes:
    if encoding == "br":
        return brotli.compress(body, quality=quality)
    return gzip.compress(body, mtime=0) if encoding == "gzip" else body


def _digest(response: HttpResponse) -> str:
    """What tells this response from all others of its address: its body, and where htmx is to put that."""
    of_htmx = sorted(it for it in response.headers.items() if it[0].startswith("HX-"))
    return sha256(repr(of_htmx).encode() + response.content).hexdigest()[:24]


def _answer(
    request: HttpRequest, kept: Kept, encoding: str, revision: Revision | None, cache_status: str
) -> HttpResponseBase:
    head = kept.heads.get(encoding)
    if head is None:
        is_settled = revision is not None and revision.told_at - kept.modified_at > SETTLED
        head = _head(kept, encoding, is_settled)
        if is_settled:
            kept.heads[encoding] = head
    response = HttpResponse(
        b"" if request.method == "HEAD" else kept.body(encoding), content_type="", status=kept.status
    )
    # Each header by itself would be checked and encoded anew for each answer.
    response.headers._store = head.copy()
    response["Cache-Status"] = f"sandboxicon; {cache_status}"
    if kept.status == 200 and ("HTTP_IF_NONE_MATCH" in request.META or "HTTP_IF_MODIFIED_SINCE" in request.META):
        return _unless_known(request, kept, encoding, response)
    return response


def _unless_known(request: HttpRequest, kept: Kept, encoding: str, response: HttpResponse) -> HttpResponseBase:
    """A 304 for who has the content, in either of its two forms; else the response."""
    # It is for who changes something, and nobody does here.
    request.META.pop("HTTP_IF_MATCH", None)
    modified = int(kept.modified_at.timestamp()) if response.has_header("Last-Modified") else None
    if "HTTP_IF_NONE_MATCH" in request.META:
        # Then the date counts for nothing (RFC 9110, 13.1.3), also where the tags say nothing.
        request.META.pop("HTTP_IF_MODIFIED_SINCE", None)
        known = {tag.removeprefix("W/") for tag in parse_etags(request.META["HTTP_IF_NONE_MATCH"])}
        other = kept.tag(encoding, was_asked_again=not kept.was_asked_again)
        if response["ETag"] not in known and other in known:
            # A cache looks for what it has by the tag that this one names.
            response["ETag"] = other
            return get_conditional_response(request, other, None, response) or response
    return get_conditional_response(request, response["ETag"], modified, response) or response


# Of nearly all pages it is the same.
_http_date = lru_cache(100)(http_date)


def _head(kept: Kept, encoding: str, is_settled: bool) -> dict[str, tuple[str, str]]:
    """The headers that every answer with this body has, as a response stores them; Last-Modified once it is settled."""
    response = HttpResponse()
    response.headers._store = kept.headers.copy()
    if encoding:
        response["Content-Encoding"] = encoding
    response["Content-Length"] = str(len(kept.body(encoding)))
    is_of_htmx = "HX-Request" in response.get("Vary", "")
    patch_vary_headers(response, ["Accept-Encoding", *(["HX-History-Restore-Request"] if is_of_htmx else [])])
    if not response.has_header("Cache-Control"):
        response["Cache-Control"] = f"public, max-age=0, s-maxage={settings.EDGE_SECONDS}, stale-if-error=86400"
    if kept.status == 200:
        response["ETag"] = kept.tag(encoding, was_asked_again=kept.was_asked_again)
        if is_settled:
            response["Last-Modified"] = _http_date(int(kept.modified_at.timestamp()))
    store: dict[str, tuple[str, str]] = response.headers._store
    return store
