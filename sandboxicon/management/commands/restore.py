from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from sandboxicon.backup import BackupError, restore


class Command(BaseCommand):
    """What `make restore FILE=...` does. End the site before: what it writes meanwhile would be lost."""

    help = "Bring the database to what a backup holds, and on to this version's migrations."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="give up what the database holds now")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            restore(options["file"], replace=options["replace"])
        except BackupError as error:
            raise CommandError(str(error)) from None
        connections.close_all()  # what they know of the tables is of before
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write(f"The database is as {options['file']} has it.")
