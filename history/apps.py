from django.apps import AppConfig


class HistoryConfig(AppConfig):
    """What changed, when and why: the tables that have a history, and how it is read."""

    name = "history"
    verbose_name = "History"
