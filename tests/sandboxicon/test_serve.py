"""`make run`, from a database that is behind to an answer, twice."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connections
from psycopg.conninfo import make_conninfo

from sandboxicon.management.commands import serve
from tests.content import small

CHECKOUT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def stale_database(django_db_modify_db_settings: None) -> Iterator[dict[str, str]]:
    """An environment whose DATABASE_URL names a database beside the one of the tests, without content and without the
    last step of its migrations: to apply them all takes longer than a test may, and is done for the suite once."""
    server = {name: str(connections.settings["default"][name.upper()]) for name in ("host", "port", "user", "password")}
    name = f"serve_{os.getpid()}"
    admin = make_conninfo(**{key: value for key, value in server.items() if value}, dbname="postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {connections.settings['default']['TEST']['TEMPLATE']}")
    with psycopg.connect(admin, dbname=name) as connection:
        connection.execute("DROP TABLE django_session")
        connection.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    query = "&".join(f"{key}={value}" for key, value in server.items() if value)
    yield {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "x" * 60,
        "DATABASE_URL": f"postgres:///{name}?{query}",
        "WEB_CONCURRENCY": "1",  # a second worker that is still starting takes the signal badly
    }
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def serve_once(environment: dict[str, str], path: str) -> tuple[int, str]:
    """Run the command until it prints its address, ask for `path`, and end it with Ctrl-C's signal."""
    with subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        alarm = threading.Timer(120, process.kill)
        alarm.start()
        try:
            assert process.stdout
            printed = []
            for line in process.stdout:
                printed.append(line)
                if re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", line):
                    with urllib.request.urlopen(line.strip() + path) as answer:
                        status = answer.status
                    break
            else:
                pytest.fail("".join(printed))
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate()
            assert process.returncode == 0, rest
        finally:
            alarm.cancel()
            process.kill()
    return status, "".join(printed)


def test_serve_answers_and_keeps_its_data(stale_database: dict[str, str], tmp_path: Path) -> None:
    small.write(tmp_path, small.documents())
    stale_database |= {"DJANGO_SETTINGS_MODULE": "tests.small_settings", "CONTENT": str(tmp_path)}
    # Ready it is only if all migrations were applied.
    status, printed = serve_once(stale_database, "readyz")
    assert status == 200
    assert re.search(r"[1-9]\d* created", printed)
    status, printed = serve_once(stale_database, "readyz")
    assert status == 200
    assert " 0 created" in printed


def test_a_wanted_port_that_is_taken_is_refused_and_otherwise_the_next_one_is_used() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"Port {port} is taken"):
            serve._port(str(port))
    assert serve._port(str(port)) == port


def test_without_a_wanted_port_the_first_free_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_is_free", lambda port: port >= 8003)
    assert serve._port("") == 8003


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "80.0", "²"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(CommandError, match="from 1 to 65535"):
        serve._port(port)
