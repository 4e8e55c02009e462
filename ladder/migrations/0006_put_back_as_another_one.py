"""What is deleted and comes back as another one within a transaction lists its entries as that."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("ladder", "0005_costs_as_claims_say"),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name="tier",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET slug = slug WHERE id IN (SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="6ed4268e5e905812c5b5a6b0b158fbb4238d44a1",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_listing_after_insert_e71f8",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="ladder_tier",
                    when="AFTER",
                ),
            ),
        ),
    ]
