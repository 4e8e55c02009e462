"""What the tools that look at the site share: each kind of page, a server like that of readers, the browser."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each kind of page that readers get, by name.
KINDS = {
    "home": "/",
    "two models": "/models/",
    "a step of them": "/models/?step=jailer",
    "ladder": "/ladder/",
    "rung": "/ladder/microvm/",
    "reference": "/primitives/",
    "reference, filtered": "/primitives/?q=docker&tier=container",
    "entry": "/primitives/firecracker/",
    "entries compared": "/primitives/compare/?p=firecracker&p=gvisor",
    "matrix": "/audits/",
    "agent": "/audits/codex/",
    "agents compared": "/audits/compare/?a=claude-code&a=codex&a=jules",
    "ledger": "/evidence/",
    "claim": "/claims/error.unshare-eperm.meaning/",
    "nesting": "/nesting/",
    "inner sandbox": "/nesting/bubblewrap/",
    "nested": "/nesting/bubblewrap/bare-fedora/",
    "errors": "/errors/",
    "error": "/errors/kvm-absent/",
    "changes": "/changes/",
    "history": "/audits/codex/history/",
    "method": "/method/",
    "about": "/about/",
    "search": "/search/?q=docker",
}
# Those that ask search engines to pass them by, for which Lighthouse would scold them.
NOT_TO_BE_FOUND = ["/claims/primitive.gvisor.directfs-on/correction/", "/nowhere/"]

CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
]


def chromium() -> str:
    """The path of the browser, or the end with a sentence that says how to name one."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        sys.exit("There is no Chromium on the PATH; CHROMIUM can name one.")
    return found


def needs(program: str, brings: str) -> str:
    """The path of a program, or the end with a sentence that says what brings it."""
    found = shutil.which(program)
    if not found:
        sys.exit(f"There is no {program} on the PATH. On Debian and Ubuntu: apt install {brings}")
    return found


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running() -> Iterator[str]:
    """The address of the site, served as `make run` does, on a free port, until the end of the block."""
    port = str(free_port())
    site = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env={**os.environ, "PORT": port, "DEBUG": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        told = []
        for line in site.stdout or []:
            told.append(line)
            if line.startswith("http://"):
                break
        else:
            sys.exit("The site did not start:\n" + "".join(told))
        yield f"http://127.0.0.1:{port}"
    finally:
        site.send_signal(signal.SIGINT)
        site.wait(30)
