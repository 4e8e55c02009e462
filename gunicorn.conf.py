"""How gunicorn serves the site. `make run` uses this, and so does a deployment that calls gunicorn itself."""

import ctypes
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Any

chdir = str(Path(__file__).resolve().parent)
wsgi_app = "sandboxicon.wsgi"
bind = f"127.0.0.1:{os.environ.get('PORT') or 8000}"
workers = os.environ.get("WEB_CONCURRENCY") or 2
worker_class = "gthread"
threads = 8
graceful_timeout = 10
# By itself gunicorn takes headers of these names, SCRIPT_NAME and PATH_INFO, for what the server in front says, from
# any peer on this machine. Ours says no such thing, but passes on what a client says.
forwarder_headers = ""
# Its default path is one per user, not one per checkout, and nobody here uses it.
control_socket_disable = True
if os.environ.get("LOG_FORMAT") == "json":
    logconfig_dict = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "sandboxicon.logs.JsonFormatter"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json", "stream": sys.stderr}},
        "root": {"handlers": [], "level": "INFO"},
        "loggers": {"gunicorn.error": {"handlers": ["console"], "level": "INFO", "propagate": False}},
    }
# Not `preload_app`: a database pool opened in the master, and its threads, would not survive the fork.


def on_starting(server: Any) -> None:
    """Bring the database up before there are workers, and keep the embedded one up for as long as the master lives."""
    sys.path.insert(0, chdir)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandboxicon.settings")
    from django.core.exceptions import ImproperlyConfigured

    from sandboxicon import database

    try:
        database.prepare()
    except (ImproperlyConfigured, database.DatabaseUnavailable) as error:
        sys.exit(str(error))


def post_fork(server: Any, worker: Any) -> None:
    """Keep the memory that a page took for the next one.

    By itself glibc gives it back, and asks the system for it again with each page: sixty page faults, a tenth of what
    a page costs that is made anew. With these (see mallopt(3)) a worker keeps up to 16 MB in each of two arenas, which
    its threads share, instead of 128 KB in an arena a thread.
    """
    trim_threshold, mmap_threshold, arena_max = -1, -3, -8
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return  # another C library
    mallopt(trim_threshold, 16 << 20)
    mallopt(mmap_threshold, 4 << 20)
    mallopt(arena_max, 2)


def post_worker_init(worker: Any) -> None:
    """Read all addresses now, so that a mistake in them ends the start; then tell the reader where the site is."""
    # A terminal's Ctrl-C reaches the workers too, beside the signal by which the master ends them, and the handler of
    # the threaded worker locks itself out when the two meet. The master's alone will do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018
    # What there is now stays for good, so nobody need look through it for garbage; and what a page leaves goes without
    # a search, so one after every 10,000 objects will do (by itself Python begins one after 700).
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    if worker.age == 1:
        host, port = worker.sockets[0].getsockname()[:2]
        print(f"sandboxicon is ready (Ctrl-C ends it):\nhttp://{host}:{port}/", flush=True)
