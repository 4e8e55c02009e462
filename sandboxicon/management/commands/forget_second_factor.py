from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django_otp import devices_for_user


class Command(BaseCommand):
    """For a curator who has lost their phone and their recovery codes: they set both up anew at the next login."""

    help = "Forget a curator's authenticator and recovery codes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no curator {options['username']}.")
        devices = list(devices_for_user(user, confirmed=None))
        for device in devices:
            device.delete()
        # A session that the lost phone opened names a device that is gone, so it opens nothing any more.
        self.stdout.write(f"{user.username}: {len(devices)} forgotten.")
