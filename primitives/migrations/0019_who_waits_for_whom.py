"""Entries are searched, listed and checked anew without locks that others wait for; also when a table is emptied at once
(TRUNCATE), and when what they point to comes back as another one within a transaction.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("primitives", "0018_listing_waits_for_renames"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="break",
            name="primitive_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="break",
            name="primitive_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="break",
            name="primitive_search_after_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="category",
            name="primitive_listing_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="platform",
            name="primitive_listing_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="primitive",
            name="draft_fits_its_audits",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="primitive",
            name="costs_on_its_claims",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="primitive",
            name="primitive_listing",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="supportedplatform",
            name="primitive_search_after_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="supportedplatform",
            name="primitive_search_after_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="supportedplatform",
            name="primitive_search_after_delete",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="break",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="71ed6947969f53aeda8adb81c43964dddf5795ad",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_search_after_insert_9a499",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="primitives_break",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="break",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM old_rows UNION SELECT primitive_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM old_rows UNION SELECT primitive_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="c1431b81040504404cb9116ff43f21fd39152d02",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_primitive_search_after_update_1f35f",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="primitives_break",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="break",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM old_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM old_rows);\n    RETURN NULL;\n",
                    hash="17fde1cc76adb870cb27e47854c0da7fe0f3037e",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_primitive_search_after_delete_2a288",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="primitives_break",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="break",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="129f859f78cae5f23d178264757829507590895c",
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
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="73a029280a3c20682bfdce30fddc40cdf7c1e8e4",
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
            model_name="category",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM old_rows) UNION SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM old_rows) UNION SELECT id FROM primitives_primitive WHERE category_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="76a271f3ee86abefa8ed2238d3b51f67d6c0a00f",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_primitive_listing_after_update_04658",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
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
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="69838d54b9e1e8f12d5a98fa9df0b5712127c318",
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
            model_name="platform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM old_rows) UNION SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM new_rows)) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM old_rows) UNION SELECT primitive_id FROM primitives_supportedplatform WHERE platform_id IN (SELECT id FROM new_rows));\n    RETURN NULL;\n",
                    hash="7b6aa5cdfd7bdf864d20e9f95a060db2605450ac",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_primitive_listing_after_update_3be00",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="primitives_platform",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="primitive",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n        PERFORM FROM ladder_tier WHERE id = NEW.tier_id FOR KEY SHARE;\n        PERFORM FROM primitives_category WHERE id = NEW.category_id FOR KEY SHARE;\n        PERFORM FROM primitives_platform WHERE id IN (\n            SELECT platform_id FROM primitives_supportedplatform WHERE primitive_id = NEW.id) ORDER BY id FOR KEY SHARE;\n        SELECT rank INTO NEW.tier_rank FROM ladder_tier WHERE id = NEW.tier_id;\n        SELECT count(*), max(as_of) INTO NEW.claim_count, NEW.last_checked\n        FROM evidence_claim WHERE primitive_id = NEW.id AND is_published;\n        NEW.facets := ARRAY(\n            SELECT 'tier:' || slug FROM ladder_tier WHERE id = NEW.tier_id\n            UNION ALL SELECT 'category:' || slug FROM primitives_category WHERE id = NEW.category_id\n            UNION ALL SELECT 'status:' || NEW.status\n            UNION ALL SELECT DISTINCT 'isolates:' || thing FROM unnest(NEW.isolates) AS thing\n            UNION ALL SELECT 'platform:' || slug FROM primitives_platform WHERE id IN (\n                SELECT platform_id FROM primitives_supportedplatform WHERE primitive_id = NEW.id)\n            UNION ALL SELECT DISTINCT 'label:' || label FROM evidence_claim\n                WHERE primitive_id = NEW.id AND is_published\n        );\n        RETURN NEW;\n    ",
                    hash="2a7c2731f5e3422fdfbbb0cde34c97b7ec5765a1",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_primitive_listing_1f32c",
                    table="primitives_primitive",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="primitive",
            trigger=pgtrigger.compiler.Trigger(
                name="costs_on_its_claims",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."tier_id" IS DISTINCT FROM (NEW."tier_id"))',
                    constraint="CONSTRAINT",
                    declare="DECLARE cost record; faults text[];",
                    func="\n    FOR cost IN\n        SELECT id, tier_id, kind, low, high FROM ladder_costrange WHERE id IN (\n        SELECT ground.cost_id FROM ladder_costclaim AS ground JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n        WHERE claim.primitive_id = NEW.id\n    ) ORDER BY id FOR NO KEY UPDATE\n    LOOP\n        faults := ARRAY(\n            SELECT format('No claim that the %s rests on says “%s”.', cost.kind, figure)\n            FROM unnest(ARRAY[cost.low, cost.high]) AS figure\n            WHERE figure <> '' AND NOT EXISTS (\n                SELECT FROM ladder_costclaim AS ground JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n                WHERE ground.cost_id = cost.id AND position(figure IN claim.sentence) > 0\n            )\n        ) || ARRAY(\n            SELECT format('The %s rests on %s, which is about another rung.', cost.kind, claim.address)\n            FROM ladder_costclaim AS ground\n                JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n                LEFT JOIN primitives_primitive AS itself ON itself.id = claim.primitive_id\n            WHERE ground.cost_id = cost.id\n                AND cost.tier_id IS DISTINCT FROM coalesce(claim.tier_id, itself.tier_id)\n            ORDER BY claim.address\n        );\n        IF cardinality(faults) > 0 THEN\n            RAISE EXCEPTION USING\n                ERRCODE = 'check_violation',\n                CONSTRAINT = 'cost_is_borne_out',\n                MESSAGE = array_to_string(faults, E'\\n');\n        END IF;\n    END LOOP;\n    RETURN NULL;\n",
                    hash="623770b799a5ce7e7833022be8867b53d1923043",
                    operation='UPDATE OF "tier_id"',
                    pgid="pgtrigger_costs_on_its_claims_b59d2",
                    table="primitives_primitive",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="primitive",
            trigger=pgtrigger.compiler.Trigger(
                name="draft_fits_its_audits",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."is_published" IS DISTINCT FROM (NEW."is_published"))',
                    constraint="CONSTRAINT",
                    declare="DECLARE audit record; faults text[];",
                    func="\n    FOR audit IN\n        SELECT id, name, is_published FROM audits_agentaudit\n        WHERE id IN (\n            SELECT posture.audit_id FROM audits_posture AS posture\n                JOIN audits_postureprimitive AS footing ON footing.posture_id = posture.id\n            WHERE footing.primitive_id = NEW.id\n        ) ORDER BY id FOR NO KEY UPDATE\n    LOOP\n        faults := ARRAY(\n            SELECT format('%s has more than one default posture on %s.', audit.name, platform.name)\n            FROM audits_posture AS posture\n                JOIN audits_postureplatform AS offer ON offer.posture_id = posture.id\n                JOIN primitives_platform AS platform ON platform.id = offer.platform_id\n            WHERE posture.audit_id = audit.id AND posture.is_default\n            GROUP BY platform.id, platform.name HAVING count(*) > 1 ORDER BY platform.name\n        ) || ARRAY(\n            SELECT format('Posture %s of %s rests on %s, which is a claim about something else.',\n                posture.mode, audit.name, claim.slug)\n            FROM audits_posture AS posture\n                JOIN audits_postureclaim AS ground ON ground.posture_id = posture.id\n                JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n            WHERE posture.audit_id = audit.id AND claim.audit_id IS DISTINCT FROM audit.id\n            ORDER BY posture.position, posture.id, claim.slug\n        );\n        IF audit.is_published THEN\n            IF NOT EXISTS (SELECT FROM audits_posture WHERE audit_id = audit.id AND is_default) THEN\n                faults := faults || format('%s has no default posture, so it cannot be published.', audit.name);\n            END IF;\n            faults := faults || ARRAY(\n                SELECT format('Posture %s of %s names no claim that it rests on, so it cannot be published.',\n                    posture.mode, audit.name)\n                FROM audits_posture AS posture\n                WHERE posture.audit_id = audit.id\n                    AND NOT EXISTS (SELECT FROM audits_postureclaim WHERE posture_id = posture.id)\n                ORDER BY posture.position, posture.id\n            ) || ARRAY(\n                SELECT format('Posture %s of %s names no platform, so it cannot be published.',\n                    posture.mode, audit.name)\n                FROM audits_posture AS posture\n                WHERE posture.audit_id = audit.id\n                    AND NOT EXISTS (SELECT FROM audits_postureplatform WHERE posture_id = posture.id)\n                ORDER BY posture.position, posture.id\n            ) || ARRAY(\n                SELECT format('Posture %s of %s rests on %s, which is a draft, so it cannot be published.',\n                    posture.mode, audit.name, claim.slug)\n                FROM audits_posture AS posture\n                    JOIN audits_postureclaim AS ground ON ground.posture_id = posture.id\n                    JOIN evidence_claim AS claim ON claim.id = ground.claim_id\n                WHERE posture.audit_id = audit.id AND NOT claim.is_published\n                ORDER BY posture.position, posture.id, claim.slug\n            ) || ARRAY(\n                SELECT format('Posture %s of %s stands on %s, which is a draft, so it cannot be published.',\n                    posture.mode, audit.name, primitive.name)\n                FROM audits_posture AS posture\n                    JOIN audits_postureprimitive AS footing ON footing.posture_id = posture.id\n                    JOIN primitives_primitive AS primitive ON primitive.id = footing.primitive_id\n                WHERE posture.audit_id = audit.id AND NOT primitive.is_published\n                ORDER BY posture.position, posture.id, primitive.name\n            );\n        END IF;\n        IF cardinality(faults) > 0 THEN\n            RAISE EXCEPTION USING\n                ERRCODE = 'check_violation',\n                CONSTRAINT = 'audit_holds_together',\n                MESSAGE = array_to_string(faults, E'\\n');\n        END IF;\n    END LOOP;\n    RETURN NULL;\n",
                    hash="1ccff5fb6c453eff3677d43b2e8ee52e08acfad2",
                    operation='UPDATE OF "is_published"',
                    pgid="pgtrigger_draft_fits_its_audits_eb611",
                    table="primitives_primitive",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="supportedplatform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="d4ec39ca80d928c6ab7ecd8d4cf6cc358973f6b7",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_primitive_search_after_insert_16ba7",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="primitives_supportedplatform",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="supportedplatform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM old_rows UNION SELECT primitive_id FROM new_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM old_rows UNION SELECT primitive_id FROM new_rows);\n    RETURN NULL;\n",
                    hash="2c331b7e8527ae013809e1b8cfd0b06ccc525104",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_primitive_search_after_update_9cebe",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="primitives_supportedplatform",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="supportedplatform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    PERFORM FROM primitives_primitive WHERE id IN (SELECT primitive_id FROM old_rows) ORDER BY id FOR NO KEY UPDATE;\n    UPDATE primitives_primitive SET search_names = search_names WHERE id IN (SELECT primitive_id FROM old_rows);\n    RETURN NULL;\n",
                    hash="2569c136335aa4bc9fb902c7bc720977b85e0ebe",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_primitive_search_after_delete_5db86",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="primitives_supportedplatform",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="supportedplatform",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_search_after_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE primitives_primitive SET search_names = search_names;\n    RETURN NULL;\n",
                    hash="7c9f247920014d94b2b800e7bcf7322d930191dd",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_primitive_search_after_truncate_be4b3",
                    table="primitives_supportedplatform",
                    when="AFTER",
                ),
            ),
        ),
    ]
