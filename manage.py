#!/usr/bin/env python
"""Django's command line for sandboxicon. It brings the database up for the commands that need one."""

import os
import sys

WITHOUT_SETTINGS = {"help", "version", "startproject"}
# `makemigrations` is not among them: it compares with what is applied.
WITHOUT_DATABASE = {"check", "collectstatic", "diffsettings", "findstatic", "startapp"}
# What `make` runs for a newcomer, who has no SECRET_KEY yet: they get one that is kept in the checkout. All else
# refuses to start without, as settings.py has it.
WITH_OWN_KEY = {"serve", "create_curator", "backup", "restore"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandboxicon.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command in WITHOUT_SETTINGS or not {"-h", "--help", "--version"}.isdisjoint(sys.argv):
        return execute_from_command_line(sys.argv)
    if command in WITH_OWN_KEY:
        from sandboxicon import secret_key

        secret_key.provide()
    try:
        settings.DATABASES  # noqa: B018 (reads the settings)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    if command not in WITHOUT_DATABASE:
        from sandboxicon import database

        try:
            database.prepare()
        except database.DatabaseUnavailable as error:
            sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
