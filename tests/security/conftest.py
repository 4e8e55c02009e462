from collections.abc import Iterator

import pytest

from tests.servers import Server, manage, running


@pytest.fixture(scope="package")
def site_behind_tls(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The site as a deployment runs it behind a proxy that speaks TLS. Ask for `db` too."""
    folder = tmp_path_factory.mktemp("tls")
    environment = {
        "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
        "BROWSER_STATIC_ROOT": str(folder / "static"),
        "BEHIND_TLS": "1",
        "WEB_CONCURRENCY": "1",
    }
    manage("collectstatic", "--no-input", "--verbosity=0", **environment)
    with running(folder / "gunicorn.log", **environment) as server:
        yield server
