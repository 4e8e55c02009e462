"""What is there before history was kept is recorded once, so that the first change of it can be told."""

import uuid
from typing import Any

from django.db import migrations

TRACKED = {
    "ladder": ["Tier"],
    "primitives": ["Category", "Platform", "Primitive", "SupportedPlatform", "BuildsOn", "Break"],
    "evidence": ["Claim", "Source"],
    "audits": [
        *("Agent", "AgentAudit", "Posture", "PosturePlatform", "PosturePrimitive", "PostureClaim", "AgentBreak"),
    ],
}
WHY = {"why": "First recorded: what was there before history was kept.", "first": True}


def record(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    context = uuid.uuid4()
    recorded = 0
    with schema_editor.connection.cursor() as cursor:
        for label, names in TRACKED.items():
            for name in names:
                model, event = apps.get_model(label, name), apps.get_model(label, f"{name}Event")
                columns = [field.column for field in event._meta.fields if not field.name.startswith("pgh_")]
                listed = ", ".join(f'"{column}"' for column in columns)
                cursor.execute(
                    f"INSERT INTO {event._meta.db_table} ({listed}, pgh_created_at, pgh_label, pgh_obj_id,"  # noqa: S608
                    f" pgh_context_id) SELECT {listed}, now(), 'insert', id, %s FROM {model._meta.db_table} ORDER BY id",
                    [context],
                )
                recorded += cursor.rowcount
    if recorded:
        apps.get_model("pghistory", "Context").objects.using(using).create(id=context, metadata=WHY)


class Migration(migrations.Migration):
    dependencies = [
        ("sandboxicon", "0004_content_revision"),
        ("ladder", "0003_history"),
        ("primitives", "0006_history"),
        ("evidence", "0006_history"),
        ("audits", "0004_history"),
    ]

    operations = [migrations.RunPython(record, migrations.RunPython.noop)]
