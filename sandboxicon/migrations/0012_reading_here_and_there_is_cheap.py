"""Postgres' own measure of a read in random order is that of a turning disk, and with it the planner would rather read a
million claims from end to end than ten thousand by an index. On solid-state disks, and what is in memory, it is 1.1.

It is a setting of this database, for every connection that opens after.
"""

from django.db import migrations

SET = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1.1', current_database()); END $$"
RESET = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET random_page_cost', current_database()); END $$"


class Migration(migrations.Migration):
    dependencies = [("sandboxicon", "0011_curators_of_proposals")]
    operations = [migrations.RunSQL(SET, RESET)]
