from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

TABLES = ["primitives_primitive", "primitives_supportedplatform", "evidence_claim", "evidence_source"]

# Words that made-up entries are about: the first ones in most of them, the last in few, as in real texts.
_VOCABULARY = """
ARRAY['sandbox', 'process', 'kernel', 'container', 'namespace', 'filter', 'policy', 'network', 'image', 'mount',
'guest', 'device', 'driver', 'socket', 'memory', 'volume', 'tenant', 'signal', 'quota', 'ledger', 'anchor', 'harbour',
'lantern', 'meadow', 'quarry', 'ribbon', 'saddle', 'timber', 'velvet', 'walnut']
"""

# What triggers would write row by row is written here by the statements themselves. Numbers are divided before they are
# taken apart, so that no two facets go together: each combination of them has its entries.
_PRIMITIVES = """
INSERT INTO primitives_primitive (slug, name, aliases, summary, status, license, written_in, first_release, maintainer,
    homepage, repo, docs, isolates, category_id, tier_id, is_published, claim_count, last_checked, tier_rank, facets,
    search_keys, search_names, search_vector)
SELECT made.slug, made.name, '{}', made.summary, made.status, 'MIT', 'Go', 2000 + n %% 25, '', '', '', '',
    made.isolates, category.id, tier.id, true, %(claims)s, made.last_checked, tier.rank,
    ARRAY['tier:' || tier.slug, 'category:' || category.slug, 'status:' || made.status, 'label:documented']
        || ARRAY(SELECT 'platform:' || slug FROM many_platforms WHERE (n / 7 + place * 5) %% 9 < 3)
        || ARRAY(SELECT 'isolates:' || thing FROM unnest(made.isolates) AS thing)
        || CASE WHEN n / 5 %% 3 = 0 THEN ARRAY['label:verified-code'] ELSE '{}'::text[] END,
    ARRAY[replace(search_words(made.name), ' ', '')], search_words(made.name),
    setweight(to_tsvector('simple', search_words(made.name)), 'A')
        || setweight(to_tsvector('english', search_words(made.summary)), 'B')
FROM (
    SELECT n, 'made-' || n AS slug, initcap(words[1 + (n * 7) %% 30]) || ' ' || words[1 + n %% 30] || ' ' || n AS name,
        'It keeps a ' || words[1 + (30 * power(random(), 3))::int %% 30] || ' apart from a '
            || words[1 + (30 * power(random(), 3))::int %% 30] || ' with a '
            || words[1 + (30 * power(random(), 3))::int %% 30] || '.' AS summary,
        (ARRAY['active', 'active', 'active', 'maintenance', 'experimental', 'deprecated', 'archived'])[1 + n %% 7]
            AS status,
        (ARRAY['filesystem', 'network', 'processes', 'syscalls', 'kernel'])[1 : n / 11 %% 6]::varchar(20)[] AS isolates,
        date '2026-11-01' - n %% 700 AS last_checked
    FROM generate_series(%(first)s, %(last)s) AS n, (SELECT VOCABULARY AS words) AS vocabulary
) AS made
JOIN many_tiers AS tier ON tier.place = n %% (SELECT count(*) FROM many_tiers)
JOIN many_categories AS category ON category.place = n %% (SELECT count(*) FROM many_categories)
""".replace("VOCABULARY", _VOCABULARY)

_PLATFORMS = """
INSERT INTO primitives_supportedplatform (primitive_id, platform_id)
SELECT primitive.id, platform.id FROM primitives_primitive AS primitive
JOIN many_platforms AS platform ON 'platform:' || platform.slug = ANY (primitive.facets)
WHERE primitive.slug LIKE 'made-%%'
ON CONFLICT DO NOTHING
"""

_CLAIMS = """
INSERT INTO evidence_claim (slug, aspect, sentence, label, version, as_of, reasoning, looked, position, primitive_id,
    says_how_to_check, address, kind, is_published)
SELECT 'claim-' || n, (ARRAY['boundary', 'default', 'filesystem', 'network', 'syscalls', 'status'])[1 + n %% 6],
    'It keeps a ' || words[1 + (30 * power(random(), 3))::int %% 30] || ' from a '
        || words[1 + (30 * power(random(), 3))::int %% 30] || ', as number ' || primitive.id || ' shows.',
    CASE WHEN n %% 5 = 0 THEN 'verified-code' ELSE 'documented' END, '1.' || n,
    date '2026-11-01' - (primitive.id + n)::int %% 700, '', '', n, primitive.id, false,
    'primitive.' || primitive.slug || '.claim-' || n, 'primitive', true
FROM primitives_primitive AS primitive, generate_series(1, %(claims)s) AS n, (SELECT VOCABULARY AS words) AS vocabulary
WHERE primitive.slug LIKE 'made-%%'
""".replace("VOCABULARY", _VOCABULARY)

_SOURCES = """
INSERT INTO evidence_source (claim_id, position, kind, repo, commit, path, lines, url, title, purl)
SELECT id, 1, CASE label WHEN 'verified-code' THEN 'code' ELSE 'doc' END,
    CASE label WHEN 'verified-code' THEN 'made/repository-' || id %% 500 ELSE '' END,
    CASE label WHEN 'verified-code' THEN repeat('0123456789', 4) ELSE '' END,
    CASE label WHEN 'verified-code' THEN 'main.c' ELSE '' END, CASE label WHEN 'verified-code' THEN '1-9' ELSE '' END,
    CASE label WHEN 'verified-code' THEN '' ELSE 'https://host-' || id %% 800 || '.example/page' END,
    CASE label WHEN 'verified-code' THEN '' ELSE 'A page' END, ''
FROM evidence_claim WHERE address LIKE 'primitive.made-%%'
"""


class Command(BaseCommand):
    """Makes up entries and claims, to see how the site does with very many."""

    help = "Fill a database that is for nothing else with made-up primitives, claims and sources. Load content first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--entries", type=int, default=100_000, help="primitives to make (default: 100000)")
        parser.add_argument("--claims", type=int, default=10, help="claims of each, with a source each (default: 10)")
        parser.add_argument(
            "--into", metavar="DATABASE", help="the name of the database, to say that it may be filled", required=True
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = connection.settings_dict["NAME"]
        if options["into"] != name:
            raise CommandError(f"This is the database {name}. To fill it with made-up content: --into {name}")
        make_many(options["entries"], options["claims"])
        self.stdout.write(f"{options['entries']} made-up entries with {options['claims']} claims each.")


def make_many(entries: int, claims: int) -> None:
    """Make so many primitives with so many claims each. Rungs and categories must be there.

    Rows are written in bulk with the triggers off, which takes a minute for 100,000 entries with 10 claims; what those
    would have written is written too, but for the history.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        # The same made-up content each time.
        cursor.execute("SELECT setseed(0.5)")
        for table in ("tier", "category", "platform"):
            app, plural = ("ladder", "tiers") if table == "tier" else ("primitives", f"{table}s".replace("ys", "ies"))
            cursor.execute(f"""
                CREATE TEMPORARY TABLE many_{plural} ON COMMIT DROP AS
                SELECT *, row_number() OVER (ORDER BY id) - 1 AS place FROM {app}_{table}
            """)  # noqa: S608
        cursor.execute("SELECT count(*) FROM primitives_primitive WHERE slug LIKE 'made-%'")
        first = cursor.fetchone()[0] + 1
        bounds = {"first": first, "last": first + entries - 1, "claims": claims}
        for statement in (_PRIMITIVES, _PLATFORMS, _CLAIMS, _SOURCES):
            cursor.execute(statement, bounds)
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        cursor.execute("INSERT INTO content_revision DEFAULT VALUES")
        cursor.execute("ANALYZE " + ", ".join(TABLES))
