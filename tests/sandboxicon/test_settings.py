"""A start with settings that are missing or half right."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sandboxicon import secret_key

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def start(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("command", [("manage.py", "check"), ("manage.py", "migrate"), ("-m", "gunicorn")])
def test_without_a_secret_key_it_refuses_and_says_what_to_set(command: tuple[str, ...]) -> None:
    done = start(*command, PORT="1")
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith("SECRET_KEY is not set. Set it in the environment")
    assert "Traceback" not in done.stderr


def test_debug_needs_no_secret_key() -> None:
    assert start("manage.py", "check", DEBUG="1").returncode == 0


def test_help_needs_nothing() -> None:
    assert start("manage.py", "help").returncode == 0


@pytest.mark.parametrize(
    ("name", "value"), [("DEBUG", "perhaps"), ("BEHIND_TLS", "maybe"), ("DATABASE_POOL_SIZE", "many")]
)
def test_a_half_right_value_is_refused_by_name(name: str, value: str) -> None:
    done = start("manage.py", "check", SECRET_KEY="x", **{name: value})
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("Environment:")
    assert name in line


def test_a_newcomer_gets_a_key_that_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "secret_key"
    monkeypatch.setattr(secret_key, "FILE", file)
    monkeypatch.delenv("SECRET_KEY")
    secret_key.provide()
    key = os.environ["SECRET_KEY"]
    assert len(key) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["secret_key"]
    monkeypatch.delenv("SECRET_KEY")
    secret_key.provide()
    assert os.environ["SECRET_KEY"] == key


def test_a_key_of_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_key, "FILE", tmp_path / "secret_key")
    monkeypatch.setenv("SECRET_KEY", "mine")
    secret_key.provide()
    assert os.environ["SECRET_KEY"] == "mine"
    assert not (tmp_path / "secret_key").exists()
