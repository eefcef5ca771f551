"""The app's start."""

from django.apps import AppConfig


class MrtrWebConfig(AppConfig):
    name = "mrtr_web"
    verbose_name = "mrtr_web"

    def ready(self) -> None:
        from mrtr_web import checks, linked, sessions  # noqa: F401  registers checks and signals
