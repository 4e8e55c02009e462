from collections.abc import Iterator

import pytest

from tests.servers import Server, running


@pytest.fixture(scope="package")
def site_behind_tls(
    django_db_setup: None, as_served: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The site as a deployment runs it behind a proxy that speaks TLS. Ask for `db` too."""
    environment = {**as_served, "BEHIND_TLS": "1", "WEB_CONCURRENCY": "1"}
    with running(tmp_path_factory.mktemp("tls") / "gunicorn.log", **environment) as server:
        yield server
