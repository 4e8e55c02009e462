"""The test database is made as a copy of one in which every migration was applied already: that takes longer than
hundreds of tests. It stays on the server, beside the database that DATABASE_URL names, until a migration changes.
"""

import hashlib
from pathlib import Path

import django
import psycopg
from django.apps import apps
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.servers import database_url, manage


def use() -> None:
    """Let the test database be such a copy; of several processes one makes what is copied, and the others wait."""
    settings = connection.settings_dict
    family = f"{settings['NAME']}_migrated_"
    name = family + _digest()[:12]
    server = {key: str(settings[key.upper()]) for key in ("host", "port", "user", "password") if settings[key.upper()]}
    with psycopg.connect(make_conninfo(**server, dbname="postgres"), autocommit=True) as admin:
        admin.execute("SELECT pg_advisory_lock(hashtext(%s))", [family])
        there = [
            row[0] for row in admin.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{family}%"])
        ]
        if name not in there:
            for old in there:
                admin.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(old)))
            # It has its name when it is complete, and not before.
            half = sql.Identifier(f"{family}half")
            admin.execute(sql.SQL("CREATE DATABASE {}").format(half))
            manage("migrate", "--verbosity=0", DATABASE_URL=database_url(f"{family}half"))
            admin.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(half, sql.Identifier(name)))
    settings["TEST"]["TEMPLATE"] = name


def _digest() -> str:
    """What all migrations come to, Django's and those of other packages among them."""
    digest = hashlib.sha256(django.__version__.encode())
    for app in sorted(apps.get_app_configs(), key=lambda app: app.label):
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label}/{path.name}".encode() + path.read_bytes())
    return digest.hexdigest()
