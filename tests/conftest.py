import pytest

from sandboxicon import database


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Bring the database up before pytest-django makes the test database in it."""
    try:
        database.prepare()
    except database.DatabaseUnavailable as error:
        pytest.exit(str(error), returncode=1)
