from typing import Any

import psycopg
from django.core.management.commands import migrate
from django.db import connections


class Command(migrate.Command):
    """Django's own, one at a time: of two hosts that start at once, the second waits and finds nothing left to do."""

    def handle(self, *args: Any, **options: Any) -> None:
        # On a connection of its own: migrations end their transactions, and may close theirs. The lock is the server's,
        # so it holds over all hosts, and it ends with the connection, however this process ends.
        with psycopg.connect(**connections[options["database"]].get_connection_params(), autocommit=True) as lock:
            lock.execute("SELECT pg_advisory_lock(hashtext('sandboxicon.migrate'))")
            super().handle(*args, **options)
