"""Entries are listed anew without locks that others wait for, and as another rung that took the place of theirs."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("ladder", "0005_costs_as_claims_say"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="tier",
            name="primitive_listing_after_update",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tier",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="ced65239740ad2e293d7ee9f8ff7f4760b315c60",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_listing_after_insert_e71f8",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="ladder_tier",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tier",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM old_rows) UNION SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM old_rows) UNION SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="f996fc9c0b05ab88c2c5c8a14a5b551f43671ed6",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_primitive_listing_after_update_feab4",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="ladder_tier",
                    when="AFTER",
                ),
            ),
        ),
    ]
