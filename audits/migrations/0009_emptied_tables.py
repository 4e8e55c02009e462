"""What an entry is searched by is written anew when a table that it comes from is emptied at once (TRUNCATE)."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0008_proposals"),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name="agentaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE audits_agent SET slug = slug;\n    RETURN NULL;\n",
                    hash="fe314344f527f2f1dd64228986209d1706aff883",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_agent_search_after_truncate_ba003",
                    table="audits_agentaudit",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentbreak",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE audits_agent SET slug = slug;\n    RETURN NULL;\n",
                    hash="dc7e202ab5e2f58b157e4a012d3deefd7970cba1",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_agent_search_after_truncate_60627",
                    table="audits_agentbreak",
                    when="AFTER",
                ),
            ),
        ),
    ]
