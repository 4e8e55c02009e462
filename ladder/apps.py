from django.apps import AppConfig


class LadderConfig(AppConfig):
    """The six rungs and the kernel line."""

    name = "ladder"
    verbose_name = "Ladder"
