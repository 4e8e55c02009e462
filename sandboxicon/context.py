"""What every page of the site may show, whichever view it comes from."""

import datetime
from typing import Any

from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest

from evidence.models import Claim

NEWEST_CLAIM = "newest-claim"
KEPT_SECONDS = 300


def colophon(request: HttpRequest) -> dict[str, Any]:
    """For the foot of a page. A template that does not ask pays nothing."""
    return {"newest_claim_date": newest_claim_date}


def newest_claim_date() -> datetime.date | None:
    """The newest date as of which a published claim holds, asked for once in five minutes by each worker.

    None where there is no claim, or no database: a page that says so much must still stand.
    """
    try:
        return cache.get_or_set(NEWEST_CLAIM, Claim.objects.published().newest_date, KEPT_SECONDS)
    except DatabaseError:
        return None
