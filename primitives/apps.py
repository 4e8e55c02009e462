from django.apps import AppConfig


class PrimitivesConfig(AppConfig):
    """The reference: technologies that isolate, or that isolation is built of."""

    name = "primitives"
    verbose_name = "Primitives"
