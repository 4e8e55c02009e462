from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sandboxicon.content.files import BadFile
from sandboxicon.content.loading import load


class Command(BaseCommand):
    """Loads fixtures/ into the database: all of it, or nothing and the reasons."""

    help = "Load the content files into the database. What a curator changed since the last load is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--from", dest="folder", type=Path, default=settings.FIXTURES_DIR, help="default: fixtures/"
        )
        parser.add_argument(
            "--overwrite",
            metavar="PATH",
            nargs="+",
            default=[],
            help="take these files even where a curator changed or deleted the entry, as in primitives/runc.yaml",
        )
        parser.add_argument("--overwrite-all", action="store_true", help="take every file, whatever curators did")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = load(options["folder"], options["overwrite"], overwrite_all=options["overwrite_all"])
        except BadFile as error:
            raise CommandError("Nothing was loaded.\n" + "\n".join(error.problems)) from None
        self.stdout.write(f"Content: {report}.")
        for path in report.kept:
            self.stdout.write(f"  kept as a curator left it: {path} (take the file with --overwrite {path})")
        for path in report.without_file:
            self.stdout.write(f"  no file any more, entry kept: {path}")
