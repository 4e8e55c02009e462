"""Raw SQL, and whether Postgres lets a transaction pass: deferred rules are checked at its end, as at a commit."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext


def sql(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Execute a statement past the ORM, and return its rows if it has any."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


def insert(table: str, **values: Any) -> None:
    """Insert one row past the ORM."""
    columns = ", ".join(f'"{name}"' for name in values)
    sql(f"INSERT INTO {table} ({columns}) VALUES ({', '.join(['%s'] * len(values))})", *values.values())


def numbers_of_queries(asks: Iterable[Callable[[], object]]) -> list[int]:
    """How many queries each of these asks."""
    numbers = []
    for ask in asks:
        with CaptureQueriesContext(connection) as queries:
            ask()
        numbers.append(len(queries))
    return numbers


@contextmanager
def refused(*words: str, error: type[Exception] = IntegrityError, at_commit: bool = False) -> Iterator[None]:
    """What happens inside is refused, at its end at the latest, with these words in the message.

    The end is that of a savepoint, with all checks made there; or the commit, in a test with transaction=True.
    """
    assert connection.in_atomic_block is not at_commit
    with pytest.raises(error) as caught, accepted(at_commit=at_commit):
        yield
    for word in words:
        assert word in str(caught.value), str(caught.value)


@contextmanager
def accepted(*, at_commit: bool = False) -> Iterator[None]:
    """What happens inside would be committed, or is."""
    with transaction.atomic():
        yield
        if not at_commit:
            connection.check_constraints()
