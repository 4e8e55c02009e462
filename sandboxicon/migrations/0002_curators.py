"""The group Curators: who may edit the content, and nothing else."""

from typing import Any

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

NAME = "Curators"

# An entry is never deleted, since its address is permanent; the rungs, categories and platforms are a fixed frame.
RIGHTS = {
    "evidence": {"claim": "add change delete view", "source": "add change delete view"},
    "primitives": {
        "primitive": "add change view",
        "break": "add change delete view",
        "supportedplatform": "add change delete view",
        "buildson": "add change delete view",
        "category": "change view",
        "platform": "change view",
    },
    "ladder": {"tier": "change view"},
}


def create_group(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    for label in RIGHTS:
        # Django makes permissions after the last migration, and these are needed now.
        create_permissions(installed.get_app_config(label), verbosity=0, using=using, apps=apps)
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=NAME)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    group.permissions.add(
        *(
            permissions.get(content_type__app_label=label, codename=f"{action}_{model}")
            for label, models in RIGHTS.items()
            for model, actions in models.items()
            for action in actions.split()
        )
    )


def delete_group(apps: Any, schema_editor: Any) -> None:
    apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("sandboxicon", "0001_initial"),
        ("ladder", "0001_initial"),
        ("evidence", "0001_initial"),
        ("primitives", "0002_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(create_group, delete_group)]
