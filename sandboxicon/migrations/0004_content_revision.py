"""One revision of the public content, which the database itself moves with every change that commits.

A table without a model: each transaction that changes content adds a row, and the revision is the sum of `moves`. Only
inserts, so that no writer waits for another; the sum grows with every commit, in whatever order commits end. Now and
then the rows are folded into one. The triggers fire at commit, so that a transaction that wrote many rows adds one.
"""

from django.db import migrations

TABLES = [
    "ladder_tier",
    "evidence_claim",
    "evidence_source",
    "primitives_category",
    "primitives_platform",
    "primitives_primitive",
    "primitives_supportedplatform",
    "primitives_buildson",
    "primitives_break",
    "audits_agent",
    "audits_agentaudit",
    "audits_agentbreak",
    "audits_posture",
    "audits_postureplatform",
    "audits_postureprimitive",
    "audits_postureclaim",
]

MAKE = """
CREATE TABLE content_revision (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    moves bigint NOT NULL DEFAULT 1,
    moved_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO content_revision DEFAULT VALUES;

CREATE FUNCTION content_moves() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    -- Once in a transaction. A savepoint that is rolled back takes the mark with it.
    IF current_setting('sandboxicon.moved_in', true) IS NOT DISTINCT FROM pg_current_xact_id()::text THEN
        RETURN NULL;
    END IF;
    INSERT INTO content_revision DEFAULT VALUES RETURNING id INTO added;
    PERFORM set_config('sandboxicon.moved_in', pg_current_xact_id()::text, true);
    IF added % 100 = 0 THEN
        WITH gone AS (
            DELETE FROM content_revision
            WHERE id IN (SELECT id FROM content_revision WHERE id < added FOR UPDATE SKIP LOCKED)
            RETURNING moves, moved_at
        )
        INSERT INTO content_revision (moves, moved_at)
        SELECT sum(moves), max(moved_at) FROM gone HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END $$;

CREATE PROCEDURE watch_content(watched regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE CONSTRAINT TRIGGER content_moves AFTER INSERT OR DELETE ON %s
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION content_moves()', watched);
    EXECUTE format('CREATE CONSTRAINT TRIGGER content_moves_by_update AFTER UPDATE ON %s
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
        EXECUTE FUNCTION content_moves()', watched);
    EXECUTE format('CREATE TRIGGER content_moves_by_truncate AFTER TRUNCATE ON %s
        EXECUTE FUNCTION content_moves()', watched);
END $$;

CREATE PROCEDURE unwatch_content(watched regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP TRIGGER content_moves ON %s', watched);
    EXECUTE format('DROP TRIGGER content_moves_by_update ON %s', watched);
    EXECUTE format('DROP TRIGGER content_moves_by_truncate ON %s', watched);
END $$;
"""

UNMAKE = """
DROP PROCEDURE unwatch_content;
DROP PROCEDURE watch_content;
DROP FUNCTION content_moves;
DROP TABLE content_revision;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("sandboxicon", "0003_curators_of_audits"),
        ("audits", "0002_a_moved_posture_is_waited_for"),
        ("evidence", "0003_claim_sentence_search"),
        ("ladder", "0001_initial"),
        ("primitives", "0004_https_says_so"),
    ]

    operations = [
        migrations.RunSQL(MAKE, UNMAKE),
        *(migrations.RunSQL(f"CALL watch_content('{table}')", f"CALL unwatch_content('{table}')") for table in TABLES),
    ]
