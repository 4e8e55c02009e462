"""The group Curators may edit agents and their audits too."""

from typing import Any

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

NAME = "Curators"

# An agent and its surfaces are never deleted, since their addresses are permanent.
RIGHTS = {
    "agent": "add change view",
    "agentaudit": "add change view",
    "agentbreak": "add change delete view",
    "posture": "add change delete view",
    "postureplatform": "add change delete view",
    "postureprimitive": "add change delete view",
    "postureclaim": "add change delete view",
}


def permissions(apps: Any, using: str) -> Any:
    names = [f"{action}_{model}" for model, actions in RIGHTS.items() for action in actions.split()]
    found = apps.get_model("auth", "Permission").objects.using(using)
    return found.filter(content_type__app_label="audits", codename__in=names)


def give(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    # Django makes permissions after the last migration, and these are needed now.
    create_permissions(installed.get_app_config("audits"), verbosity=0, using=using, apps=apps)
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=NAME)
    group.permissions.add(*permissions(apps, using))


def take(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name=NAME):
        group.permissions.remove(*permissions(apps, using))


class Migration(migrations.Migration):
    dependencies = [
        ("sandboxicon", "0002_curators"),
        ("audits", "0001_initial"),
        ("evidence", "0002_audits"),
    ]

    operations = [migrations.RunPython(give, take)]
