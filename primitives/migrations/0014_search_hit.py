"""What of a search looked for names is said by two functions, where it was written out in each query: to put such a query
together took longer than to answer it.
"""

from django.db import migrations

# What was typed as a key (`search_keys`): as it stands, with an s more, with an s less, and as a CVE's number.
SEARCH_SPELLINGS = """
CREATE FUNCTION search_spellings(value text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY[key, key || 's', rtrim(key, 's'), 'cve' || key]
    FROM (SELECT replace(search_words(value), ' ', '') AS key) AS typed
$$
"""

# 3: its very name; 2: how a name begins; 1: somewhere else.
SEARCH_HIT = """
CREATE FUNCTION search_hit(keys text[], names text, value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN keys && search_spellings(value) THEN 3 WHEN starts_with(names, search_words(value)) THEN 2 ELSE 1 END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("primitives", "0013_search_near_has_an_end")]
    operations = [
        migrations.RunSQL(SEARCH_SPELLINGS, "DROP FUNCTION search_spellings(text)"),
        migrations.RunSQL(SEARCH_HIT, "DROP FUNCTION search_hit(text[], text, text)"),
    ]
