"""What breaks beneath the site while it is in use. `make faults` runs these: they take minutes, and a PostgreSQL of
their own, which is stopped, killed and starved of room."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import urlencode

import psycopg
import pytest

from sandboxicon import embedded
from tests.admin_form import AdminForm
from tests.servers import CHECKOUT, Server, environment, running

pytestmark = pytest.mark.skipif(os.environ.get("FAULTS") != "1", reason="make faults runs these")

READERS = 16
BACK_WITHIN = 5  # seconds


class Cluster:
    """A PostgreSQL of the tests' own, with the site's tables in it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.account = embedded._account(data)
        self.socket = embedded.socket_folder(data)
        self.url = f"postgres:///{embedded.NAME}?host={self.socket}&user={embedded.USER}"

    def start(self) -> None:
        embedded._start(self.data, self.account)

    def stop(self, mode: str = "fast") -> None:
        embedded._run("pg_ctl", "-D", ".", "-m", mode, "-w", "stop", account=self.account, folder=self.data)

    def kill(self) -> None:
        """As the kernel does where memory runs out: the server and all of its children at once."""
        postmaster = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in (postmaster, *map(int, children)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def ensure_it_runs(self) -> None:
        try:
            self.connect().close()
        except psycopg.Error:
            time.sleep(1)
            self.start()

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.socket), dbname=embedded.NAME, user=embedded.USER, port=embedded.PORT, autocommit=True
        )

    def manage(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=CHECKOUT,
            env=environment(DATABASE_URL=self.url),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def done(self, *arguments: str) -> str:
        process = self.manage(*arguments)
        output, _ = process.communicate()
        assert process.returncode == 0, output
        return output

    def rows(self) -> dict[str, int]:
        with self.connect() as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in tables}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    root = tmp_path_factory.mktemp("faults")
    is_small = os.geteuid() == 0
    if is_small:  # so that it can be filled up
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=500m,mode=755", "tmpfs", root], check=True)
    found = Cluster(root / "data")
    found.start()
    embedded._ensure_database(found.data)
    with found.connect() as connection:  # a journal that fits
        connection.execute("ALTER SYSTEM SET max_wal_size = '96MB'")
        connection.execute("ALTER SYSTEM SET min_wal_size = '32MB'")
        connection.execute("SELECT pg_reload_conf()")
    yield found
    try:
        found.stop("immediate")
    except OSError:
        pass
    if is_small:
        subprocess.run(["umount", "--lazy", root], check=True)


@pytest.fixture
def site(cluster: Cluster, as_served: dict[str, str], tmp_path: Path) -> Iterator[Server]:
    cluster.done("migrate", "--verbosity=0")
    cluster.done("load_content")
    with running(tmp_path / "log", **as_served, DATABASE_URL=cluster.url) as server:
        yield server


def ask(address: str) -> tuple[int, dict[str, str]]:
    """0 where nobody answered."""
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)
    except OSError:
        return 0, {}


def until_well(server: Server, path: str) -> float:
    begun = time.monotonic()
    while ask(server.address + path)[0] != 200:
        assert time.monotonic() < begun + 60
        time.sleep(0.1)
    return time.monotonic() - begun


class Seen(NamedTuple):
    """One answer, and when it was asked for and came."""

    begun: float
    ended: float
    kind: str
    status: int
    headers: dict[str, str]


class Readers:
    """Sixteen who read one page that is kept, and pages that are not."""

    def __init__(self, server: Server) -> None:
        self.seen: list[Seen] = []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._read, args=(server, number)) for number in range(READERS)]

    def _read(self, server: Server, number: int) -> None:
        turn = 0
        while not self.stop.is_set():
            turn += 1
            kind = "kept" if number % 2 else "new"
            path = "/primitives/" if number % 2 else f"/primitives/?q=x{number}y{turn}"
            begun = time.monotonic()
            status, headers = ask(server.address + path)
            self.seen.append(Seen(begun, time.monotonic(), kind, status, headers))

    def __enter__(self) -> "Readers":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()


def test_postgres_goes_and_comes_back_while_sixteen_read(cluster: Cluster, site: Server) -> None:
    for _ in range(8):  # so that each worker has it
        assert ask(site.address + "/primitives/")[0] == 200
    with Readers(site) as readers:
        time.sleep(3)
        cluster.stop("immediate")
        gone = time.monotonic()
        time.sleep(12)
        back = time.monotonic()
        cluster.start()
        took = until_well(site, "/primitives/?q=after")
        time.sleep(BACK_WITHIN + 2)
        end = time.monotonic()
    # What was under way when it went may end as it likes; the page that is kept says so from the next question on.
    away = [seen for seen in readers.seen if gone + 1 < seen.begun and seen.ended < back]
    kept, new = ([seen for seen in away if seen.kind == kind] for kind in ("kept", "new"))
    slowest = max(seen.ended - seen.begun for seen in away)
    print(f"away: {len(kept)} kept, {len(new)} new, the slowest {slowest:.1f} s; well {took:.1f} s after the start")
    assert {seen.status for seen in kept} == {200}
    assert {seen.status for seen in new} == {503}
    assert all("database unreachable" in seen.headers["Cache-Status"] for seen in kept)
    assert {seen.headers["Retry-After"] for seen in new} == {"5"}
    assert took < BACK_WITHIN
    assert {seen.status for seen in readers.seen if back + BACK_WITHIN < seen.begun < end} <= {200}


def test_a_worker_that_is_killed_costs_its_own_requests_alone(site: Server) -> None:
    master = site.process.pid
    with Readers(site) as readers:
        time.sleep(2)
        victim = Path(f"/proc/{master}/task/{master}/children").read_text().split()[0]
        os.kill(int(victim), signal.SIGKILL)
        killed = time.monotonic()
        time.sleep(8)
    assert victim not in Path(f"/proc/{master}/task/{master}/children").read_text().split()
    counts = Counter(seen.status for seen in readers.seen)
    print(f"a worker killed: {dict(counts)}")
    assert set(counts) <= {0, 200}
    assert counts[0] <= READERS
    assert {seen.status for seen in readers.seen if seen.begun > killed + BACK_WITHIN} == {200}


def test_a_load_that_loses_its_database_leaves_nothing_behind(cluster: Cluster) -> None:
    cluster.done("migrate", "--verbosity=0")
    cluster.done("load_content")
    with cluster.connect() as connection:
        connection.execute("UPDATE primitives_primitive SET summary = summary || ' Typed by a curator.'")
    before = cluster.rows()
    load = cluster.manage("load_content", "--overwrite-all")
    with cluster.connect() as watch:
        writes = (
            "SELECT 1 FROM pg_locks WHERE mode = 'RowExclusiveLock' AND relation = 'primitives_primitive'::regclass"
        )
        while not watch.execute(writes).fetchone():
            assert load.poll() is None, load.communicate()[0]
            time.sleep(0.02)
    cluster.kill()
    output, _ = load.communicate()
    assert load.returncode != 0, output
    cluster.start()
    assert cluster.rows() == before
    with cluster.connect() as connection:
        typed = "SELECT count(*) FROM primitives_primitive WHERE summary NOT LIKE '% Typed by a curator.'"
        assert connection.execute(typed).fetchone() == (0,)
    assert " 0 updated" not in cluster.done("load_content", "--overwrite-all")


class Browser:
    """As much of a test client as a form of the admin needs, for a server that is a process of its own."""

    def __init__(self, server: Server, session: str) -> None:
        self.server, self.cookies = server, {"sessionid": session}

    def get(self, url: str) -> Any:
        return self._ask(url, None)

    def post(self, url: str, fields: Any) -> Any:
        return self._ask(url, urlencode(fields, doseq=True).encode())

    def _ask(self, url: str, body: bytes | None) -> Any:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        request = urllib.request.Request(self.server.address + url, body, {"Cookie": cookies})
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        for name, morsel in SimpleCookie(answer.headers.get("Set-Cookie", "")).items():
            self.cookies[name] = morsel.value
        return SimpleNamespace(status_code=answer.status, content=answer.read(), headers=answer.headers)


LOG_IN = """
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
user = get_user_model().objects.create_superuser("ada")
session = import_module(settings.SESSION_ENGINE).SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session.save()
print(session.session_key)
"""


def test_a_curators_save_that_loses_its_database_leaves_nothing_behind(cluster: Cluster, site: Server) -> None:
    browser: Any = Browser(site, cluster.done("shell", "-v0", "-c", LOG_IN).split()[-1])
    with cluster.connect() as connection:
        entry = connection.execute("SELECT id, summary FROM primitives_primitive WHERE slug = 'runc'").fetchone()
        assert entry
    form = AdminForm(browser, f"/admin/primitives/primitive/{entry[0]}/change/")
    form.fields |= {"summary": "Half-written.", "claims-0-sentence": "Half-written too."}
    answers: list[Any] = []
    save = threading.Thread(target=lambda: answers.append(browser.post(form.url, form.fields)))
    # The entry is written first, then its claims, one of which is held here: the save is in the middle.
    holder = cluster.connect()
    holder.execute("BEGIN")
    holder.execute("SELECT FROM evidence_claim WHERE primitive_id = %s FOR UPDATE", [entry[0]])
    with cluster.connect() as watch:
        save.start()
        while not watch.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            assert save.is_alive(), answers
            time.sleep(0.05)
    cluster.kill()
    save.join()
    holder.close()
    assert [answer.status_code for answer in answers] == [503]
    cluster.ensure_it_runs()
    with cluster.connect() as connection:
        assert connection.execute("SELECT summary FROM primitives_primitive WHERE slug = 'runc'").fetchone() == (
            entry[1],
        )
        assert connection.execute("SELECT FROM evidence_claim WHERE sentence LIKE 'Half%'").fetchone() is None


def fill(file: Path) -> None:
    """Write to it until there is no room left."""
    with file.open("wb", buffering=0) as written:
        with suppress(OSError):
            while True:
                written.write(os.urandom(100_000))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount the small disk")
def test_a_load_that_finds_the_disk_full_leaves_nothing_behind(cluster: Cluster) -> None:
    cluster.done("migrate", "--verbosity=0")
    with cluster.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS ballast (text text)")
        connection.execute("CHECKPOINT")
    filler = cluster.data.parent / "filler"
    with cluster.connect() as connection:
        connection.execute("UPDATE primitives_primitive SET summary = summary || ' Typed by a curator.'")
        before = cluster.rows()
        fill(filler)
        with pytest.raises(psycopg.Error):
            connection.execute("INSERT INTO ballast SELECT repeat(md5(i::text), 40) FROM generate_series(1, 200000) i")
    load = cluster.manage("load_content", "--overwrite-all")
    load.communicate()
    filler.unlink()
    # Without room for its journal the server ends itself, and goes on from it when it starts again.
    cluster.ensure_it_runs()
    assert load.returncode != 0
    assert cluster.rows() == before
    assert before["ballast"] == 0
    cluster.done("load_content", "--overwrite-all")


def test_migrations_from_two_hosts_at_once_run_once(cluster: Cluster) -> None:
    cluster.ensure_it_runs()
    with cluster.connect() as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    both = [cluster.manage("migrate") for _ in range(2)]
    outputs = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    applied = sorted(len(re.findall(r"\.\.\. OK", output)) for output in outputs)
    assert applied[0] == 0
    assert applied[1] > 50
    assert "No migrations to apply" in cluster.done("migrate")
