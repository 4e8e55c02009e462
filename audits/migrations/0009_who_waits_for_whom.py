"""Agents are searched anew without locks that others wait for, and also when a table is emptied at once (TRUNCATE)."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0008_proposals"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentaudit",
            name="agent_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentaudit",
            name="agent_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentaudit",
            name="agent_search_after_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentaudit",
            name="audit_moves_defaults",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentbreak",
            name="agent_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentbreak",
            name="agent_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="agentbreak",
            name="agent_search_after_delete",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="audit_moves_defaults",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."is_published" IS DISTINCT FROM (NEW."is_published"))',
                    constraint="CONSTRAINT",
                    func="\n    PERFORM FROM audits_agentaudit WHERE id = ANY (ARRAY[NEW.id]) ORDER BY id FOR NO KEY UPDATE;\n    DELETE FROM audits_defaultcell AS cell\n    WHERE cell.audit_id = ANY (ARRAY[NEW.id]) AND NOT EXISTS (\n        SELECT FROM (\n    SELECT DISTINCT ON (posture.audit_id, offer.platform_id)\n        posture.audit_id, offer.platform_id, posture.isolation, posture.tier_id\n    FROM audits_posture AS posture\n        JOIN audits_agentaudit AS audit ON audit.id = posture.audit_id AND audit.is_published\n        JOIN audits_postureplatform AS offer ON offer.posture_id = posture.id\n    WHERE posture.is_default\n) AS found WHERE found.audit_id = cell.audit_id AND found.platform_id = cell.platform_id\n    );\n    INSERT INTO audits_defaultcell AS cell (audit_id, platform_id, isolation, tier_id)\n    \n    SELECT DISTINCT ON (posture.audit_id, offer.platform_id)\n        posture.audit_id, offer.platform_id, posture.isolation, posture.tier_id\n    FROM audits_posture AS posture\n        JOIN audits_agentaudit AS audit ON audit.id = posture.audit_id AND audit.is_published\n        JOIN audits_postureplatform AS offer ON offer.posture_id = posture.id\n    WHERE posture.is_default\n AND audit.id = ANY (ARRAY[NEW.id])\n    ON CONFLICT (audit_id, platform_id) DO UPDATE SET isolation = EXCLUDED.isolation, tier_id = EXCLUDED.tier_id\n    WHERE (cell.isolation, cell.tier_id) IS DISTINCT FROM (EXCLUDED.isolation, EXCLUDED.tier_id);\n    RETURN NULL;\n",
                    hash="fb433397cbca5cd0f7c0f1a208997bdd134510ba",
                    operation='UPDATE OF "is_published"',
                    pgid="pgtrigger_audit_moves_defaults_732ce",
                    table="audits_agentaudit",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="80c89e07b426b2d5bee132e185dc5e6a55b28e65",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_agent_search_after_insert_a8249",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="audits_agentaudit",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM old_rows UNION SELECT agent_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM old_rows UNION SELECT agent_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="93634e2d757b05e9536e17f3ead4cf7b55c2ece0",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_agent_search_after_update_f8636",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="audits_agentaudit",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM old_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM old_rows);\n    RETURN NULL;\n",
                    hash="061aa8929749bc50b396dcdb32413f439f04b0a5",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_agent_search_after_delete_014e5",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="audits_agentaudit",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE audits_agent SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="57320ed8f45932e98c3f294e350838f4ee81820f",
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
                name="agent_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="365989d53cbce0dc97289887f7a8c884c3441ab0",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_agent_search_after_insert_7bcd5",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="audits_agentbreak",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentbreak",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM old_rows UNION SELECT agent_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM old_rows UNION SELECT agent_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="e6ed6d03765f870fd468cd2a4ccc00e5a1aa9026",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_agent_search_after_update_3785a",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="audits_agentbreak",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentbreak",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM old_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM old_rows);\n    RETURN NULL;\n",
                    hash="0edfda16cc48750b24ae5a2f88cc0fd38ea9f045",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_agent_search_after_delete_d24bf",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="audits_agentbreak",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="agentbreak",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE audits_agent SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="8bfd957938ac4cb2c9e9ed81d1cb2af3dafe6c01",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_agent_search_after_truncate_60627",
                    table="audits_agentbreak",
                    when="AFTER",
                ),
            ),
        ),
    ]
