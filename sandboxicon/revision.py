"""Which state of the public content is in force: the database's one revision.

Migration 0004 says how the database moves it. Asking costs a round trip and no scan, and with the answer the database
mostly promises that none will commit a change for some milliseconds (migration 0013): for as long nobody asks again.
Otherwise each request does. Those that arrive while a question is under way share the next one, so that nobody gets an
answer to a question that was put before they came.
"""

import datetime
import itertools
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from sandboxicon import database

_SQL = b"""SELECT number, moved_at, trusted, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM content_is_at()"""
_STATEMENT = b"content_is_at"
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

# Of the clocks that Linux has, the one that also goes on while the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

# How long nobody asks again after the database did not answer: each try could hold a thread for seconds.
PAUSE_SECONDS = 0.5
# How long a question waits for its answer: a server that hangs says nothing, nor does a pooler that has none.
ANSWER_SECONDS = 3

# Answers of all watches are counted together, so that any two of them can be told apart by which came first.
_ANSWERS = itertools.count(1)


@dataclass(frozen=True)
class Revision:
    """A state of the public content. `number` grows with every transaction that changed some of it."""

    number: int
    moved_at: datetime.datetime
    # Which of the answers this is: of two, of whichever watch, the later one has the higher number.
    answer: int = field(default=0, compare=False)
    # By the database's clock: when it told this watch of this state first, and when it did now. The state before was in
    # force until later than any watch was told of it, and `moved_at` may lie before that: it is when a transaction
    # made its first change, and others may have come and gone until it committed.
    first_told_at: datetime.datetime = field(default=_EPOCH, compare=False)
    told_at: datetime.datetime = field(default=_EPOCH, compare=False)


class Unreachable(Exception):
    """The database does not say which revision is in force."""


class Watch:
    """Asks one database for its revision, on a connection of its own. Any number of threads may ask."""

    def __init__(self, alias: str = "default") -> None:
        self.alias = alias
        self._connection: psycopg.Connection[Any] | None = None
        self._turn = threading.Condition()
        self._begun = 0
        self._ended = 0
        self._is_asking = False
        self._answer: Revision | None = None
        # The last answer, and until when on the clock it holds for those who come later too.
        self._trusted: tuple[Revision | None, float] = None, 0.0
        self._not_before = 0.0

    def current(self) -> Revision:
        """The revision in force now, or at a moment since the call. Raises Unreachable within some seconds."""
        trusted, until = self._trusted
        if trusted and time.clock_gettime(_CLOCK) < until:
            return trusted
        with self._turn:
            wanted = self._begun + 1
            while self._ended < wanted:
                if self._is_asking:
                    self._turn.wait()
                    continue
                self._is_asking = True
                self._begun += 1
                self._turn.release()
                answer = None
                try:
                    answer = self._ask()
                finally:
                    self._turn.acquire()
                    self._answer = answer
                    self._ended = self._begun
                    self._is_asking = False
                    self._turn.notify_all()
            if self._answer is None:
                raise Unreachable
            return self._answer

    def close(self) -> None:
        """End the connection. The next question opens another."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _ask(self) -> Revision | None:
        if time.monotonic() < self._not_before:
            return None
        # The server may have restarted since the last question: then one new connection is tried.
        for _ in range(2):
            was_open = self._connection is not None
            try:
                if self._connection is None:
                    self._connection = self._connect()
                sent = time.clock_gettime(_CLOCK)
                turn = next(_ANSWERS)
                number, moved_at, trusted, told_at = _read(self._connection)
                answer = Revision(number, _time(moved_at), turn, _time(told_at), _time(told_at))
                before, _ = self._trusted
                if before == answer:
                    answer = replace(answer, first_told_at=before.first_told_at)
                self._trusted = answer, sent + trusted / 1_000_000
                return answer
            except psycopg.Error:
                if self._connection is not None:
                    self._connection.close()
                self._connection = None
                if not was_open:
                    break
        self._not_before = time.monotonic() + PAUSE_SECONDS
        return None

    def _connect(self) -> "psycopg.Connection[Any]":
        connection = database.connect(self.alias)
        try:
            _answer_to(connection, lambda server: server.send_prepare(_STATEMENT, _SQL))
        except psycopg.Error:
            connection.close()
            raise
        return connection


def _time(microseconds: int) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(microseconds=microseconds)


def _read(connection: "psycopg.Connection[Any]") -> tuple[int, int, int, int]:
    """What the statement says. Raises psycopg.Error, also where no answer comes in time."""
    found = _answer_to(connection, lambda server: server.send_query_prepared(_STATEMENT, []))
    if found is None or found.status != ExecStatus.TUPLES_OK:
        raise psycopg.OperationalError(found.get_error_message() if found else "no answer")
    number, moved_at, trusted, told_at = (int(found.get_value(0, column) or 0) for column in range(4))
    return number, moved_at, trusted, told_at


def _answer_to(connection: "psycopg.Connection[Any]", send: Callable[[PGconn], None]) -> PGresult | None:
    """What the server answers to what `send` sends. Straight through libpq: readers wait for it, and a cursor takes
    longer than Postgres. Raises psycopg.Error, also where no answer comes in time.
    """
    server = connection.pgconn
    until = time.monotonic() + ANSWER_SECONDS
    arrives = select.poll()
    arrives.register(server.socket, select.POLLIN)
    send(server)
    server.flush()
    found = None
    while True:
        while server.is_busy():
            if not arrives.poll(max(until - time.monotonic(), 0) * 1000):
                raise psycopg.OperationalError("no answer in time")
            server.consume_input()
        result = server.get_result()
        if result is None:
            return found
        found = result
