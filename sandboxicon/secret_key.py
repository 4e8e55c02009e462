"""A SECRET_KEY for whoever tries the site on their own machine. A real deployment sets its own."""

import os
import secrets

from sandboxicon import embedded

FILE = embedded.DATA.with_name("secret_key")


def provide() -> None:
    """Put a key into the environment if there is none: the one kept beside the database, or a new one."""
    if os.environ.get("SECRET_KEY"):
        return
    FILE.parent.mkdir(parents=True, exist_ok=True)
    if not FILE.exists():
        # Written beside and then linked into place: two starts at once end with the same whole key.
        new = FILE.with_name(f"secret_key.{os.getpid()}")
        new.touch(mode=0o600)
        new.write_text(secrets.token_urlsafe(50))
        try:
            os.link(new, FILE)
        except FileExistsError:
            pass
        new.unlink()
    os.environ["SECRET_KEY"] = FILE.read_text().strip()
