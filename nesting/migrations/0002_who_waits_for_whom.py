"""No draft about an error text is searched."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("nesting", "0001_initial"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="errortext",
            name="error_search_document",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="errortext",
            trigger=pgtrigger.compiler.Trigger(
                name="error_search_document",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE names text[]; numbers text[]; breaks text; claims text;",
                    func="\n        SELECT coalesce(array_agg(identifier) || array_agg(nickname) FILTER (WHERE nickname <> ''), '{}'),\n               coalesce(string_agg(concat_ws(' ', identifier, nickname, summary), ' '), '')\n        INTO numbers, breaks FROM (SELECT ''::text AS identifier, ''::text AS nickname, ''::text AS summary WHERE false) AS none;\n        SELECT coalesce(string_agg(sentence, ' '), '')\n        INTO claims FROM evidence_claim WHERE error_text_id = NEW.id AND is_published;\n        names := ARRAY[NEW.name::text, NEW.slug::text] || ARRAY[NEW.tool::text]::text[];\n        NEW.search_keys := ARRAY(\n            SELECT DISTINCT replace(search_words(key), ' ', '') FROM unnest(names || numbers) AS key\n            WHERE search_words(key) <> ''\n        );\n        NEW.search_names := search_words(array_to_string(names || numbers, ' '));\n        NEW.search_vector :=\n            setweight(to_tsvector('simple', search_words(concat_ws(' ', NEW.name, NEW.slug))), 'A')\n            || setweight(to_tsvector('english', search_words(concat_ws(' ', NEW.name, NEW.slug))), 'A')\n            || setweight(to_tsvector('simple', search_words(array_to_string(ARRAY[NEW.tool::text], ' '))), 'B')\n            || setweight(to_tsvector('english', search_words(array_to_string(ARRAY[NEW.tool::text], ' '))), 'B')\n            || setweight(to_tsvector('simple', array_to_string(\n                ARRAY(SELECT search_joined(key) FROM unnest(names || numbers) AS key), ' ')), 'B')\n            || setweight(to_tsvector('simple', search_joined(concat_ws(' ', NEW.example, NEW.meaning, array_to_string(NEW.causes, ' ')) || ' ' || breaks)), 'D')\n            || setweight(to_tsvector('english', search_words(concat_ws(' ', NEW.example, NEW.meaning, array_to_string(NEW.causes, ' ')))), 'B')\n            || setweight(to_tsvector('english', search_words(breaks)), 'C')\n            || setweight(to_tsvector('english', search_words(claims)), 'D');\n        RETURN NEW;\n    ",
                    hash="3506b616d87121c5526c7cb674eed588ae962413",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_error_search_document_4957f",
                    table="nesting_errortext",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunSQL("UPDATE nesting_errortext SET search_names = search_names", migrations.RunSQL.noop),
    ]
