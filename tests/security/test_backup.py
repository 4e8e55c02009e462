"""A backup brings everything back: content, history, curators, and the rules."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django_otp.plugins.otp_totp.models import TOTPDevice
from psycopg.conninfo import make_conninfo

from primitives.models import Primitive
from sandboxicon import backup
from tests.servers import CHECKOUT, environment


@pytest.fixture
def other() -> Iterator[tuple[str, str]]:
    """The address and the conninfo of an empty database beside the one of the tests."""
    settings, name = connection.settings_dict, f"restored_{os.getpid()}"
    parts = {key: str(settings[key.upper()]) for key in ("host", "port", "user", "password") if settings[key.upper()]}
    with psycopg.connect(make_conninfo(**parts, dbname="postgres"), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield (
            f"postgres:///{name}?" + "&".join(f"{key}={value}" for key, value in parts.items()),
            make_conninfo(**parts, dbname=name),
        )
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def run(command: str, *arguments: object, url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", command, *map(str, arguments)],
        cwd=CHECKOUT,
        env=environment(DATABASE_URL=url),
        capture_output=True,
        text=True,
    )


def everything(server: psycopg.Connection) -> dict[str, str]:
    """A digest of the rows of each table, and what stands in the schema beside tables."""
    tables = [name for (name,) in server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    found = {}
    for table in tables:
        if table != "django_session":
            rows = server.execute(
                f"SELECT md5(coalesce(string_agg(r::text, E'\\n' ORDER BY r::text), '')) FROM \"{table}\" r"
            )
            found[table] = rows.fetchone()[0]
    for kind, sql in {
        "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
        "constraints": "SELECT conname, contype::text, condeferred, conrelid::regclass::text FROM pg_constraint",
        "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "sequences": "SELECT sequencename || coalesce(last_value, 0) FROM pg_sequences",
    }.items():
        found[kind] = str(sorted(server.execute(sql).fetchall()))
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("content")
def test_a_backup_brings_back_all_content_history_and_curators(other: tuple[str, str], tmp_path: Path) -> None:
    url, conninfo = other
    ada = User.objects.create_user("ada", password="a long and strange one 7", is_staff=True)
    TOTPDevice.objects.create(user=ada, name="phone")
    file = tmp_path / "new" / "all.dump"
    connection.ensure_connection()
    kept = everything(connection.connection)
    assert len(kept) > 40
    backup.backup(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["all.dump"]

    done = run("restore", file, url=url)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(conninfo, autocommit=True) as restored:
        assert everything(restored) == kept
        assert restored.execute("SELECT count(*) FROM django_session").fetchone() == (0,)
        with pytest.raises(psycopg.errors.IntegrityError):
            restored.execute("DELETE FROM ladder_tier")

        # A database that holds something is kept, unless asked for; and a file that is none costs nothing.
        restored.execute("UPDATE primitives_primitive SET name = name || ' of old'")
        changed = everything(restored)
        assert "not empty" in run("restore", file, url=url).stderr
        broken = tmp_path / "half.dump"
        broken.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        assert run("restore", broken, "--replace", url=url).returncode == 1
        assert everything(restored) == changed
        done = run("restore", file, "--replace", url=url)
        assert done.returncode == 0, done.stderr
        assert everything(restored) == kept
        assert restored.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'before%'").fetchall() == []
    assert Primitive.objects.filter(name__endswith="of old").count() == 0


def test_the_program_is_the_servers_own_version_or_the_next_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = []
    for version in (14, 16, 18):
        path = tmp_path / f"pg_dump{version}"
        path.write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {version}.3'\n")
        path.chmod(0o700)
        paths.append(path)
    monkeypatch.setattr(backup, "_candidates", lambda name: iter(paths))
    assert [backup.program("pg_dump", version).name[-2:] for version in (14, 15, 16, 17)] == ["14", "16", "16", "18"]
    with pytest.raises(backup.BackupError, match="needs a pg_dump of 19 or newer; here: 14, 16, 18"):
        backup.program("pg_dump", 19)
