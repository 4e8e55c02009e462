"""Which PostgreSQL the site talks to: the one that DATABASE_URL names, or else the embedded one."""

import atexit
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import dj_database_url
import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from sandboxicon import embedded

OLDEST = 14

# While the server is away nobody waits long, and the pool gives up soon, to begin anew with the next reader: else it
# would try at ever longer intervals, and a server that came back would be noticed as late as it had been away.
POOL = {"min_size": 1, "timeout": 2, "reconnect_timeout": 2}

# The options of an address that Django reads itself, with their types; all others are text for libpq.
_DJANGO_OPTIONS = ("isolation_level", "prepare_threshold", "server_side_binding")


class DatabaseUnavailable(Exception):
    """The site can't use its database. The text is one line for a reader, without a password."""


def configuration(url: str, pool_size: int) -> dict[str, Any]:
    """Django's settings for the database at `url`, or for the embedded one when it is empty; each process has a pool.

    Raises ImproperlyConfigured, with no part of `url` in the text: any part may be of a password.
    """
    found = _parse(url) if url else _embedded()
    return {
        **found,
        # Django has no persistent connections beside a pool. The check of a connection that leaves the pool lets the
        # site live through a restart of the server.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**found["OPTIONS"], "pool": {**POOL, "max_size": max(pool_size, 1)}},
    }


def prepare() -> None:
    """Make the database of the settings usable: start the embedded server, or see that the other answers.

    Call it before the first query, in each process that is not forked from one that did. Raises DatabaseUnavailable.
    """
    settings = connections.settings["default"]
    if settings["HOST"] == str(embedded.socket_folder()):
        try:
            embedded.start()
        except embedded.EmbeddedServerError as error:
            raise DatabaseUnavailable(str(error)) from error
    check()
    # Before the embedded server stops (what was registered last runs first): a pool reports each connection it loses.
    atexit.register(_close_pools)


def check() -> None:
    """See, within seconds and without the pool, that the server answers and is new enough; or DatabaseUnavailable."""
    parameters = connections["default"].get_connection_params()
    host, name = parameters.get("host", "the default socket"), parameters.get("dbname", "")
    place = f'Database "{name}" on {host}' + (f", port {parameters['port']}" if "port" in parameters else "")
    try:
        with connect() as connection:
            problem = version_problem(connection.info.server_version)
    except psycopg.Error as error:
        problem = f"cannot be used: {_without_secrets(str(error), parameters)}"
    if problem:
        raise DatabaseUnavailable(f"{place} {problem}. DATABASE_URL says which server the site uses.")


def connect(alias: str = "default") -> "psycopg.Connection[Any]":
    """A connection of one's own, beside Django's and its pool: each statement commits at once. Tried for a few seconds
    at most. Raises psycopg.Error.
    """
    # Django's choice is to prepare nothing; a statement that asks for it is prepared here.
    parameters = {**connections[alias].get_connection_params(), "prepare_threshold": 5}
    parameters.setdefault("connect_timeout", 3)
    return psycopg.connect(**parameters, autocommit=True)


def address(settings: Mapping[str, Any], name: str = "") -> str:
    """What DATABASE_URL would say of a database of Django's settings, or of another one, `name`, on its server."""
    parts = {part: str(settings[part.upper()] or "") for part in ("host", "port", "user", "password")}
    query = urlencode({part: value for part, value in parts.items() if value})
    return f"postgres:///{quote(name or settings['NAME'])}?{query}"


def version_problem(server_version: int) -> str:
    """What is wrong with a server of this version (as libpq gives it: 140005 for 14.5); empty when nothing is."""
    major = server_version // 10000
    return f"runs PostgreSQL {major}, and the site needs {OLDEST} or newer" if major < OLDEST else ""


def _embedded() -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": embedded.NAME,
        "USER": embedded.USER,
        "PASSWORD": "",
        "HOST": str(embedded.socket_folder()),
        "PORT": str(embedded.PORT),
        "OPTIONS": {},
    }


def _parse(url: str) -> dict[str, Any]:
    form = "DATABASE_URL should read postgres://user:password@host:port/database"
    try:
        parts = urlsplit(url)
        parsed: dict[str, Any] = {**dj_database_url.parse(url)}
    except ValueError:
        raise ImproperlyConfigured(
            f"{form}; it does not parse. Percent-encode special characters in the password (@ as %40)."
        ) from None
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(f"{form}; the site runs on PostgreSQL alone.")
    if "@" in parts.path + parts.query or parts.fragment:
        # A / ? or # in a password cuts the address there: the rest would pass for a database, and be shown as one.
        raise ImproperlyConfigured(f"{form}; percent-encode special characters in the password (/ as %2F, # as %23).")
    options: dict[str, Any] = parsed.get("OPTIONS", {})
    for name, value in parse_qsl(parts.query):
        # The parser turns what looks like a number or a truth into one, and 007 is a possible password.
        if name in options and name not in _DJANGO_OPTIONS:
            options[name] = value
    for setting, option in (("NAME", "dbname"), ("USER", "user"), ("PASSWORD", "password"), ("PORT", "port")):
        parsed[setting] = str(parsed[setting] or "") or options.get(option, "")
        options.pop(option, None)
    # libpq's own way to write a socket's folder is ?host=/folder.
    parsed["HOST"] = options.pop("host", "") or parsed["HOST"]
    if not parsed["NAME"] and "service" not in options:
        raise ImproperlyConfigured(f"{form}; it names no database.")
    return {**parsed, "OPTIONS": options}


def _without_secrets(text: str, parameters: dict[str, Any]) -> str:
    """libpq's reason on one line. It does not name passwords today; this keeps it so for options that it quotes."""
    line = " ".join(text.split()).removeprefix("connection failed: ").rstrip(".?")
    shown = {str(parameters.get(name, "")) for name in ("host", "port", "dbname", "user")}
    for name in ("password", "sslpassword"):
        secret = str(parameters.get(name, ""))
        if secret and secret not in shown:
            line = line.replace(secret, "***")
    return line


def _close_pools() -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]
