"""What every page of the site may show, whichever view it comes from."""

import datetime
from functools import partial
from typing import Any

from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest

from evidence.models import Claim
from sandboxicon.revision import Revision

NEWEST_CLAIM = "newest-claim"
KEPT_SECONDS = 300


def colophon(request: HttpRequest) -> dict[str, Any]:
    """For the foot of a page. A template that does not ask pays nothing."""
    revision: Revision | None = getattr(request, "revision", None)
    return {
        "newest_claim_date": partial(_newest_claim_date, request, revision),
        # Unknown to a page that is made at no known revision, as a curator's.
        "last_change": revision.moved_at if revision else None,
    }


def newest_claim_date(revision: Revision | None = None) -> datetime.date | None:
    """The newest date as of which a published claim holds; None where there is no claim.

    Asked for once a revision by each worker, or for a page that was made at no known revision (a curator's, or the
    answer to a form) once in five minutes.
    """
    # A database that was restored from a backup counts from there, and so comes by a number again.
    key = f"{NEWEST_CLAIM}-{revision.number}-{revision.moved_at.timestamp()}" if revision else NEWEST_CLAIM
    return cache.get_or_set(key, lambda: Claim.objects.published().newest_date(), KEPT_SECONDS)


def _newest_claim_date(request: HttpRequest, revision: Revision | None) -> datetime.date | None:
    """The same; or None where there is no database: a page that says so much must still stand. But nobody keeps it, or
    a part of it, as what the content at this revision makes.
    """
    try:
        return newest_claim_date(revision)
    except DatabaseError:
        request.content_state = None  # type: ignore[attr-defined]
        return None
