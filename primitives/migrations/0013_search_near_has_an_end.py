"""What is worth a closer look has an end, so that a misspelling costs no more among very many entries."""

from typing import Any

from django.db import migrations

# Those that share most trigrams with what was typed come first, level by level, and 500 are enough to find it among.
SEARCH_NEAR = """
CREATE OR REPLACE FUNCTION search_near(searched regclass, value text) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SET pg_trgm.word_similarity_threshold = 0.6 AS $$
DECLARE
    level text;
    more bigint[];
    found bigint[] := '{}';
BEGIN
    FOREACH level IN ARRAY ARRAY['0.6', '0.4', '0.3', '0.2'] LOOP
        PERFORM set_config('pg_trgm.word_similarity_threshold', level, true);
        EXECUTE format(
            'SELECT array_agg(id) FROM (SELECT id FROM %s WHERE $1 <%% search_names AND id <> ALL ($2) LIMIT $3) AS near',
            searched
        ) INTO more USING search_words(value), found, 500 - cardinality(found);
        found := found || coalesce(more, '{}');
        EXIT WHEN cardinality(found) >= 500;
    END LOOP;
    RETURN QUERY SELECT unnest(found);
END
$$
"""


def back(apps: Any, schema_editor: Any) -> None:
    """As migration 0012 made it."""
    schema_editor.execute("DROP FUNCTION search_near(regclass, text)")
    schema_editor.execute(
        """
        CREATE FUNCTION search_near(searched regclass, value text) RETURNS SETOF bigint
        LANGUAGE plpgsql STABLE PARALLEL SAFE SET pg_trgm.word_similarity_threshold = 0.2 AS $$
        BEGIN
            RETURN QUERY EXECUTE format('SELECT id FROM %%s WHERE $1 <%%%% search_names', searched)
                USING search_words(value);
        END
        $$
        """,
        params=[],
    )


class Migration(migrations.Migration):
    dependencies = [("primitives", "0012_search_near")]
    operations = [
        migrations.RunSQL(SEARCH_NEAR, migrations.RunSQL.noop),
        migrations.RunPython(migrations.RunPython.noop, back),
    ]
