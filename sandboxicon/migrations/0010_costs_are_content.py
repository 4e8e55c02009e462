"""Costs of rungs are public content: a change of them moves the revision."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("sandboxicon", "0009_addresses_are_watched"),
        ("ladder", "0005_costs_as_claims_say"),
    ]

    operations = [
        migrations.RunSQL(f"CALL watch_content('{table}')", f"CALL unwatch_content('{table}')")
        for table in ("ladder_costrange", "ladder_costclaim")
    ]
