import hashlib
import os
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

FIRST_PORT = 8000


class Command(BaseCommand):
    """What `make run` does: bring database, content and static files up to date, then become gunicorn."""

    help = "Prepare the database, the content and the static files, and serve the site on 127.0.0.1."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        port = _port(os.environ.get("PORT", ""))
        self.stdout.write("Bringing the database and the content up to date.")
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        call_command("load_content", stdout=self.stdout)
        _collect_static()
        self.stdout.flush()
        os.chdir(settings.BASE_DIR)
        # gunicorn.conf.py takes the embedded server over: nothing that this process registered outlives the call.
        os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"])


def _port(wanted: str) -> int:
    """The port that PORT names, which must be free, or else the first free one from 8000 on."""
    if not wanted:
        for port in range(FIRST_PORT, FIRST_PORT + 100):
            if _is_free(port):
                return port
        raise CommandError(f"No port from {FIRST_PORT} to {FIRST_PORT + 99} is free. Set PORT to a free one.")
    if not wanted.isascii() or not wanted.isdigit() or not 1 <= int(wanted) <= 65535:
        raise CommandError(f"PORT is {wanted!r}, and should be a number from 1 to 65535.")
    if not _is_free(int(wanted)):
        raise CommandError(f"Port {wanted} is taken (or not for this user). Set PORT to another, or leave it unset.")
    return int(wanted)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As gunicorn does, so that a port whose last connection is just fading counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _collect_static() -> None:
    """Hash and compress the static files, unless nothing has changed: it takes seconds, most of the second start."""
    stamp = settings.BASE_DIR / ".data" / "static.sha256"
    fingerprint = _static_fingerprint()
    if Path(settings.STATIC_ROOT, "staticfiles.json").exists() and stamp.exists() and stamp.read_text() == fingerprint:
        return
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(fingerprint)


def _static_fingerprint() -> str:
    parts = [repr(settings.STORAGES["staticfiles"]), *(version(name) for name in ("django", "whitenoise", "brotli"))]
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = os.stat(storage.path(path))
            parts.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()
