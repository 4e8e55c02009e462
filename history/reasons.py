"""Who changes something in the admin, and why: named to the database, and asked for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pghistory
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from history.tracking import is_tracked

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object

LONGEST = 500


def curators_are_named(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: what a form of the admin writes is recorded with who sent it, and their reason.

    Everything else, each page of the public site above all, goes through without a query or a setting.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method != "POST" or not request.path.startswith(reverse("admin:index")):
            return get_response(request)
        with pghistory.context(user=request.user.pk, why=reason(request)):
            return get_response(request)

    return middleware


def reason(request: HttpRequest) -> str:
    """The reason that a curator typed, as it can be stored; "" where there is none."""
    return " ".join(request.POST.get("why", "").replace("\0", "").split())[:LONGEST]


class ReasonMissing(Exception):
    """Something tracked would be changed, and nobody says why. The text says what to do."""

    def __init__(self) -> None:
        super().__init__("Say why, at the end of the form: readers see it in the history. Nothing was saved.")


class AsksWhy(AnyModelAdmin):
    """For a ModelAdmin: raises ReasonMissing where what is tracked would be changed without a reason."""

    change_form_template = "admin/history/change_form.html"
    delete_confirmation_template = "admin/history/delete_confirmation.html"
    delete_selected_confirmation_template = "admin/history/delete_selected.html"

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        may = self.has_change_permission(request, kwargs.get("obj")) if kwargs.get("change") else True
        context |= {"asks_why": may and is_tracked(self.model), "why": reason(request)}
        return super().render_change_form(request, context, *args, **kwargs)

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> Any:
        return super().render_delete_form(request, context | {"asks_why": is_tracked(self.model)})

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change or self.construct_change_message(request, form, formsets, add=False):
            self._needs_a_reason(request)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        self._needs_a_reason(request)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._needs_a_reason(request)
        super().delete_queryset(request, queryset)

    def _needs_a_reason(self, request: HttpRequest) -> None:
        if is_tracked(self.model) and not reason(request):
            raise ReasonMissing
