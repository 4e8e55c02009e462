from django.apps import AppConfig
from django.contrib.admin import apps as admin


class SandboxiconConfig(AppConfig):
    """The room above all others: home, search, content loading, and the commands."""

    name = "sandboxicon"
    default_auto_field = "django.db.models.BigAutoField"


class CurationConfig(admin.AdminConfig):
    """Django's admin, with our door before it."""

    default = False
    default_site = "sandboxicon.second_factor.CuratorsSite"
