"""Two web processes over a primary and a real streaming replica, each server out of the wheel, on this machine."""

import os
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import psycopg
import pytest

from sandboxicon import embedded
from tests.content import small
from tests.servers import manage, running

READING = 'FROM "primitives_primitive"'


class Servers:
    """A primary and its replica, which write every statement to their logs."""

    def __init__(self, folder: Path) -> None:
        self.primary, self.replica = folder / "primary", folder / "replica"
        embedded.start(self.primary)
        account = embedded._account(self.primary)
        with self.connect(self.primary) as connection:
            connection.execute("ALTER SYSTEM SET log_statement = 'all'")
            connection.execute("SELECT pg_reload_conf()")
        folder.chmod(0o755)
        self.replica.mkdir(mode=0o700)
        if account.other:
            os.chown(self.replica, account.uid, account.gid)
        embedded._run(
            "pg_basebackup",
            *("-h", str(embedded.socket_folder(self.primary)), "-p", str(embedded.PORT), "-U", embedded.USER),
            *("-D", str(self.replica), "-R", "-X", "stream", "-c", "fast"),
            account=account,
            folder=self.replica,
        )
        embedded.start(self.replica)

    def connect(self, data: Path) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(embedded.socket_folder(data)),
            port=embedded.PORT,
            user=embedded.USER,
            dbname=embedded.NAME,
            autocommit=True,
        )

    def url(self, data: Path) -> str:
        return (
            f"postgres:///{embedded.NAME}?host={embedded.socket_folder(data)}&user={embedded.USER}&port={embedded.PORT}"
        )

    def ask(self, data: Path, sql: str) -> Any:
        with self.connect(data) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchone() if cursor.description else None

    def reads(self, data: Path) -> int:
        return (data / "log").read_text(errors="replace").count(READING)

    def wait_for_replica(self) -> None:
        wanted = self.ask(self.primary, "SELECT sum(moves) FROM content_revision")
        until = time.monotonic() + 20
        while self.ask(self.replica, "SELECT sum(moves) FROM content_revision") != wanted:
            assert time.monotonic() < until, "the replica does not follow"
            time.sleep(0.05)


@pytest.fixture
def servers() -> Iterator[Servers]:
    """Both run, and the replica follows."""
    # Not in pytest's own folder, which each run of pytest closes to all users but its own.
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder))
        yield servers
        embedded.release(servers.replica)
        embedded.release(servers.primary)


@pytest.fixture
def sites(servers: Servers, as_served: dict[str, str], tmp_path: Path) -> Iterator[list[str]]:
    """The addresses of two web processes over both."""
    environment = {
        **as_served,
        "DATABASE_URL": servers.url(servers.primary),
        "DATABASE_REPLICA_URL": servers.url(servers.replica),
        "WEB_CONCURRENCY": "1",
    }
    manage("migrate", "-v0", **environment)
    manage("load_content", "--from", str(small.write(tmp_path / "content", small.documents())), **environment)
    servers.wait_for_replica()
    with (
        running(tmp_path / "one.log", **environment) as one,
        running(tmp_path / "two.log", **environment) as two,
    ):
        yield [one.address, two.address]


def get(site: str, path: str) -> tuple[str, str]:
    """The body, and what the cache says of it."""
    try:
        with urllib.request.urlopen(site + path, timeout=30) as response:
            return response.read().decode(), response.headers.get("Cache-Status", "").removeprefix("sandboxicon; ")
    except HTTPError as error:
        return str(error.code), ""


def test_readers_read_from_the_replica_while_it_is_not_behind_and_never_go_back_in_time(
    servers: Servers, sites: list[str]
) -> None:
    primary, replica = servers.reads(servers.primary), servers.reads(servers.replica)
    for site in sites:
        assert get(site, "/primitives/")[1] == "fwd=miss"
    assert servers.reads(servers.primary) == primary
    assert servers.reads(servers.replica) > replica

    servers.ask(servers.replica, "SELECT pg_wal_replay_pause()")
    for number in range(3):
        servers.ask(servers.primary, f"UPDATE primitives_primitive SET name = 'Seen {number}' WHERE slug = 'runc'")
        for site in sites:
            assert f"Seen {number}" in get(site, "/primitives/?q=runc")[0]
            assert f"Seen {number}" in get(site, "/primitives/runc/")[0]
    assert servers.reads(servers.primary) > primary

    servers.ask(servers.replica, "SELECT pg_wal_replay_resume()")
    servers.wait_for_replica()
    primary, replica = servers.reads(servers.primary), servers.reads(servers.replica)
    for site in sites:
        assert "Seen 2" in get(site, "/primitives/?sort=name")[0]
    assert servers.reads(servers.primary) == primary
    assert servers.reads(servers.replica) > replica

    embedded.release(servers.primary)
    for site in sites:
        body, status = get(site, "/primitives/runc/")
        assert "Seen 2" in body
        assert status == 'hit; detail="database unreachable"'
        body, status = get(site, "/primitives/docker/")
        assert "Docker" in body
        assert status == 'fwd=miss; detail="database unreachable"'
