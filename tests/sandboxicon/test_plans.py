"""With very many entries and claims the reference, the ledger and the search of everything read indexes, and look at no
more than a bounded part; but for the facets of all entries, once a revision. All other pages read no table from one end
to the other either, and an entry's no index.

Few by default, with sequential scans made unwelcome: one that remains shows that there is no index for it. MANY=100000
makes as many entries, with ten claims each, and leaves the choice to the planner (a minute or two).
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sandboxicon.management.commands.make_many import TABLES, make_many
from tests import put_back
from tests.factories import make_audit, make_category, make_claim, make_platform, make_primitive, make_source, make_tier

pytestmark = pytest.mark.django_db

ENTRIES = int(os.environ.get("MANY", 400))
# Of each kind of question one; all of them with MANY.
REFERENCE = [
    *("", "sort=tier", "sort=claims", "sort=checked", "page=2", "q=harbour", "q=harbour&sort=name", "q=harbuor"),
    *("tier=microvm", "tier=microvm&tier=container&sort=checked", "platform=linux", "isolates=network&isolates=kernel"),
    *("category=vmm", "label=verified-code", "status=archived&sort=claims", "tier=microvm&platform=macos&q=walnut"),
]
LEDGER = [
    *("", "sort=oldest", "page=3", "q=walnut", "q=walnut&sort=newest", "label=verified-code", "kind=primitive"),
    *("tier=microvm", "aspect=network", "freshness=stale", "source_kind=code", "source=github.com/made/repository-7"),
    *("primitive=made-7", "label=documented&aspect=boundary&sort=oldest", "kind=primitive&freshness=due"),
]
EVERYTHING = ["/search/?q=harbour", "/search/?q=walnut", "/search/?q=harbuor", "/search/?q=harbour+walnut"]
# What counts all there is.
COUNTING = ["/", "/?open=microvm", "/about/", "/method/", "/ladder/", "/ladder/microvm/"]
ONE_ALONE = ["/primitives/box/", "/primitives/box/history/", "/claims/primitive.box.holds/", "/audits/agent/"]
# What a process reads once a revision, however many pages it makes (primitives/index.py).
ONCE = "array_to_string"
ADDRESSES = [*(f"/primitives/?{query}" for query in REFERENCE), *(f"/evidence/?{query}" for query in LEDGER)]
ADDRESSES = [*ONE_ALONE, *COUNTING, *EVERYTHING, *(ADDRESSES if "MANY" in os.environ else ADDRESSES[::3])]


@pytest.fixture(scope="module")
def many(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Many entries and claims, for this file alone."""
    with django_db_blocker.unblock():
        yield from _committed_and_vacuumed() if "MANY" in os.environ else _rolled_back()


def _rolled_back() -> Iterator[None]:
    """Rows that no transaction but this one sees, nor any later."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            _make()
            cursor.execute("SET LOCAL random_page_cost = 1.1")
            cursor.execute("SET LOCAL enable_seqscan = off")
            # What is made unwelcome is made dear, and dear queries are compiled first, which takes seconds.
            cursor.execute("SET LOCAL jit = off")
        yield
        transaction.set_rollback(True)


def _committed_and_vacuumed() -> Iterator[None]:
    """Rows committed and vacuumed, as Postgres vacuums by itself after a while: a plan depends on it."""
    before = put_back.all_rows()
    with connection.cursor() as cursor:
        try:
            with transaction.atomic():
                _make()
            cursor.execute("VACUUM (ANALYZE)")
            # As migration sandboxicon.0012 sets it for a database; a copy (tests/template.py) lacks it.
            cursor.execute("SET random_page_cost = 1.1")
            yield
        finally:
            cursor.execute("RESET random_page_cost")
            put_back.hold(before)
            cursor.execute("ANALYZE")


def _make() -> None:
    make_tier("container")
    make_tier("microvm")
    make_category("vmm")
    make_platform("linux")
    make_platform("macos")
    part = make_primitive("part")
    box = make_primitive("box", builds_on=(part,))
    make_primitive("whole", builds_on=(box,))
    # A place of its own: an index has what other tests wrote about the usual one, and took back, for a while.
    make_source(make_claim(box, slug="holds", sources=[]), url="https://alone.example/")
    make_audit("agent", postures=[{"tier": "microvm", "primitives": (box, part)}])
    connection.check_constraints()
    make_many(ENTRIES, 10)


def scans(plan: dict[str, Any]) -> Iterator[str]:
    """The tables that a plan has read without an index: half of them or more where there is very much to read, since a
    limit may have ended it soon.
    """
    rows = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    if plan["Node Type"] == "Seq Scan" and ("MANY" not in os.environ or rows > ENTRIES / 2):
        yield plan["Relation Name"]
    for part in plan.get("Plans", []):
        yield from scans(part)


def most_rows(plan: dict[str, Any]) -> int:
    """Of what the parts of a plan have read each, the most rows."""
    read = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return max([read, *(most_rows(part) for part in plan.get("Plans", []))])


def plans(queries: CaptureQueriesContext) -> Iterator[tuple[str, dict[str, Any]]]:
    """How Postgres does each of these queries that a page is made of."""
    with connection.cursor() as cursor:
        for query in queries:
            if query["sql"].startswith(("SELECT", "WITH", "(")) and ONCE not in query["sql"]:
                cursor.execute("EXPLAIN (ANALYZE, FORMAT json) " + query["sql"].replace("%", "%%"), [])
                (plan,) = cursor.fetchone()
                yield query["sql"], (plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_page_reads_a_big_table_from_one_end_to_the_other(many: None, client: Client, address: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
    assert response.status_code == 200
    assert len(queries) <= 8
    read = {sql: found for sql, plan in plans(queries) if (found := set(scans(plan)) & set(TABLES))}
    assert not read


@pytest.mark.parametrize("address", ONE_ALONE)
def test_a_page_about_one_thing_reads_what_is_about_it_alone(many: None, client: Client, address: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    assert queries.captured_queries
    assert {sql: rows for sql, plan in plans(queries) if (rows := most_rows(plan)) > ENTRIES / 4} == {}
