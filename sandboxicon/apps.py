from django.apps import AppConfig


class SandboxiconConfig(AppConfig):
    """The room above all others: home, search, content loading, and the commands."""

    name = "sandboxicon"
    default_auto_field = "django.db.models.BigAutoField"
