"""Who changes something in the admin, and why: named to the database, and asked for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pghistory
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from history.events import history_of
from history.pages import page_asked
from history.reading import read
from history.restoring import Version, difference, present, restore, version
from history.tracking import event_model, is_tracked, tracked_models, tracking_of

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

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_restore"
        address = "<path:object_id>/history/<str:model>/<int:event>/"
        return [path(address, self.admin_site.admin_view(self.restore_view), name=name), *super().get_urls()]

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Every change of a row and of what belongs to it: who, when, why, and a way back to each version."""
        row = self.get_object(request, unquote(object_id))
        if row is None or not is_tracked(self.model):
            return super().history_view(request, object_id, extra_context)
        if not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        history = read(history_of(row), page_asked(request), public=False, with_first=True, tell_first=True)
        users = get_user_model()._default_manager.in_bulk({change.user for change in history.changes if change.user})
        context = {
            **self.admin_site.each_context(request),
            "title": f"History: {row}",
            "opts": self.opts,
            "object": row,
            "history": history,
            "changes": [(change, users.get(change.user)) for change in history.changes],
            "restore": f"admin:{self.opts.app_label}_{self.opts.model_name}_restore",
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "admin/history/object_history.html", context)

    def restore_view(self, request: HttpRequest, object_id: str, model: str, event: int) -> HttpResponse:
        """An earlier version beside the present one; with a reason it is put back."""
        row = self.get_object(request, unquote(object_id))
        found = next((each for each in tracked_models() if each._meta.label_lower == model), None)
        then = version(found, event) if found and not tracking_of(found).is_part else None
        if row is None or then is None:
            raise Http404
        # A version of something else is not found here, so that whoever may see this row sees no other.
        if not any(arm is then.model and _has(arm, where, event) for arm, where in history_of(row)):
            raise Http404
        label, name = then.model._meta.app_label, then.model._meta.model_name
        gone = present(then.model, then.pk) is None
        if not request.user.has_perm(f"{label}.{'add' if gone else 'change'}_{name}"):
            raise PermissionDenied
        if request.method == "POST":
            try:
                self._needs_a_reason(request)
                self.put_back(then)
                self.message_user(request, "The version is in force again.")
                return HttpResponseRedirect(
                    reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_history", args=[object_id])
                )
            except (DatabaseError, ReasonMissing) as error:
                self.message_user(request, self.why_not(error), messages.ERROR)
        context = {
            **self.admin_site.each_context(request),
            "title": "Put an earlier version back",
            "opts": self.opts,
            "object": row,
            "then": then,
            "thing": difference(then),
            "why": reason(request),
        }
        return TemplateResponse(request, "admin/history/restore.html", context)

    def put_back(self, then: Version) -> None:
        """Write the version."""
        restore(then)

    def why_not(self, error: Exception) -> str:
        """What stands against it, in words."""
        if isinstance(error, ReasonMissing):
            return str(error)
        raise error

    def _needs_a_reason(self, request: HttpRequest) -> None:
        if is_tracked(self.model) and not reason(request):
            raise ReasonMissing


def _has(model: type[Model], where: Any, event: int) -> bool:
    return bool(event_model(model).objects.filter(where, pgh_id=event).exists())
