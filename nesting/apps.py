from django.apps import AppConfig


class NestingConfig(AppConfig):
    name = "nesting"
    verbose_name = "Nesting"
