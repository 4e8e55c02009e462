#!/usr/bin/env python
"""How quick the site is, in ratios: bench.py [--seconds N] [--turns N] [--without-many] [--to FILE].

One run on one machine measures, each with 16 connections: an empty Django view on the same gunicorn (the framework's
limit), nginx serving the same bytes as a file (the limit of the machine), Datasette over the same content in SQLite
with the same facets and search (what one would pick instead), and the site's own pages, kept and made anew; then the
same with 100,000 made-up entries. Prints a table, writes it as JSON, and ends with 1 where a budget is missed. Needs
wrk; nginx if it is there; Datasette comes from requirements-bench.txt.

A machine that others use too may be three times as fast in one second as in the next. So each page is measured in
several short turns, each between two of the empty view, and its ratio is the median of theirs; and what many entries
add to a page is the median over turns of few and many, one after the other.

Its databases, sandboxicon_bench and sandboxicon_bench_many, are made on the server of the settings, and stay.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from site_pages import ROOT, free_port, needs

sys.path.insert(0, str(ROOT))

CONNECTIONS = 16
# How long a turn of the empty view takes, in seconds.
EMPTY_SECONDS = 1
# How long 16 pages may take that take more than a second each.
BACKLOG_SECONDS = 20
FEW, MANY = "sandboxicon_bench", "sandboxicon_bench_many"
ENTRIES = 100_000

PAGES = {
    "home": "/",
    "reference": "/primitives/",
    "reference, filtered": "/primitives/?tier=microvm&platform=linux",
    "search": "/primitives/?q=kernel",
    "entry": "/primitives/firecracker/",
    "matrix": "/audits/",
}
# Those of them that may take at most 1.5 times as long with ENTRIES entries.
GROWING = ("reference, filtered", "search")
_LIST = "_size=60&" + "&".join(
    [
        *("_facet=tier", "_facet=category", "_facet=status"),
        *("_facet_array=platforms", "_facet_array=isolates", "_facet_array=labels"),
    ]
)
# The like pages of Datasette. Its home lists databases and tables. What an entry's page shows is on several pages
# there: its row, its claims with their sources, its breaks; so who reads it asks for these three.
LIKE_PAGES = {
    "home": "/",
    "reference": f"/bench/primitives?{_LIST}&_sort=name",
    "reference, filtered": f"/bench/primitives?{_LIST}&_sort=name&tier=microvm&platforms__arraycontains=linux",
    "search": f"/bench/primitives?{_LIST}&_search=kernel",
    "entry": "/bench/primitives/firecracker",
    "entry's claims": "/bench/claims?_size=100&_sort=id&primitive=firecracker",
    "entry's breaks": "/bench/breaks?_size=100&_sort=year&primitive=firecracker",
    "matrix": "/bench/defaults?_facet=platform&_facet=isolation&_facet=tier&_facet=vendor&_size=300",
}
LIKE_PAGES_OF_ENTRY = [page for page in LIKE_PAGES if page.startswith("entry")]


@dataclass
class Result:
    """One page of one server, as wrk saw it: requests a second, also as a ratio to those of the empty view around it,
    milliseconds, and bytes of one response. All are medians of several turns. `errors` are answers of all turns that
    were none, or no page.
    """

    server: str
    page: str
    of_empty: float
    rate: float
    median: float
    slowest_hundredth: float
    size: int
    errors: int
    queries: int | None = None


# ---- what is measured ----


@contextmanager
def process(command: list[str], environment: dict[str, str], address: str) -> Iterator[str]:
    """A server, from when it answers at `address` until the end of the block."""
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            for _ in range(600):
                try:
                    get(address)
                    break
                except OSError:
                    if server.poll() is not None:
                        log.seek(0)
                        sys.exit(f"{command[0]} did not start:\n{log.read()}")
                    time.sleep(0.1)
            yield address
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def gunicorn(database: str, **environment: str) -> Any:
    """The site's gunicorn over one of the databases."""
    port = free_port()
    return process(
        [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--log-level", "error"],
        {**os.environ, "DEBUG": "0", "DATABASE_URL": url(database), **environment},
        f"http://127.0.0.1:{port}",
    )


def nginx(body: bytes, folder: Path) -> Any:
    """Nginx with two workers and one file."""
    port = free_port()
    (folder / "index").write_bytes(body)
    (folder / "nginx.conf").write_text(f"""
        worker_processes 2; pid {folder}/nginx.pid; error_log /dev/null; {"user root;" if os.geteuid() == 0 else ""}
        events {{ worker_connections 64; }}
        http {{
            access_log off; default_type text/html; sendfile on;
            client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
            uwsgi_temp_path {folder}; scgi_temp_path {folder};
            server {{ listen 127.0.0.1:{port}; root {folder}; index index; add_header Content-Encoding br; }}
        }}
    """)
    command = [shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "", "-c", str(folder / "nginx.conf")]
    return process([*command, "-g", "daemon off;"], dict(os.environ), f"http://127.0.0.1:{port}/")


def datasette(file: Path) -> Any:
    """Datasette over the SQLite file, with time enough for each of its facets."""
    port = free_port()
    limits = {"facet_time_limit_ms": 60_000, "sql_time_limit_ms": 60_000, "facet_suggest_time_limit_ms": 50}
    settings = [word for name, value in limits.items() for word in ("--setting", name, str(value))]
    settings += ["--setting", "suggest_facets", "off"]
    program = str(ROOT / ".bench" / "bin" / "datasette")
    command = [program, "serve", "--immutable", str(file), "-h", "127.0.0.1", "-p", str(port)]
    return process([*command, *settings], dict(os.environ), f"http://127.0.0.1:{port}")


def get(address: str) -> bytes:
    """One response's body, compressed if the server does so. Raises OSError unless it is a 200 of that very address:
    to wrk a redirect is as good as a page.
    """
    request = urllib.request.Request(address, headers={"Accept-Encoding": "br, gzip"})
    with urllib.request.urlopen(request, timeout=120) as response:
        if response.url != address:
            raise OSError(f"{address} leads to {response.url}")
        body: bytes = response.read()
        return body


@dataclass
class Bench:
    """Measures addresses, each between turns of the empty view at `empty`."""

    empty: str
    seconds: int
    turns: int

    def measure(self, server: str, page: str, address: str, turns: int | None = None) -> Result:
        """Ask for the page on 16 connections, turn by turn, after one that warms the server up."""
        warm = self._turn(address, 1)
        if not warm[0]:
            # None within a second: what was asked for is under way yet, and would stand before the next page.
            time.sleep(BACKLOG_SECONDS)
            return Result(server, page, 0, 0, 0, 0, len(get(address)), errors=0)
        get(address)  # raises unless it is a page
        taken = []
        for _ in range(turns or self.turns):
            before = self._turn(self.empty, EMPTY_SECONDS)
            turn = self._turn(address, self.seconds)
            after = self._turn(self.empty, EMPTY_SECONDS)
            taken.append((turn[0] / ((before[0] + after[0]) / 2), *turn))
        size = len(get(address))  # now that each worker has it as it keeps it
        of_empty, rate, median, slowest, _ = map(statistics.median, zip(*taken, strict=True))
        return Result(server, page, of_empty, rate, median, slowest, size, errors=sum(turn[-1] for turn in taken))

    def growth(self, few: str, many: str) -> float:
        """How many times as long the page at `many` takes as the one at `few`; 0 if one of them failed, or came less
        than once in a second."""
        turns = [[self._turn(address, self.seconds) for address in (few, many)] for _ in range(self.turns)]
        if any(errors or not rate for pair in turns for rate, _, _, errors in pair):
            return 0
        return statistics.median(slow[1] / quick[1] for quick, slow in turns)

    def _turn(self, address: str, seconds: int) -> tuple[float, float, float, int]:
        """Requests a second, the median and the slowest hundredth in milliseconds, and errors."""
        command = [needs("wrk", "wrk"), "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "60s", "--latency"]
        done = subprocess.run([*command, "-H", "Accept-Encoding: br, gzip", address], capture_output=True, text=True)
        told = done.stdout
        rate = re.search(r"Requests/sec:\s+([\d.]+)", told)
        if done.returncode or not rate:
            sys.exit(f"wrk failed on {address}: {done.stderr or told}")
        refused = re.findall(r"Non-2xx or 3xx responses: (\d+)", told)
        for broken in re.findall(r"Socket errors: (.*)", told):
            refused += re.findall(r"\d+", broken)
        errors = sum(map(int, refused))
        return float(rate[1]), _milliseconds(told, "50%"), _milliseconds(told, "99%"), errors


def _milliseconds(told: str, part: str) -> float:
    found = re.search(rf"{part}\s+([\d.]+)(us|ms|s|m)\b", told)
    units = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}
    return float(found[1]) * units[found[2]] if found else 0


# ---- the content ----


def url(database: str) -> str:
    """The address of a database on the server of the settings."""
    from django.conf import settings

    from sandboxicon.database import address

    return address(settings.DATABASES["default"], database)


def prepare(database: str, entries: int) -> None:
    """Make the database with the content, and so many made-up entries, unless it is there."""
    import psycopg
    from psycopg import sql

    from sandboxicon.database import connect

    with connect() as connection:
        is_there = connection.execute("SELECT FROM pg_database WHERE datname = %s", [database]).rowcount
        if not is_there:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    environment = {**os.environ, "DATABASE_URL": url(database), "DEBUG": "0"}
    commands = [["migrate", "-v0"], ["load_content"]]
    if entries and not is_there:
        commands.append(["make_many", "--entries", str(entries), "--into", database])
    for command in commands:
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
    # As Postgres does by itself after a while: what counts by an index reads the table beside it until then.
    with psycopg.connect(url(database), autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def sqlite(database: str, file: Path) -> None:
    """The same content as Datasette wants it: a table of entries with full-text search, one of their claims, each with
    its sources, one of their breaks, and one of agents' defaults.
    """
    import psycopg

    with psycopg.connect(url(database)) as postgres:
        entries = postgres.execute("""
            SELECT slug, name, summary, claim_count, last_checked::text, facets,
                coalesce((SELECT string_agg(sentence, ' ') FROM evidence_claim WHERE primitive_id = entry.id), '')
            FROM primitives_primitive AS entry
        """)
        made = sqlite3.connect(file)
        made.execute(
            "CREATE TABLE primitives (slug TEXT PRIMARY KEY, name, summary, claim_count, last_checked, tier, category,"
            " status, platforms, isolates, labels)"
        )
        # Datasette takes it for the table's search by these very quotes.
        made.execute('CREATE VIRTUAL TABLE primitives_fts USING fts5(name, summary, claims, content="primitives")')
        for number, (slug, name, summary, count, checked, facets, claims) in enumerate(entries, 1):
            of: dict[str, list[str]] = {}
            for facet in facets:
                of.setdefault(facet.partition(":")[0], []).append(facet.partition(":")[2])
            lists = [json.dumps(of.get(each, [])) for each in ("platform", "isolates", "label")]
            one = [of[each][0] for each in ("tier", "category", "status")]
            made.execute(
                "INSERT INTO primitives (rowid, slug, name, summary, claim_count, last_checked, tier, category, status,"
                " platforms, isolates, labels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [number, slug, name, summary, count, checked, *one, *lists],
            )
            made.execute("INSERT INTO primitives_fts (rowid, name, summary, claims) VALUES (?, ?, ?, ?)",
                         [number, name, summary, claims])  # fmt: skip
        for column in ("name", "tier", "category", "status"):
            made.execute(f"CREATE INDEX by_{column} ON primitives ({column})")
        made.execute(
            "CREATE TABLE claims (id TEXT PRIMARY KEY, primitive TEXT REFERENCES primitives (slug), aspect, label,"
            " sentence, reasoning, looked, as_of, version, sources)"
        )
        with postgres.cursor("claims") as claims:  # a million do not fit at once
            claims.execute("""
                SELECT entry.slug || '.' || claim.slug, entry.slug, aspect, label, sentence, reasoning, looked,
                    as_of::text, version, (SELECT coalesce(json_agg(json_strip_nulls(json_build_object(
                        'kind', kind, 'title', nullif(title, ''), 'url', nullif(url, ''), 'purl', nullif(purl, ''),
                        'repo', nullif(repo, ''), 'commit', nullif(commit, ''), 'path', nullif(path, ''),
                        'lines', nullif(lines, ''))) ORDER BY position), '[]')::text
                        FROM evidence_source WHERE claim_id = claim.id)
                FROM evidence_claim AS claim JOIN primitives_primitive AS entry ON entry.id = primitive_id
                ORDER BY claim.id
            """)
            made.executemany("INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", claims)
        made.execute(
            "CREATE TABLE breaks (primitive TEXT REFERENCES primitives (slug), identifier, nickname, year, summary,"
            " fixed_in, url)"
        )
        made.executemany(
            "INSERT INTO breaks VALUES (?, ?, ?, ?, ?, ?, ?)",
            postgres.execute("""
                SELECT entry.slug, identifier, nickname, year, broken.summary, fixed_in, url
                FROM primitives_break AS broken JOIN primitives_primitive AS entry ON entry.id = primitive_id
            """),
        )
        for table in ("claims", "breaks"):
            made.execute(f"CREATE INDEX {table}_of ON {table} (primitive)")
        made.execute("CREATE TABLE defaults (agent, vendor, surface, platform, mode, isolation, tier)")
        made.executemany(
            "INSERT INTO defaults VALUES (?, ?, ?, ?, ?, ?, ?)",
            postgres.execute("""
                SELECT agent.name, agent.vendor, audit.name, platform.slug, mode, isolation, tier.slug
                FROM audits_postureplatform AS offer JOIN audits_posture AS posture ON posture.id = posture_id
                JOIN audits_agentaudit AS audit ON audit.id = audit_id JOIN audits_agent AS agent ON agent.id = agent_id
                JOIN primitives_platform AS platform ON platform.id = platform_id
                LEFT JOIN ladder_tier AS tier ON tier.id = tier_id WHERE is_default
            """),
        )
        made.commit()
        made.close()


def queries_of(database: str) -> dict[str, int]:
    """How many queries each page needs that is made anew."""
    program = """
import json, sys, django
django.setup()
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
numbers = {}
for name, address in json.load(sys.stdin).items():
    with CaptureQueriesContext(connection) as queries:
        assert Client(headers={"host": "127.0.0.1"}).get(address).status_code == 200, address
    numbers[name] = len(queries)
print(json.dumps(numbers))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url(database), "RESPONSE_CACHE_MB": "0", "DEBUG": "0",
             "DJANGO_SETTINGS_MODULE": "sandboxicon.settings"},
        input=json.dumps(PAGES),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )  # fmt: skip
    numbers: dict[str, int] = json.loads(done.stdout)
    return numbers


# ---- the run ----


def run(database: str, seconds: int, turns: int, folder: Path) -> Iterator[Result]:
    """Every server and page over one database."""
    with gunicorn(database, DJANGO_SETTINGS_MODULE="tools.bench_empty") as empty:
        bench = Bench(f"{empty}/", seconds, turns)
        yield bench.measure("empty view", "", bench.empty)
        with gunicorn(database) as site:
            for page, address in PAGES.items():
                # So close to the empty view that a few turns cannot tell, and the budget is about the slowest of six.
                yield bench.measure("kept", page, site + address, 2 * turns)
            home = get(f"{site}/")
        with gunicorn(database, DJANGO_SETTINGS_MODULE="tools.bench_anew") as site:
            numbers = queries_of(database)
            for page, address in PAGES.items():
                result = bench.measure("made anew", page, site + address)
                result.queries = numbers[page]
                yield result
        if shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"):
            with nginx(home, folder) as site:
                yield bench.measure("nginx, a file", "home", site)
        file = folder / "bench.db"
        file.unlink(missing_ok=True)
        sqlite(database, file)
        with datasette(file) as site:
            if json.loads(get(f"{site}/bench/primitives.json?_shape=array&_search=zzzzqqq")):
                sys.exit("Datasette does not search: it finds what is nowhere.")
            for page, address in LIKE_PAGES.items():
                yield bench.measure("Datasette", page, site + address)


def grown(seconds: int, turns: int) -> dict[str, float]:
    """How many times as long each of GROWING takes with ENTRIES entries, made anew."""
    anew = {"DJANGO_SETTINGS_MODULE": "tools.bench_anew"}
    with gunicorn(FEW, **anew) as few, gunicorn(MANY, **anew) as many:
        bench = Bench("", seconds, 4 * turns)  # none of them beside the empty view, so more of them
        for site in (few, many):
            for page in GROWING:
                get(site + PAGES[page])  # a process reads the facets of all entries with the first
        return {page: bench.growth(few + PAGES[page], many + PAGES[page]) for page in GROWING}


def table(results: list[Result]) -> list[str]:
    """A line a result, with its rate against the empty view's of the same run."""
    lines = [
        f"{'server':<15}{'page':<22}{'of empty':>9}{'a second':>10}{'median':>10}{'99 %':>10}{'bytes':>9}{'queries':>9}"
    ]
    for each in results:
        queries = "" if each.queries is None else each.queries
        lines.append(
            f"{each.server:<15}{each.page:<22}{each.of_empty:>9.3f}{each.rate:>10.0f}{each.median:>8.1f}ms"
            f"{each.slowest_hundredth:>8.0f}ms{each.size:>9}{queries:>9}{'  errors!' if each.errors else ''}"
        )
    return lines


def budgets(few: list[Result], many: list[Result], growth: dict[str, float]) -> list[tuple[str, float, bool]]:
    """Each budget: what it is, what was measured, and whether that is within."""
    found = {(each.server, each.page): each for each in few}
    lowest = min(found["kept", page].of_empty for page in PAGES)
    filtered = found["made anew", "reference, filtered"].of_empty
    queries = float(max(each.queries or 0 for each in few + many))
    datasette = {page: found["Datasette", page].of_empty for page in PAGES}
    parts = [found["Datasette", like].of_empty for like in LIKE_PAGES_OF_ENTRY]
    datasette["entry"] = 1 / sum(1 / part for part in parts) if all(parts) else 0
    lead = {
        (how, page): found[server, page].of_empty / datasette[page] if datasette[page] else 0
        for server, how in (("kept", "as readers get it"), ("made anew", "made anew"))
        for page in PAGES
    }
    errors = sum(each.errors for each in few + many)
    checks = [
        ("answers that were no page, or did not come (0)", errors, not errors),
        ("slowest kept page, of the empty view (0.8)", lowest, lowest >= 0.8),
        ("filtered reference made anew, of the empty view (0.2)", filtered, filtered >= 0.2),
        ("most queries of a page made anew (8)", queries, queries <= 8),
        *(
            (f"{page} {how}, of Datasette's{' three pages' if page == 'entry' else ''} (1)", ratio, ratio > 1)
            for (how, page), ratio in lead.items()
        ),
    ]
    for page, times in growth.items():
        checks.append((f"{page}, median with {ENTRIES:,} entries (1.5)", times, 0 < times <= 1.5))
    return checks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=2, help="for each turn of a page (default: 2)")
    parser.add_argument("--turns", type=int, default=5, help="for each page (default: 5), and twice as many for some")
    parser.add_argument("--without-many", action="store_true", help="leave out the run with very many entries")
    parser.add_argument("--to", type=Path, default=ROOT / ".data" / "bench.json")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandboxicon.settings")
    import django

    django.setup()
    from sandboxicon import database

    database.prepare()
    subprocess.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"], cwd=ROOT,
                   env={**os.environ, "DEBUG": "0"}, check=True)  # fmt: skip
    sizes: dict[str, list[Result]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        for name, entries in ((FEW, 0), *([] if options.without_many else [(MANY, ENTRIES)])):
            prepare(name, entries)
            sizes[name] = []
            for result in run(name, options.seconds, options.turns, folder):
                sizes[name].append(result)
                print(f"\r{len(sizes[name]):>3} {result.server} {result.page:<25}", end="", flush=True)
            print(f"\r{'with made-up entries' if entries else 'the content'}{'':30}")
            print("\n".join(table(sizes[name])), end="\n\n")
        growth = {} if options.without_many else grown(options.seconds, options.turns)
    checks = budgets(sizes[FEW], sizes.get(MANY, []), growth)
    for what, measured, is_within in checks:
        print(f"{'within' if is_within else 'MISSED'}  {measured:8.2f}  {what}")
    if not growth:
        print("not measured: what very many entries add")
    anew, row = (next(each.of_empty for each in sizes[FEW] if (each.server, each.page) == (server, "entry"))
                 for server in ("made anew", "Datasette"))  # fmt: skip
    print(f"{'':8}{anew / row if row else 0:8.2f}  entry made anew, of Datasette's row alone (no budget)")
    options.to.parent.mkdir(parents=True, exist_ok=True)
    results = {name: [asdict(each) for each in found] for name, found in sizes.items()}
    budget = [{"budget": what, "measured": measured, "within": is_within} for what, measured, is_within in checks]
    options.to.write_text(json.dumps({"results": results, "budgets": budget}, indent=1))
    print(f"Written to {options.to}")
    return not all(is_within for *_, is_within in checks)


if __name__ == "__main__":
    sys.exit(main())
