"""The content's one revision: what moves it, when, and how it is asked for."""

import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pghistory.models
import psycopg
import pytest
from django.apps import apps
from django.db import connection, transaction

from evidence.models import Claim
from ladder.models import Tier
from primitives.models import Primitive
from sandboxicon import revision
from sandboxicon.replica import CONTENT_APPS
from sandboxicon.revision import Unreachable, Watch
from tests.factories import make_claim, make_primitive, make_source
from tests.races import at_the_same_time

pytestmark = pytest.mark.django_db(transaction=True)

# Apps whose every table holds what the public sees, but for these models. The history's rows are left out too: each is
# written together with the change that it tells of.
NOT_CONTENT = {
    "audits.DefaultCell",  # written by a trigger together with the posture that it follows
    "audits.Proposal",  # what a curator wants to change: curators alone see it, and they are served past the cache
}


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What a worker asks."""
    watch = Watch()
    yield watch
    watch.close()


@pytest.fixture
def asked(watch: Watch) -> list[float]:
    """When the watch sent each of its questions."""
    times: list[float] = []
    ask = watch._ask

    def count() -> Any:
        times.append(time.monotonic())
        return ask()

    watch._ask = count  # type: ignore[method-assign]
    return times


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def rename() -> None:
    primitive = Primitive.objects.get(slug="box")
    primitive.name += "!"
    primitive.save()


def create_in_bulk() -> None:
    claims = Claim.objects.all()
    for number, claim in enumerate(claims, 1):
        claim.pk, claim.slug, claim.label = None, f"copy-{number}", "inferred"
        claim.reasoning = "For a test."
    Claim.objects.bulk_create(list(claims))


def three_statements() -> None:
    with transaction.atomic():
        rename()
        create_in_bulk()
        rename()


CHANGES: list[Callable[[], Any]] = [
    rename,
    create_in_bulk,
    three_statements,
    lambda: Claim.objects.update(version="2"),
    lambda: Claim.objects.all().delete(),
    lambda: sql("UPDATE primitives_primitive SET summary = 'Else.'"),
    lambda: make_source(Claim.objects.get()),
    lambda: sql("TRUNCATE primitives_break"),
]


@pytest.mark.parametrize(
    "change", CHANGES, ids=["orm", "bulk", "many", "update", "delete", "sql", "source", "truncate"]
)
def test_any_change_that_commits_moves_it_by_one(watch: Watch, change: Callable[[], Any]) -> None:
    make_claim(make_primitive(slug="box"), label="inferred", reasoning="So.")
    before = watch.current()
    change()
    after = watch.current()
    assert after.number == before.number + 1
    assert after.moved_at > before.moved_at


def test_what_is_taken_back_or_changes_nothing_moves_nothing(watch: Watch) -> None:
    make_primitive(slug="box")
    before = watch.current()
    with transaction.atomic():
        rename()
        transaction.set_rollback(True)
    Primitive.objects.get(slug="box").save()
    assert watch.current() == before


def test_a_savepoint_that_is_taken_back_does_not_hide_what_follows_it(watch: Watch) -> None:
    make_primitive(slug="box")
    before = watch.current()
    with transaction.atomic():
        with transaction.atomic():
            rename()
            sql("SET CONSTRAINTS ALL IMMEDIATE")
            transaction.set_rollback(True)
        rename()
    assert watch.current().number == before.number + 1


def test_changes_at_the_same_time_each_count_and_none_waits(watch: Watch) -> None:
    make_primitive(slug="box")
    make_primitive(slug="other")
    before = watch.current()
    outcomes = at_the_same_time(
        lambda: Primitive.objects.filter(slug="box").update(summary="One."),
        lambda: Primitive.objects.filter(slug="other").update(summary="Two."),
    )
    assert outcomes == ["committed", "committed"]
    assert watch.current().number == before.number + 2


def test_its_rows_stay_few_however_often_it_moves(watch: Watch) -> None:
    make_primitive(slug="box")
    before = watch.current()
    for number in range(250):
        Primitive.objects.filter(slug="box").update(summary=f"The {number}th.")
    assert watch.current().number == before.number + 250
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM content_revision")
        assert cursor.fetchone()[0] <= 101


def test_every_table_of_the_public_content_is_watched() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE 'content\\_moves%'")
        watched = [table for (table,) in cursor.fetchall()]
    expected = {
        model._meta.db_table
        for app in CONTENT_APPS
        for model in apps.get_app_config(app).get_models()
        if model._meta.label not in NOT_CONTENT and not issubclass(model, pghistory.models.Event)
    }
    assert expected == {table for table in watched if watched.count(table) == 3}


def test_readers_at_once_share_questions_but_no_answer_is_older_than_what_they_saw_commit(
    watch: Watch, asked: list[float]
) -> None:
    """In two processes, as it were: each reader knows of every change that had committed when it came."""
    Tier.objects.filter(rank=1).update(tagline="0")
    first = watch.current().number
    committed, times, wrong, stop = first, 0, [], threading.Event()
    other = Watch()

    def look(watch: Watch) -> None:
        at_least = committed
        if watch.current().number < at_least:
            wrong.append(at_least)

    def read(watch: Watch) -> None:
        nonlocal times
        while not stop.is_set():
            times += 1
            look(watch)
            # Else the readers keep Python to themselves, and the writer gets to nothing before every answer is old.
            time.sleep(0.0001)

    readers = [threading.Thread(target=read, args=[it]) for it in (watch, other) for _ in range(4)]
    for reader in readers:
        reader.start()
    make_primitive(slug="box")
    for number in range(100):
        Primitive.objects.filter(slug="box").update(summary=f"The {number}th.")
        committed += 1
        look(watch)
        look(other)
    stop.set()
    for reader in readers:
        reader.join()
    other.close()
    assert not wrong
    assert len(asked) > 100
    assert times > 2 * len(asked)


def test_nobody_asks_again_within_ten_milliseconds(watch: Watch, asked: list[float]) -> None:
    watch.current()
    begun = time.monotonic()
    for _ in range(20_000):
        watch.current()
    assert len(asked) - 1 <= (time.monotonic() - begun) / 0.010 + 1


def test_while_a_change_is_about_to_commit_each_reader_asks(watch: Watch, asked: list[float]) -> None:
    make_primitive(slug="box")
    with transaction.atomic():
        rename()
        sql("SET CONSTRAINTS ALL IMMEDIATE")
        before = watch.current()
        asked.clear()
        assert [watch.current() for _ in range(5)] == [before] * 5
        assert len(asked) == 5
    assert watch.current().number == before.number + 1


def test_an_answer_to_a_transaction_that_reads_what_it_read_before_is_not_trusted() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT trusted FROM content_is_at()")
        assert cursor.fetchone() == (10_000,)
        with transaction.atomic():
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SELECT trusted FROM content_is_at()")
            assert cursor.fetchone() == (0,)


def test_a_database_that_went_away_is_said_at_once_and_found_again(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = watch.current()
    monkeypatch.setattr(revision, "PAUSE_SECONDS", 0)
    with monkeypatch.context() as away:
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%FROM content_is_at()' "
            "AND pid <> pg_backend_pid() AND datname = current_database()")  # fmt: skip
        away.setattr(Watch, "_connect", lambda self: (_ for _ in ()).throw(revision.psycopg.OperationalError("away")))
        time.sleep(0.010)
        with pytest.raises(Unreachable):
            watch.current()
    assert watch.current() == before


def test_options_in_the_databases_address_hold_for_the_watch_too(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "options", "-c application_name=watched")
    watch.current()
    sql("SELECT 1")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'watched'")
        assert cursor.fetchone() == (1,)


def test_a_server_that_hangs_holds_readers_for_a_moment_only(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revision, "ANSWER_SECONDS", 0.3)
    before = watch.current()
    assert watch._connection is not None
    backend = watch._connection.info.backend_pid
    if not Path(f"/proc/{backend}/comm").exists() or "postgres" not in Path(f"/proc/{backend}/comm").read_text():
        pytest.skip("the database is on another machine")
    os.kill(backend, signal.SIGSTOP)
    try:
        time.sleep(0.05)  # the last answer is not trusted any more
        begun = time.monotonic()
        assert watch.current() == before  # by a new connection
        assert time.monotonic() - begun > 0.2
        assert watch._connection is not None
        assert watch._connection.info.backend_pid != backend
    finally:
        os.kill(backend, signal.SIGCONT)


def test_a_pooler_that_takes_the_login_and_has_no_server_holds_readers_for_a_moment_only(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revision, "ANSWER_SECONDS", 0.3)
    listener = socket.create_server(("127.0.0.1", 0))

    def message(kind: bytes, *parts: bytes) -> bytes:
        return kind + struct.pack("!I", 4 + sum(map(len, parts))) + b"".join(parts)

    def pooler() -> None:
        """Takes one client's login as Postgres would, and answers nothing after that until the client leaves."""
        with listener.accept()[0] as client:
            client.recv(4096)
            client.sendall(message(b"R", struct.pack("!I", 0)) + message(b"Z", b"I"))
            while client.recv(4096):
                pass

    thread = threading.Thread(target=pooler)
    thread.start()
    port = listener.getsockname()[1]
    with monkeypatch.context() as pooled:
        pooled.setattr(
            revision.database,
            "connect",
            lambda alias: psycopg.connect(host="127.0.0.1", port=port, user="x", sslmode="disable", autocommit=True),
        )
        begun = time.monotonic()
        with pytest.raises(Unreachable):
            watch.current()
    assert time.monotonic() - begun < 10
    thread.join(10)
    assert not thread.is_alive(), "the connection is still open"
    listener.close()
    monkeypatch.setattr(watch, "_not_before", 0)
    assert watch.current().number >= 0


def test_answers_of_two_watches_are_counted_together(watch: Watch) -> None:
    other = Watch()
    told = []
    for each in (watch, other, watch):
        told.append(each.current())
        time.sleep(0.02)
    other.close()
    assert [one.answer for one in told] == sorted({one.answer for one in told})
    assert told[0].first_told_at == told[2].first_told_at < told[2].told_at
