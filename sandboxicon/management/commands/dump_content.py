from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from sandboxicon.content import files
from sandboxicon.content.entries import KINDS
from sandboxicon.content.loading import database_files


class Command(BaseCommand):
    """Writes the database's content back to fixtures/, so that curators' work can be committed."""

    help = "Write the content of the database to the content files; a file whose entry is gone is removed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", dest="folder", type=Path, default=settings.FIXTURES_DIR, help="default: fixtures/")

    def handle(self, *args: Any, **options: Any) -> None:
        content = database_files()
        written, removed = files.write(options["folder"], content, KINDS)
        self.stdout.write(f"Content: {len(content)} entries, {len(written)} files written, {len(removed)} removed.")
