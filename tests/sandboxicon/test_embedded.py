"""The embedded server for real: started, shared, killed and started again, in folders of its own."""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from sandboxicon import embedded

CHECKOUT = Path(__file__).resolve().parent.parent.parent
NOBODY = 65534
# A process that uses the server until its standard input ends.
USE = """
import sys
from pathlib import Path
from sandboxicon import embedded
embedded.start(Path(sys.argv[1]))
print("up", flush=True)
sys.stdin.read()
"""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sandbox icon ", dir="/tmp"))
    data = folder / "postgres"
    yield data
    embedded.release(data)
    with contextlib.suppress(FileNotFoundError, ValueError, psutil.NoSuchProcess):
        process = psutil.Process(server_pid(data))
        if process.name() == "postgres":  # left by a failed test
            process.kill()
    shutil.rmtree(embedded.socket_folder(data), ignore_errors=True)
    shutil.rmtree(folder)


def query(data: Path, sql: str) -> Any:
    host = str(embedded.socket_folder(data))
    with psycopg.connect(host=host, port=embedded.PORT, user=embedded.USER, dbname=embedded.NAME) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchone()[0] if cursor.description else None


def server_pid(data: Path) -> int:
    return int((data / "postmaster.pid").read_text().split()[0])


def is_gone(pid: int) -> bool:
    """Whether the process has ended. Where nobody collects them, an ended one stays as a zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def use(data: Path, *, python: str = sys.executable, **kwargs: Any) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(CHECKOUT), sysconfig.get_path("purelib")])
    return subprocess.Popen(
        [python, "-c", USE, str(data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        **kwargs,
    )


@contextlib.contextmanager
def user(data: Path, **kwargs: Any) -> Iterator[subprocess.Popen[str]]:
    with use(data, **kwargs) as process:
        try:
            assert process.stdout
            if process.stdout.readline() != "up\n":
                assert process.stderr
                pytest.fail(process.stderr.read())
            yield process
        finally:
            if process.poll() is None:
                assert process.stdin
                process.stdin.close()
                process.wait(30)


def python_of_nobody() -> str:
    """A Python of our version that an ordinary user may run (that of root may lie in root's home)."""
    minor = f"python3.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{minor}", f"/usr/local/bin/{minor}"):
        probe = [python, "-c", "import psycopg, psutil, sandboxicon.embedded"]
        path = os.pathsep.join([str(CHECKOUT), sysconfig.get_path("purelib")])
        with contextlib.suppress(OSError):
            if not subprocess.run(
                probe,
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd="/",
                env={"PYTHONPATH": path},
                capture_output=True,
            ).returncode:
                return python
    pytest.skip("no Python that an ordinary user may run")


def test_first_start_makes_an_empty_database_in_a_path_with_a_space(data: Path) -> None:
    embedded.start(data)
    assert query(data, "SELECT current_setting('server_version_num')::int / 10000") >= 14
    assert query(data, "SELECT current_setting('listen_addresses')") == ""
    assert query(data, "SELECT lower('É') || datlocprovider::text FROM pg_database LIMIT 1") == "éb"


def test_second_start_keeps_the_data(data: Path) -> None:
    embedded.start(data)
    query(data, "CREATE TABLE kept AS SELECT 42 AS n")
    pid = server_pid(data)
    embedded.start(data)
    assert server_pid(data) == pid
    embedded.release(data)
    assert is_gone(pid)
    assert not embedded.socket_folder(data).exists()
    embedded.start(data)
    assert query(data, "SELECT n FROM kept") == 42


def test_two_data_folders_share_nothing(data: Path) -> None:
    other = data.with_name("other")
    embedded.start(data)
    with user(other):
        query(data, "CREATE TABLE mine ()")
        assert query(other, "SELECT to_regclass('mine') IS NULL")
        assert server_pid(data) != server_pid(other)
    assert query(data, "SELECT to_regclass('mine') IS NOT NULL")


def test_a_moved_folder_works(data: Path) -> None:
    embedded.start(data)
    query(data, "CREATE TABLE kept ()")
    embedded.release(data)
    moved = data.parent / "moved here" / "postgres"
    moved.parent.mkdir()
    data.rename(moved)
    with user(moved):
        assert query(moved, "SELECT to_regclass('kept') IS NOT NULL")


def test_a_folder_that_was_moved_while_the_server_runs_is_refused(data: Path) -> None:
    moved = data.with_name("moved")
    with user(data):
        data.rename(moved)
        with pytest.raises(embedded.EmbeddedServerError, match="was moved from"):
            embedded.start(moved)
        moved.rename(data)


def test_a_copy_of_a_folder_in_use_is_not_taken_for_the_running_server(data: Path) -> None:
    copy = data.with_name("copy")
    embedded.start(data)
    query(data, "CHECKPOINT")
    subprocess.run(["cp", "-a", data, copy], check=True)
    with user(copy):
        assert server_pid(copy) != server_pid(data)
        assert query(copy, "SELECT 1") == 1


def test_the_last_user_stops_the_server(data: Path) -> None:
    with user(data) as last:
        with user(data) as first:
            pid = server_pid(data)
        assert first.returncode == 0
        assert query(data, "SELECT 1") == 1
    assert last.returncode == 0
    assert is_gone(pid)


def test_a_killed_user_does_not_count(data: Path) -> None:
    with user(data), user(data) as killed:
        pid = server_pid(data)
        killed.kill()
        killed.wait()
    assert is_gone(pid)


def test_a_forked_child_does_not_stop_the_server_of_its_parent(data: Path) -> None:
    embedded.start(data)
    pid = server_pid(data)
    child = os.fork()
    if child == 0:
        embedded.release(data)
        os._exit(0)
    os.waitpid(child, 0)
    assert not is_gone(pid)
    assert query(data, "SELECT 1") == 1


def test_a_killed_server_starts_again(data: Path) -> None:
    embedded.start(data)
    query(data, "CREATE TABLE kept ()")
    pid = server_pid(data)
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: is_gone(pid))
    embedded.start(data)
    assert server_pid(data) != pid
    assert query(data, "SELECT to_regclass('kept') IS NOT NULL")


def test_a_stale_pid_file_that_names_another_living_process_is_survived(data: Path) -> None:
    embedded.start(data)
    pid_file = data / "postmaster.pid"
    owner, content = pid_file.stat(), pid_file.read_text()
    embedded.release(data)
    with subprocess.Popen(["sleep", "60"], user=owner.st_uid if os.geteuid() == 0 else None) as stranger:
        try:
            pid_file.write_text("\n".join([str(stranger.pid), *content.splitlines()[1:], ""]))
            os.chown(pid_file, owner.st_uid, owner.st_gid)
            embedded.start(data)
            assert query(data, "SELECT 1") == 1
        finally:
            stranger.kill()


def test_an_interrupted_first_start_leaves_nothing_to_trip_over(data: Path) -> None:
    with use(data) as process:
        assert eventually(lambda: any(data.parent.glob("postgres.new-*/base")))
        process.kill()
    assert not data.exists()
    embedded.start(data)
    assert query(data, "SELECT 1") == 1


def test_a_folder_of_something_else_is_left_alone(data: Path) -> None:
    data.mkdir()
    (data / "thesis.txt").write_text("mine")
    with pytest.raises(embedded.EmbeddedServerError, match="holds something else"):
        embedded.start(data)
    assert (data / "thesis.txt").read_text() == "mine"


def test_a_socket_folder_that_others_can_enter_is_refused(data: Path) -> None:
    folder = embedded.socket_folder(data)
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(embedded.EmbeddedServerError, match="Remove it and start again"):
        embedded.start(data)


def test_a_failed_start_shows_the_log_and_the_way_out(data: Path) -> None:
    embedded.start(data)
    embedded.release(data)
    with (data / "postgresql.conf").open("a") as config:
        config.write("no_such_parameter = 1\n")
    with pytest.raises(embedded.EmbeddedServerError) as caught:
        embedded.start(data)
    text = str(caught.value)
    assert "DATABASE_URL can name another server" in text.splitlines()[0]
    assert "no_such_parameter" in text


def test_postgres_variables_of_the_environment_change_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    monkeypatch.setenv("PGDATA", "/nonexistent")
    embedded.start(data)
    assert query(data, "SELECT current_setting('port')") == "5432"


@as_root
def test_root_runs_it_as_another_user_and_opens_folders_for_search_alone(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stat.S_IMODE(data.parent.stat().st_mode) == 0o700
    embedded.start(data)
    assert psutil.Process(server_pid(data)).uids().effective == data.stat().st_uid != 0
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE(data.parent.stat().st_mode) == 0o701
    assert f"Made {data.parent} searchable" in capsys.readouterr().err
    socket = embedded.socket_folder(data).stat()
    assert (stat.S_IMODE(socket.st_mode), socket.st_uid) == (0o700, data.stat().st_uid)


@as_root
def test_an_ordinary_user_runs_it_as_themselves(data: Path) -> None:
    os.chown(data.parent, NOBODY, NOBODY)
    with user(data, python=python_of_nobody(), user=NOBODY, group=NOBODY, extra_groups=[]):
        assert psutil.Process(server_pid(data)).uids().effective == NOBODY
        assert stat.S_IMODE(data.parent.stat().st_mode) == 0o700
        # Root may join in later, as whoever the data belongs to.
        embedded.start(data)
        pid = server_pid(data)
    assert not is_gone(pid)
    embedded.release(data)
    assert is_gone(pid)


@as_root
def test_an_ordinary_user_is_told_whose_the_data_is(data: Path) -> None:
    data.mkdir()
    data.parent.chmod(0o755)
    python = python_of_nobody()
    with use(data, python=python, user=NOBODY, group=NOBODY, extra_groups=[]) as process:
        _, error = process.communicate()
    assert process.returncode
    assert "belongs to user root" in error.splitlines()[-1]
