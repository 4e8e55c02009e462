import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from sandboxicon import database
from tests import put_back, template

put_back.install()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that ask for the content run last: once loaded it stays, and the others want an empty database."""
    items.sort(key=lambda item: "content" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Bring the database up before pytest-django makes the test database in it."""
    try:
        database.prepare()
    except database.DatabaseUnavailable as error:
        pytest.exit(str(error), returncode=1)
    template.use()


@pytest.fixture(autouse=True)
def newest_claim_known() -> Iterator[None]:
    """The date in the footer is kept, as it is in nearly every request: it costs no query and needs no database."""
    from django.core.cache import cache

    from sandboxicon.context import NEWEST_CLAIM

    cache.set(NEWEST_CLAIM, datetime.date(2026, 1, 1))
    yield
    cache.clear()


@pytest.fixture(scope="session")
def content(django_db_setup: None, django_db_blocker: Any) -> None:
    """The whole content in the database, loaded once for all tests that ask for it; each still needs `db`."""
    from django.conf import settings

    from sandboxicon.content.loading import load

    with django_db_blocker.unblock():
        load(settings.FIXTURES_DIR)
