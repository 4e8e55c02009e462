from django.apps import AppConfig


class AuditsConfig(AppConfig):
    """What each agent runs in: agents, their audits, and the postures of each."""

    name = "audits"
    verbose_name = "Audits"
