from django.apps import AppConfig


class CorrectionsConfig(AppConfig):
    """What readers say is wrong with a claim."""

    name = "corrections"
