import datetime
import fcntl
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.template.base import Template
from hypothesis import HealthCheck, settings

from sandboxicon import database
from tests import put_back, template
from tests.servers import manage

put_back.install()

# A few examples of each in the suite; many with --hypothesis-profile=thorough.
settings.register_profile(
    "suite", max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.register_profile("thorough", settings.get_profile("suite"), max_examples=300)
settings.load_profile("suite")

RENDER = Template._render


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that ask for the content run last: once loaded it stays, and the others want an empty database.

    Among them the browser tests come first: they are shared out by the file (below), and so in the longest pieces.
    """
    items.sort(
        key=lambda item: ("content" in getattr(item, "fixturenames", ()), item.get_closest_marker("browser") is None)
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Several processes share the tests out one by one, each in the order above, so that all end at once.

    But the browser tests of a file stay together, since a process that has one starts a site and a browser for it; and
    so do those of a class.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            of_class, _, _ = nodeid.partition("[")[0].rpartition("::")
            if nodeid.startswith("tests/browser/"):
                return nodeid.partition("::")[0]
            return of_class if "::" in of_class else nodeid

    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Bring the database up before pytest-django makes the test database in it."""
    try:
        database.prepare()
    except database.DatabaseUnavailable as error:
        pytest.exit(str(error), returncode=1)
    template.use()


@pytest.fixture(scope="session", autouse=True)
def templates_are_not_watched(django_test_environment: None) -> None:
    """Django's test environment copies the context of every template that is rendered, for assertions that no test
    here makes. The admin renders hundreds of them for a page."""
    Template._render = RENDER


@pytest.fixture(autouse=True)
def newest_claim_known() -> Iterator[None]:
    """The date in the footer is kept, as it is in nearly every request: it costs no query and needs no database."""
    from django.core.cache import cache

    from sandboxicon.context import NEWEST_CLAIM

    cache.set(NEWEST_CLAIM, datetime.date(2026, 1, 1))
    yield
    cache.clear()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder for what one process makes and all of this run use."""
    mine = tmp_path_factory.getbasetemp()
    return mine if worker_id == "master" else mine.parent


@contextmanager
def _one_at_a_time(made: Path) -> Iterator[bool]:
    """Let one process after the other in here. Whether the thing is there already."""
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield made.exists()


@pytest.fixture(scope="session")
def as_served(shared: Path) -> dict[str, str]:
    """What a process of the site has in its environment to serve as in production, DEBUG off and its static files
    under their hashed names. They are collected once.
    """
    static = shared / "static"
    environment = {"DJANGO_SETTINGS_MODULE": "tests.browser.settings", "BROWSER_STATIC_ROOT": str(static)}
    with _one_at_a_time(static) as are_there:
        if not are_there:
            half = static.with_suffix(".half")
            manage("collectstatic", "--no-input", "-v0", **{**environment, "BROWSER_STATIC_ROOT": str(half)})
            half.rename(static)
    return environment


@pytest.fixture(scope="session")
def content(django_db_setup: None, django_db_blocker: Any, shared: Path, worker_id: str) -> None:
    """The whole content in the database, loaded once for all tests that ask for it; each still needs `db`.

    Of several processes the first one loads it, and the others copy its rows into their own databases.
    """
    with django_db_blocker.unblock():
        if worker_id == "master":
            _load()
            return
        rows = shared / "content.pickle"
        with _one_at_a_time(rows) as are_there:
            if are_there:
                _copy(pickle.loads(rows.read_bytes()))
            else:
                _load()
                rows.write_bytes(pickle.dumps(put_back.all_rows()))


def _load() -> None:
    from django.conf import settings

    from sandboxicon.content.loading import load

    load(settings.FIXTURES_DIR)


def _copy(rows: dict[str, bytes]) -> None:
    from django.apps import apps
    from django.core.management.color import no_style
    from django.db import connection

    put_back.hold(rows)
    with connection.cursor() as cursor:
        for sql in connection.ops.sequence_reset_sql(no_style(), apps.get_models(include_auto_created=True)):
            cursor.execute(sql)
        cursor.execute("ANALYZE")
