"""A change of what runs inside what, or of an error text, moves the revision too."""

from django.db import migrations

TABLES = [
    "nesting_environment",
    "nesting_inner",
    "nesting_innerprimitive",
    "nesting_cell",
    "nesting_errortext",
    "nesting_fix",
]


class Migration(migrations.Migration):
    dependencies = [("sandboxicon", "0006_curators_of_nesting"), ("nesting", "0001_initial")]

    operations = [
        migrations.RunSQL(f"CALL watch_content('{table}')", f"CALL unwatch_content('{table}')") for table in TABLES
    ]
