"""A word that is being typed counts for the rank of what it finds.

`ts_rank` takes two operands of the same letters for one, with or without `:*`, and may keep the one without: what only
begins with the word had a rank of 0. So a word's stem is asked for beside it only where it is another one.
"""

from importlib import import_module
from typing import Any

from django.db import migrations

BEFORE = import_module("primitives.migrations.0001_search_functions").SEARCH_QUERY.replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
)
SEARCH_QUERY = BEFORE.replace(
    "IF to_tsvector('english', words[i]) <> '' THEN",
    "IF plainto_tsquery('english', words[i]) <> to_tsquery('simple', words[i])\n"
    "            AND to_tsvector('english', words[i]) <> '' THEN",
)


class Migration(migrations.Migration):
    dependencies = [("primitives", "0019_who_waits_for_whom")]
    operations: list[Any] = [migrations.RunSQL(SEARCH_QUERY, BEFORE)]
