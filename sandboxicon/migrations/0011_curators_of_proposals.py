"""The group Curators may decide on what other curators propose."""

from typing import Any

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

NAME = "Curators"
RIGHTS = ["view_proposal", "change_proposal"]


def permissions(apps: Any, using: str) -> Any:
    found = apps.get_model("auth", "Permission").objects.using(using)
    return found.filter(content_type__app_label="audits", codename__in=RIGHTS)


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
        ("sandboxicon", "0010_costs_are_content"),
        ("audits", "0008_proposals"),
    ]

    operations = [migrations.RunPython(give, take)]
