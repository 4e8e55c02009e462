"""What the site writes to its log: a line of JSON for each event, with the number of the request that it belongs to.

No line holds whose request it was: no address, no name, no cookie, no browser, and of an address only the path, since
what stands after the question mark is what somebody looked for. The trail of logins is in the database (README.md).
"""

import json
import logging
import re
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

log = logging.getLogger("sandboxicon.request")
_id: ContextVar[str] = ContextVar("request id", default="")

FIELDS = ("method", "path", "route", "status", "milliseconds")


class Numbered:
    """Middleware, the outermost: gives each request a number, which the answer names too.

    A proxy of ours may have given it one already; what any other client says is not taken.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        given = request.META.get("HTTP_X_REQUEST_ID", "") if settings.PROXIES else ""
        number = given if re.fullmatch(r"[A-Za-z0-9-]{8,64}", given) else secrets.token_hex(16)
        # Not reset at the end: Django itself reports an error after all middleware, and the next request sets it anew.
        _id.set(number)
        response = self.get_response(request)
        response["X-Request-ID"] = number
        if settings.LOG_REQUESTS:
            found = request.resolver_match
            log.info(
                "answered",
                extra={
                    "method": request.method,
                    "path": request.path[:500],
                    "route": found.view_name if found else "",
                    "status": response.status_code,
                    "milliseconds": round((time.perf_counter() - begun) * 1000, 1),
                },
            )
        return response


class JsonFormatter(logging.Formatter):
    """An event as one line of JSON, whatever is in it."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if number := _id.get():
            event["request_id"] = number
        event |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps(event, default=str)
