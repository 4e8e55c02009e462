from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from sandboxicon.backup import BackupError, backup


class Command(BaseCommand):
    """What `make backup` does: content, history and curators into one file that only its owner may read."""

    help = "Write the whole database to a file, in pg_dump's custom format."

    def add_arguments(self, parser: CommandParser) -> None:
        default = settings.BASE_DIR / ".data" / "backups" / f"{timezone.now():%Y%m%dT%H%M%SZ}.dump"
        parser.add_argument("file", type=Path, nargs="?", default=default, help="default: .data/backups/<now>.dump")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{options['file']}: {options['file'].stat().st_size:,} bytes.")
