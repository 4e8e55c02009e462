"""An entry's listing waits for whoever renames, at the same time, what the entry points to; and is written anew, since
without that it may say a name or a rank that is no more.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("primitives", "0017_names_begin_in_order"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="primitive",
            name="primitive_listing",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="primitive",
            trigger=pgtrigger.compiler.Trigger(
                name="primitive_listing",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n        PERFORM FROM ladder_tier WHERE id = NEW.tier_id FOR KEY SHARE;\n        PERFORM FROM primitives_category WHERE id = NEW.category_id FOR KEY SHARE;\n        PERFORM FROM primitives_platform WHERE id IN (\n            SELECT platform_id FROM primitives_supportedplatform WHERE primitive_id = NEW.id) ORDER BY id FOR KEY SHARE;\n        SELECT rank INTO NEW.tier_rank FROM ladder_tier WHERE id = NEW.tier_id;\n        SELECT count(*), max(as_of) INTO NEW.claim_count, NEW.last_checked\n        FROM evidence_claim WHERE primitive_id = NEW.id AND is_published;\n        NEW.facets := ARRAY(\n            SELECT 'tier:' || slug FROM ladder_tier WHERE id = NEW.tier_id\n            UNION ALL SELECT 'category:' || slug FROM primitives_category WHERE id = NEW.category_id\n            UNION ALL SELECT 'status:' || NEW.status\n            UNION ALL SELECT 'isolates:' || thing FROM unnest(NEW.isolates) AS thing\n            UNION ALL SELECT 'platform:' || slug FROM primitives_platform WHERE id IN (\n                SELECT platform_id FROM primitives_supportedplatform WHERE primitive_id = NEW.id)\n            UNION ALL SELECT DISTINCT 'label:' || label FROM evidence_claim\n                WHERE primitive_id = NEW.id AND is_published\n        );\n        RETURN NEW;\n    ",
                    hash="d305ee58d1ca895e25ea649723c88c83defbeade",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_primitive_listing_1f32c",
                    table="primitives_primitive",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunSQL("UPDATE primitives_primitive SET slug = slug", migrations.RunSQL.noop),
    ]
