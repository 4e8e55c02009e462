"""How a history answers: as a page, or when htmx asks as the part that a page puts in its place."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from history.events import history_of
from history.reading import MOST_PAGES, read


def page_asked(request: HttpRequest) -> int:
    """The number of the page that was asked for, within what there can be; 1 where it is none."""
    asked = request.GET.get("page", "1")
    return min(max(int(asked), 1), MOST_PAGES) if asked.isascii() and asked.isdecimal() and len(asked) < 6 else 1


def history_page(request: HttpRequest, row: Model, context: dict[str, Any]) -> HttpResponse:
    """The history of a row that has a page. `context` has its `name`, where it is (`above`, a name and an address)
    and the address of its `feed`, if it has one.

    The view must vary on HX-Request.
    """
    history = read(history_of(row), page_asked(request), with_first=True)
    if history.number > 1 and not history.changes:
        return render(request, "404.html", {"reason": "Its history does not go back that far."}, status=404)
    htmx: Any = getattr(request, "htmx", None)
    is_part = htmx and not htmx.history_restore_request
    template = "history/_section.html" if is_part else "history/history.html"
    return render(request, template, {"row": row, "history": history, **context})
