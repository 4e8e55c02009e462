"""The site as a process of its own: gunicorn as in production, on the database of the tests."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandboxicon import database

CHECKOUT = Path(__file__).resolve().parent.parent
START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A gunicorn that answers at `address`."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path


def environment(**more: str) -> dict[str, str]:
    """What a process of the site needs to know, and nothing of what a developer has set for their own."""
    return {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "for tests in a browser alone " * 3,
        "ALLOWED_HOSTS": "127.0.0.1",
        "DATABASE_URL": database_url(),
        **more,
    }


def manage(*arguments: str, **more: str) -> None:
    """A command of manage.py, which must succeed."""
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=CHECKOUT, env=environment(**more), check=True)


@contextmanager
def running(log: Path, **more: str) -> Iterator[Server]:
    """A gunicorn that is ready, with `more` in its environment; its output goes to `log`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"],
            cwd=CHECKOUT,
            env=environment(**more),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        if not is_ready(server):
            pytest.fail(f"gunicorn did not become ready. Its log:\n{log.read_text()}", pytrace=False)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_ready(server: Server) -> bool:
    """Wait until the server is ready. False where it ended, or takes too long."""
    until = time.monotonic() + START_SECONDS
    while server.process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{server.address}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                return False
        except OSError:
            pass
        time.sleep(0.1)
    return False


def database_url(name: str = "") -> str:
    """The address of the database that the tests use now, or of another one on its server."""
    from django.db import connection

    return database.address(connection.settings_dict, name)
