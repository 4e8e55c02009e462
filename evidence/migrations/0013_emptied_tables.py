"""What an entry is searched by is written anew when a table that it comes from is emptied at once (TRUNCATE)."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0012_counts_read_indexes"),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET slug = slug;\n    RETURN NULL;\n",
                    hash="ddf381a34fb1bd8d3800ce482e5ab4694beba769",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_primitive_search_after_truncate_78f32",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE audits_agent SET slug = slug;\n    RETURN NULL;\n",
                    hash="b11efb446f4c6b86175fe1dfbffe8ace5761538e",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_agent_search_after_truncate_332a4",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="error_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE nesting_errortext SET slug = slug;\n    RETURN NULL;\n",
                    hash="550c033e38c935b81b33999fddae41efcc8e2a2c",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_error_search_after_truncate_9a923",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
    ]
