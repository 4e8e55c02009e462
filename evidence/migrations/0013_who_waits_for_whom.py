"""What claims are part of is searched and checked anew without locks that others wait for, also when claims are deleted
all at once (TRUNCATE). A claim's address waits for who moves its subject, and is put right where it did not.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0012_counts_read_indexes"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="primitive_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="primitive_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="primitive_search_after_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="agent_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="agent_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="agent_search_after_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="moved_claim_fits_its_audit",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="claim_has_its_address",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="error_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="error_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="error_search_after_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="claim",
            name="costs_on_it_are_borne_out",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="claim_has_its_address",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE subject text;",
                    func="\n        NEW.kind := '';\n        IF NEW.tier_id IS NOT NULL THEN NEW.kind := 'tier'; PERFORM FROM ladder_tier WHERE id = NEW.tier_id FOR KEY SHARE; SELECT 'tier.' || slug INTO subject FROM ladder_tier WHERE id = NEW.tier_id; ELSIF NEW.primitive_id IS NOT NULL THEN NEW.kind := 'primitive'; PERFORM FROM primitives_primitive WHERE id = NEW.primitive_id FOR KEY SHARE; SELECT 'primitive.' || slug INTO subject FROM primitives_primitive WHERE id = NEW.primitive_id; ELSIF NEW.audit_id IS NOT NULL THEN NEW.kind := 'audit'; PERFORM FROM audits_agentaudit WHERE id = NEW.audit_id FOR KEY SHARE; PERFORM FROM audits_agent WHERE id = (SELECT agent_id FROM audits_agentaudit WHERE id = NEW.audit_id) FOR KEY SHARE; SELECT 'audit.' || agent.slug || '.' || audit.slug INTO subject FROM audits_agentaudit AS audit JOIN audits_agent AS agent ON agent.id = audit.agent_id WHERE audit.id = NEW.audit_id; ELSIF NEW.cell_id IS NOT NULL THEN NEW.kind := 'cell'; PERFORM FROM nesting_cell WHERE id = NEW.cell_id FOR KEY SHARE; PERFORM FROM nesting_inner WHERE id = (SELECT inner_id FROM nesting_cell WHERE id = NEW.cell_id) FOR KEY SHARE; PERFORM FROM nesting_environment WHERE id = (SELECT outer_id FROM nesting_cell WHERE id = NEW.cell_id) FOR KEY SHARE; SELECT 'cell.' || sandbox.slug || '.' || environment.slug INTO subject FROM nesting_cell AS cell JOIN nesting_inner AS sandbox ON sandbox.id = cell.inner_id JOIN nesting_environment AS environment ON environment.id = cell.outer_id WHERE cell.id = NEW.cell_id; ELSIF NEW.error_text_id IS NOT NULL THEN NEW.kind := 'error_text'; PERFORM FROM nesting_errortext WHERE id = NEW.error_text_id FOR KEY SHARE; SELECT 'error.' || slug INTO subject FROM nesting_errortext WHERE id = NEW.error_text_id;\n        END IF;\n        NEW.address := coalesce(subject || '.', '') || NEW.slug;\n        RETURN NEW;\n    ",
                    hash="0f3267e5099ce26f61d97b643c94f48d74ee4f0a",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_claim_has_its_address_03e3d",
                    table="evidence_claim",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="costs_on_it_are_borne_out",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."primitive_id" IS DISTINCT FROM (NEW."primitive_id") OR OLD."sentence" IS DISTINCT FROM (NEW."sentence") OR OLD."tier_id" IS DISTINCT FROM (NEW."tier_id"))',
                    constraint="CONSTRAINT",
                    declare="DECLARE cost record; faults text[];",
                    func="\n    FOR cost IN\n        SELECT id, tier_id, kind, low, high FROM ladder_costrange WHERE id IN (SELECT cost_id FROM ladder_costclaim WHERE claim_id = NEW.id) ORDER BY id FOR NO KEY UPDATE\n    LOOP\n        faults := ARRAY(\n            SELECT format('No claim that the %s rests on says “%s”.', cost.kind, figure)\n            FROM unnest(ARRAY[cost.low, cost.high]) AS figure\n            WHERE figure <> '' AND NOT EXISTS (\n                SELECT FROM ladder_costclaim AS ground JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n                WHERE ground.cost_id = cost.id AND position(figure IN claim.sentence) > 0\n            )\n        ) || ARRAY(\n            SELECT format('The %s rests on %s, which is about another rung.', cost.kind, claim.address)\n            FROM ladder_costclaim AS ground\n                JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n                LEFT JOIN primitives_primitive AS itself ON itself.id = claim.primitive_id\n            WHERE ground.cost_id = cost.id\n                AND cost.tier_id IS DISTINCT FROM coalesce(claim.tier_id, itself.tier_id)\n            ORDER BY claim.address\n        );\n        IF cardinality(faults) > 0 THEN\n            RAISE EXCEPTION USING\n                ERRCODE = 'check_violation',\n                CONSTRAINT = 'cost_is_borne_out',\n                MESSAGE = array_to_string(faults, E'\\n');\n        END IF;\n    END LOOP;\n    RETURN NULL;\n",
                    hash="c4372a85000222e6d181637aa730d8a5185b0f20",
                    operation='UPDATE OF "sentence", "tier_id", "primitive_id"',
                    pgid="pgtrigger_costs_on_it_are_borne_out_cbf39",
                    table="evidence_claim",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="39406354af5a6ad0d5a28c2c7e0359a2e9e8cade",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_search_after_insert_2da00",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM old_rows UNION SELECT primitive_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM old_rows UNION SELECT primitive_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="4922f5c3622d4ae206050cfb590ec98e17f51778",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_primitive_search_after_update_dff87",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM old_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM old_rows);\n    RETURN NULL;\n",
                    hash="218baedd97b1fd80bf339450f88e3637cd7f8107",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_primitive_search_after_delete_56fa9",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="0cebab3db95d1c821440c2950167e5cc83633356",
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
                name="moved_claim_fits_its_audit",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."audit_id" IS DISTINCT FROM (NEW."audit_id") OR OLD."is_published" IS DISTINCT FROM (NEW."is_published"))',
                    constraint="CONSTRAINT",
                    declare="DECLARE audit record; faults text[];",
                    func="\n    FOR audit IN\n        SELECT id, name, is_published FROM audits_agentaudit\n        WHERE id IN (SELECT unnest(ARRAY[OLD.audit_id, NEW.audit_id])) ORDER BY id FOR NO KEY UPDATE\n    LOOP\n        faults := ARRAY(\n            SELECT format('%s has more than one default posture on %s.', audit.name, platform.name)\n            FROM audits_posture AS posture\n                JOIN audits_postureplatform AS offer ON offer.posture_id = posture.id\n                JOIN primitives_platform AS platform ON platform.id = offer.platform_id\n            WHERE posture.audit_id = audit.id AND posture.is_default\n            GROUP BY platform.id, platform.name HAVING count(*) > 1 ORDER BY platform.name\n        ) || ARRAY(\n            SELECT format('Posture %s of %s rests on %s, which is a claim about something else.',\n                posture.mode, audit.name, claim.slug)\n            FROM audits_posture AS posture\n                JOIN audits_postureclaim AS ground ON ground.posture_id = posture.id\n                JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n            WHERE posture.audit_id = audit.id AND claim.audit_id IS DISTINCT FROM audit.id\n            ORDER BY posture.position, posture.id, claim.slug\n        );\n        IF audit.is_published THEN\n            IF NOT EXISTS (SELECT FROM audits_posture WHERE audit_id = audit.id AND is_default) THEN\n                faults := faults || format('%s has no default posture, so it cannot be published.', audit.name);\n            END IF;\n            faults := faults || ARRAY(\n                SELECT format('Posture %s of %s names no claim that it rests on, so it cannot be published.',\n                    posture.mode, audit.name)\n                FROM audits_posture AS posture\n                WHERE posture.audit_id = audit.id\n                    AND NOT EXISTS (SELECT FROM audits_postureclaim WHERE posture_id = posture.id)\n                ORDER BY posture.position, posture.id\n            ) || ARRAY(\n                SELECT format('Posture %s of %s names no platform, so it cannot be published.',\n                    posture.mode, audit.name)\n                FROM audits_posture AS posture\n                WHERE posture.audit_id = audit.id\n                    AND NOT EXISTS (SELECT FROM audits_postureplatform WHERE posture_id = posture.id)\n                ORDER BY posture.position, posture.id\n            ) || ARRAY(\n                SELECT format('Posture %s of %s rests on %s, which is a draft, so it cannot be published.',\n                    posture.mode, audit.name, claim.slug)\n                FROM audits_posture AS posture\n                    JOIN audits_postureclaim AS ground ON ground.posture_id = posture.id\n                    JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n                WHERE posture.audit_id = audit.id AND NOT claim.is_published\n                ORDER BY posture.position, posture.id, claim.slug\n            ) || ARRAY(\n                SELECT format('Posture %s of %s stands on %s, which is a draft, so it cannot be published.',\n                    posture.mode, audit.name, primitive.name)\n                FROM audits_posture AS posture\n                    JOIN audits_postureprimitive AS footing ON footing.posture_id = posture.id\n                    JOIN primitives_primitive AS primitive ON primitive.id = footing.primitive_id\n                WHERE posture.audit_id = audit.id AND NOT primitive.is_published\n                ORDER BY posture.position, posture.id, primitive.name\n            );\n        END IF;\n        IF cardinality(faults) > 0 THEN\n            RAISE EXCEPTION USING\n                ERRCODE = 'check_violation',\n                CONSTRAINT = 'audit_holds_together',\n                MESSAGE = array_to_string(faults, E'\\n');\n        END IF;\n    END LOOP;\n    RETURN NULL;\n",
                    hash="919347af4ac30fecb1772da57cd5fb4c73a65e09",
                    operation='UPDATE OF "audit_id", "is_published"',
                    pgid="pgtrigger_moved_claim_fits_its_audit_91974",
                    table="evidence_claim",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM new_rows));\n    RETURN NULL;\n",
                    hash="f98e052437e92d6a393c73dc02a0af0e40c8abf7",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_agent_search_after_insert_11f20",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM old_rows) UNION SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM old_rows) UNION SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM new_rows));\n    RETURN NULL;\n",
                    hash="a9c1e3f2cc64fe50247de2c9234d8c38966d42a8",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_agent_search_after_update_231cd",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="agent_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM audits_agent WHERE id IN (SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM old_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE audits_agent SET search_names = search_names WHERE id IN (SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM old_rows));\n    RETURN NULL;\n",
                    hash="351e52df33dbd5a4f89c4688d4fd0533c2480d29",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_agent_search_after_delete_b36a9",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
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
                    func="\n    UPDATE audits_agent SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="2495be3f5688baf4c562d785b21f7d9c0aad1b0e",
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
                name="error_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM nesting_errortext WHERE id IN (SELECT error_text_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE nesting_errortext SET search_names = search_names WHERE id IN (SELECT error_text_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="797ff551a202870d0792666c1bbb1ba6b7a005aa",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_error_search_after_insert_4b0cf",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="error_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM nesting_errortext WHERE id IN (SELECT error_text_id FROM old_rows UNION SELECT error_text_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE nesting_errortext SET search_names = search_names WHERE id IN (SELECT error_text_id FROM old_rows UNION SELECT error_text_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="7dc6d28577c968eb96bdf874bc316405ad8c7a72",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_error_search_after_update_ed510",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="claim",
            trigger=pgtrigger.compiler.Trigger(
                name="error_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM nesting_errortext WHERE id IN (SELECT error_text_id FROM old_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE nesting_errortext SET search_names = search_names WHERE id IN (SELECT error_text_id FROM old_rows);\n    RETURN NULL;\n",
                    hash="be81bed7142cc50a72970314e49e1336382a813c",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_error_search_after_delete_cb902",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
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
                    func="\n    UPDATE nesting_errortext SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="428d12c5830222ab92f96f59da77fbbdda5b0809",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_error_search_after_truncate_9a923",
                    table="evidence_claim",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL("UPDATE evidence_claim SET slug = slug WHERE address NOT LIKE '%.%'", migrations.RunSQL.noop),
    ]
