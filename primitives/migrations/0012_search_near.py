"""A function for misspellings that reads an index, however many entries there are."""

from django.db import migrations

# Ids of entries that share enough trigrams with what was typed to be worth a closer look by search_closeness. The limit
# is low: a slip in a word of three letters leaves one trigram of four.
SEARCH_NEAR = """
CREATE FUNCTION search_near(searched regclass, value text) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SET pg_trgm.word_similarity_threshold = 0.2 AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT id FROM %s WHERE $1 <%% search_names', searched) USING search_words(value);
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("primitives", "0011_costs_as_claims_say")]
    operations = [migrations.RunSQL(SEARCH_NEAR, "DROP FUNCTION search_near(regclass, text)")]
