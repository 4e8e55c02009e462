"""What DATABASE_URL may say, and what happens when its server can't be used."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from sandboxicon import database, embedded

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def migrate(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], "SECRET_KEY": "x", "DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_no_url_means_the_embedded_server() -> None:
    found = database.configuration("", pool_size=8)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert found["HOST"] == str(embedded.socket_folder())
    assert found["NAME"] == "sandboxicon"


@pytest.mark.parametrize("url", ["", "postgres://u:p@db.example:5433/guide"])
def test_every_process_has_a_pool(url: str) -> None:
    found = database.configuration(url, pool_size=5)
    assert found["CONN_MAX_AGE"] == 0
    assert found["OPTIONS"]["pool"]["max_size"] == 5


def test_the_parts_of_an_address() -> None:
    found = database.configuration("postgresql://u:p%40%2Fss@db.example:5433/guide?sslmode=require", pool_size=8)
    assert [found[name] for name in ("USER", "PASSWORD", "HOST", "NAME")] == ["u", "p@/ss", "db.example", "guide"]
    assert int(found["PORT"]) == 5433
    assert found["OPTIONS"]["sslmode"] == "require"


def test_the_parts_of_an_address_in_its_query() -> None:
    url = "postgres:///?host=/run/Postgres&dbname=guide&user=u&password=007&port=5433"
    found = database.configuration(url, pool_size=8)
    assert [found[name] for name in ("USER", "PASSWORD", "HOST", "NAME", "PORT")] == [
        "u",
        "007",
        "/run/Postgres",
        "guide",
        "5433",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "hunter2",
        "hunter2://db",
        "sqlite:///hunter2",
        "mysql://u:hunter2@db/guide",
        "postgis://u:hunter2@db/guide",
        "postgres://u:hunter2@db",
        "postgres://u:hunter2@db/",
        "postgres://u:hunter2@db:port/guide",
        "postgres://u:hunter2@db:99999/guide",
        "postgres://u:[hunter2@db/guide",
        "postgres://u:1/hunter2@db/guide",
        "postgres://u:1?hunter2@db/guide",
        "postgres://u:1#hunter2@db/guide",
        "postgres://u:1/hunter2?hunter2@db/guide",
    ],
)
def test_a_bad_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL should read postgres://") as caught:
        database.configuration(url, pool_size=8)
    assert "hunter2" not in str(caught.value)


def test_a_bad_url_ends_the_start_in_one_line() -> None:
    done = migrate("postgres://u:1#hunter2@db/guide")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("url", "host", "name"),
    [
        ("postgres://u:hunter2@127.0.0.1:1/guide", "127.0.0.1", "guide"),
        ("postgres://u:%68unter2@127.0.0.1:1/guide", "127.0.0.1", "guide"),
        ("postgres://u@127.0.0.1:1/guide?password=hunter2", "127.0.0.1", "guide"),
        ("postgres://u:hunter2@no-such-host.invalid/guide", "no-such-host.invalid", "guide"),
        ("postgres:///guide?host=/nonexistent&password=hunter2", "/nonexistent", "guide"),
        ("postgres://u:hunter2@127.0.0.1:1/guide?sslmode=hunter2", "127.0.0.1", "guide"),
        ("postgres://u:hunter2@127.0.0.1:1/guide?hunter2=1", "127.0.0.1", "guide"),
        ("postgres://u:hunter2@127.0.0.1:1/guide?sslpassword=hunter2", "127.0.0.1", "guide"),
        ("postgres://u@127.0.0.1:1/guide?sslpassword=hunter2&sslcert=/hunter2", "127.0.0.1", "guide"),
    ],
)
def test_an_unreachable_server_is_one_line_with_host_and_database(url: str, host: str, name: str) -> None:
    done = migrate(url)
    assert done.returncode == 1
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert f'Database "{name}" on {host}' in line
    assert "hunter2" not in line


def test_a_server_that_never_answers_is_given_up_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        done = migrate(f"postgres://u:hunter2@127.0.0.1:{silent.getsockname()[1]}/guide")
        assert time.monotonic() - started < 20  # the pool alone would take 30
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("version", [90624, 110022, 130000, 139999])
def test_a_server_older_than_14_is_refused(version: int) -> None:
    assert f"runs PostgreSQL {version // 10000}" in database.version_problem(version)


@pytest.mark.parametrize("version", [140000, 150013, 180006])
def test_newer_servers_will_do(version: int) -> None:
    assert database.version_problem(version) == ""


@pytest.mark.django_db
def test_the_version_of_the_real_server_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    database.check()
    monkeypatch.setattr(database, "OLDEST", 99)
    with pytest.raises(database.DatabaseUnavailable, match="the site needs 99 or newer"):
        database.check()
