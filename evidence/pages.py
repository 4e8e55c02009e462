"""How a filtered list answers: as a page, or, when htmx asks, as the parts of it that a changed filter changes."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template import loader
from django.utils.safestring import SafeString, mark_safe
from django_htmx.http import reswap, retarget
from django_htmx.middleware import HtmxDetails

from evidence.comparison import MOST
from evidence.filters import FacetedFilterSet
from evidence.kept import KeptByRevision, kept_page

PER_PAGE = 60

# Of one to three kilobytes each.
_ROWS = KeptByRevision(5_000)


@dataclass(frozen=True)
class Picked:
    """What is picked to compare: whether a row shown has its box, and the query of this page without it."""

    entry: Any
    is_shown: bool
    query_without: str


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware leaves it."""

    htmx: HtmxDetails


class CappedPaginator(Paginator):
    """Pages of what a filterset finds: of no more rows than it counts."""

    def __init__(self, rows: Any, per_page: int, filterset: FacetedFilterSet) -> None:
        super().__init__(rows, per_page)
        self.filterset = filterset

    @cached_property
    def has_more(self) -> bool:
        """Whether there are rows beyond the last page."""
        return self._number > self.filterset.most

    @cached_property
    def _number(self) -> int:
        return self.filterset.number_of(self.object_list)

    @cached_property
    def count(self) -> int:
        return min(self._number, self.filterset.most)


def filtered_list(
    request: HtmxRequest,
    filterset: FacetedFilterSet,
    *,
    template: str,
    partial: str,
    row: str = "",
    more: Callable[[Page[Any]], dict[str, Any]] = lambda page: {},
    pick: Callable[[Any], int] = lambda key: key,
) -> HttpResponse:
    """The list of what `filterset` finds. `more` gives what else the templates need for the page shown, `pick` what
    a row picks for the comparison, by its key.

    In `template` all that depends on more than the order, the page's number and what was searched stands in live parts.
    `row` is the template of one row, for a list whose rows depend on nothing but themselves and whether they are
    picked. Then the page gets them as HTML (`rows`), and only what is not kept of that is made.

    The view must vary on HX-Request, HX-Current-URL and HX-Trigger. With htmx the answer carries the one address of
    what is in force.
    """
    paginator = CappedPaginator(filterset.keys() if row else filterset.found(), PER_PAGE, filterset)
    page_before = _page_where_only_picks_differ(request, filterset)
    try:
        page = paginator.page(page_before or request.GET.get("page", 1))
    except PageNotAnInteger:
        page = paginator.page(1)
    except EmptyPage:
        reason = f"The list of what was asked for ends with page {paginator.num_pages}."
        return render(request, "404.html", {"reason": reason}, status=404)
    here: dict[str, Any] = {"page": str(page.number)} if page.number > 1 else {}
    bare_query = filterset.query()
    query = filterset.query(**here) if here else bare_query
    slugs = filterset.picks.slugs
    shown = {pick(each) for each in page.object_list} if slugs else set()
    context = {
        "filterset": filterset,
        "chosen": filterset.chosen,
        "page": page,
        "paginator": paginator,
        "bare_query": bare_query,
        "picked": [
            Picked(entry, entry.pk in shown, filterset.query(picked=[it for it in slugs if it != entry.slug], **here))
            for entry in filterset.picks.entries
        ],
        "query_without_picks": filterset.query(picked=[], **here) if slugs else query,
        "most": MOST,
        # Whether a part is one that htmx swaps in, which a template says of another. To look for what is not there
        # takes a template longer than all that it does with it.
        "swap": False,
    }
    if page_before:
        response = render(request, "evidence/_only_picks.html", context)
        response["HX-Push-Url"] = f"{request.path}?{query}" if query else request.path
        return retarget(reswap(response, "outerHTML"), "#picks")
    context |= {
        "facets": filterset.facets(),
        "narrowest": None if page.object_list else filterset.narrowest(),
        **({"rows": _as_html(request, filterset, page, row)} if row else {}),
        **more(page),
    }
    # What the page around its live parts depends on.
    around = (
        *(request.scheme, request.get_host(), page.number),
        *(filterset.sort, bool(filterset.chosen), filterset.chosen.get("q")),
    )
    return page_or_parts(request, context, query, template=template, partial=partial, around=around)


def _as_html(request: HttpRequest, filterset: FacetedFilterSet, page: Page[Any], template: str) -> SafeString:
    """The page's rows as their template shows them; the database is asked for those that are not kept."""
    picked = {entry.pk for entry in filterset.picks.entries}

    def rows(keys: list[Any]) -> dict[Any, Any]:
        return {(row.pk, row.pk in picked): row for row in filterset.for_rows().filter(pk__in=[pk for pk, _ in keys])}

    return rows_as_html(request, filterset, template, [(pk, pk in picked) for pk in page.object_list], rows)


def rows_as_html(
    request: HttpRequest,
    filterset: FacetedFilterSet,
    template: str,
    keys: list[Hashable],
    rows: Callable[[list[Any]], Mapping[Any, Any]],
) -> SafeString:
    """Rows as their template shows them, each kept under its key, which says all that it depends on beside the content.

    `rows` gives those that are not kept, by key; one that it does not give is left out.
    """
    kept = _ROWS.at(request)
    if missing := [key for key in keys if (template, key) not in kept]:
        shown = loader.get_template(template)
        for key, row in rows(missing).items():
            kept[template, key] = shown.render({"row": row, "filterset": filterset})
    return mark_safe("".join(kept[template, key] for key in keys if (template, key) in kept))  # noqa: S308 (templates)


def page_or_parts(
    request: HtmxRequest, context: dict[str, Any], query: str, *, template: str, partial: str, around: Hashable = None
) -> HttpResponse:
    """The page, or with htmx the parts of it that change, with the address that `query` makes of what is in force.

    `around` is what the page depends on but for its live parts, where it is kept without them.
    """
    if not request.htmx or request.htmx.history_restore_request:
        if around is None:
            return render(request, template, context)
        return HttpResponse(kept_page(request, template, context, around))
    response = render(request, partial, context)
    address = f"{request.path}?{query}" if query else request.path
    response["HX-Replace-Url" if _is_same_step(request, query) else "HX-Push-Url"] = address
    return response


def _page_where_only_picks_differ(request: HtmxRequest, filterset: FacetedFilterSet) -> str:
    """Where the form asks for what is shown already, with other picks: the page shown. Then the list stays as it is.

    Else "", also where it cannot be told: a whole answer is never wrong.
    """
    if not request.htmx or request.htmx.trigger != "filters":
        return ""
    path, before = _page_before(request)
    picked, pages = before.pop(filterset.PICK, []), before.pop("page", [])
    if path != request.path or sorted(picked) == filterset.picks.slugs:
        return ""
    return (pages or ["1"])[-1] if before == QueryDict(filterset.query(picked=[])) else ""


def _page_before(request: HtmxRequest) -> tuple[str, QueryDict]:
    """The path and the query of the page that htmx says the reader is on; of none where it says what is no address."""
    try:
        address = urlsplit(request.htmx.current_url or "")
    except ValueError:
        address = urlsplit("")
    return str(address.path), QueryDict(str(address.query), mutable=True)


def _is_same_step(request: HtmxRequest, query: str) -> bool:
    """Whether the reader would call the new address the same step as the present one: a search typed further."""
    _, before = _page_before(request)
    after = QueryDict(query, mutable=True)
    searches = before.pop("q", None), after.pop("q", None)
    return before == after and (searches[0] == searches[1] or all(searches))
