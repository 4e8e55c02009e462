"""After a test with transaction=True the database holds again what it held before.

Django empties it after such a test, and with it goes what every other test counts on: the rows that migrations made
(the group Curators) and the content, which takes seconds to load. So the rows are kept before, and put back after; and
a test that wrote nothing, as most browser tests, costs nothing.
"""

from django.db import connection, transaction
from django.test import TransactionTestCase

_kept: dict[str, bytes] = {}
_kept_at = -1


def install() -> None:
    """Do so from now on."""
    setup = TransactionTestCase._fixture_setup.__func__  # type: ignore[attr-defined]

    def fixture_setup(cls: type[TransactionTestCase]) -> None:
        setup(cls)
        _keep()

    def fixture_teardown(self: TransactionTestCase) -> None:
        _put_back()

    TransactionTestCase._fixture_setup = classmethod(fixture_setup)  # type: ignore[attr-defined]
    TransactionTestCase._fixture_teardown = fixture_teardown  # type: ignore[attr-defined]


def _next_transaction() -> int:
    """The number that the next transaction to write gets: while it stays the same, nobody wrote."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        number: int = cursor.fetchone()[0]
    return number


def _keep() -> None:
    global _kept_at
    if _next_transaction() == _kept_at:
        return
    _kept.clear()
    _kept.update(all_rows())
    _kept_at = _next_transaction()


def all_rows() -> dict[str, bytes]:
    """All that the database holds, by table."""
    rows = {}
    with connection.cursor() as cursor:
        for table in _tables():
            with cursor.copy(f'COPY "{table}" TO STDOUT') as copy:
                rows[table] = b"".join(map(bytes, copy))
    return rows


def _put_back() -> None:
    global _kept_at
    if _next_transaction() == _kept_at:
        return
    if connection.in_atomic_block:
        raise AssertionError("the test left a transaction open")
    hold(_kept)
    _kept_at = _next_transaction()


def hold(rows_of: dict[str, bytes]) -> None:
    """Make the database hold these rows and no others, as `all_rows` gave them."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '20s'")
        for table in rows_of:
            cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
        cursor.execute("TRUNCATE " + ", ".join(f'"{table}"' for table in rows_of))
        for table, rows in rows_of.items():
            with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
                copy.write(rows)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # What moves the revision is disabled too; a site that runs beside the tests must learn of the change.
        cursor.execute("INSERT INTO content_revision DEFAULT VALUES")
        for table in rows_of:
            cursor.execute(f'ALTER TABLE "{table}" ENABLE TRIGGER USER')


def _tables() -> list[str]:
    return sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))
