"""The group Curators may edit environments, what runs in them, and error texts too."""

from typing import Any

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

NAME = "Curators"

# What has an address is never deleted, since addresses are permanent.
RIGHTS = {
    "environment": "add change view",
    "inner": "add change view",
    "innerprimitive": "add change delete view",
    "cell": "add change view",
    "errortext": "add change view",
    "fix": "add change delete view",
}


def permissions(apps: Any, using: str) -> Any:
    names = [f"{action}_{model}" for model, actions in RIGHTS.items() for action in actions.split()]
    found = apps.get_model("auth", "Permission").objects.using(using)
    return found.filter(content_type__app_label="nesting", codename__in=names)


def give(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    # Django makes permissions after the last migration, and these are needed now.
    create_permissions(installed.get_app_config("nesting"), verbosity=0, using=using, apps=apps)
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=NAME)
    group.permissions.add(*permissions(apps, using))


def take(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name=NAME):
        group.permissions.remove(*permissions(apps, using))


class Migration(migrations.Migration):
    dependencies = [
        ("sandboxicon", "0005_first_recorded"),
        ("nesting", "0001_initial"),
        ("evidence", "0009_nesting"),
    ]

    operations = [migrations.RunPython(give, take)]
