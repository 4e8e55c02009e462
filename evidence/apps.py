from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    """Claims, their labels, and the sources behind them."""

    name = "evidence"
    verbose_name = "Evidence"
