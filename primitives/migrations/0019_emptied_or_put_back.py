"""Entries are listed and searched anew when a table that this comes from is emptied at once (TRUNCATE), and when what they
point to is deleted and comes back as another one within a transaction.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("primitives", "0018_listing_waits_for_renames"),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name="break",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET slug = slug;\n    RETURN NULL;\n",
                    hash="7c24bcc1088fe825b5105e1756d475c630473f74",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_primitive_search_after_truncate_8571e",
                    table="primitives_break",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="category",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET slug = slug WHERE id IN (SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="188ada4e291f349e3bd2e104b1a3ed830d480790",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_listing_after_insert_7ac14",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="primitives_category",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="platform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET slug = slug WHERE id IN (SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="e2b0be0dd4563ac83bd08d2db5bb28eda7b2e13d",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_listing_after_insert_49ce9",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="primitives_platform",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="supportedplatform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET slug = slug;\n    RETURN NULL;\n",
                    hash="b34a3ba20339649f6fc277a4e724bb198e993d4e",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_primitive_search_after_truncate_be4b3",
                    table="primitives_supportedplatform",
                    when="AFTER",
                ),
            ),
        ),
    ]
