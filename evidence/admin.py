"""Curation of claims and their sources, and how any page of the admin lets the database judge what was typed."""

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pghistory
from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.db import DatabaseError, IntegrityError, connection, models, transaction
from django.db.models import Model, Q, QuerySet
from django.forms.formsets import DELETION_FIELD_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from nested_admin.formsets import NestedInlineFormSet
from nested_admin.nested import NestedModelAdmin, NestedStackedInline

from evidence import rules
from evidence.export import write_csv
from evidence.models import Claim, FormerAddress, Freshness, Source, Withdrawn
from history.events import last_change
from history.reasons import AsksWhy, ReasonMissing
from history.restoring import Version
from history.tracking import is_tracked

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object


class ChangedMeanwhile(Exception):
    """Somebody else has saved what a form is about, since the form was opened."""

    def __init__(self) -> None:
        super().__init__(
            "Somebody else has changed this since you opened it, so nothing was saved. What you typed is below; open "
            "the entry in another tab to see theirs. If you save again, what stands here takes the place of it."
        )


def refusal(error: DatabaseError | ReasonMissing | ChangedMeanwhile) -> str:
    """What the database objects to, in a sentence, or that it is not told why. Raises `error` again where a curator
    could do nothing about it."""
    if isinstance(error, (ReasonMissing, ChangedMeanwhile)):
        return str(error)
    if isinstance(error, IntegrityError):
        return rules.in_words(error)
    diagnosis: Any = getattr(error.__cause__, "diag", None)
    if diagnosis is not None and (diagnosis.sqlstate or "").startswith("40"):
        return "Somebody else was changing the same thing at the same time. Nothing was saved; try again."
    raise error


def judge_now() -> None:
    """Let the database check what it would check at commit. Raises IntegrityError."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


class AsksTheDatabase(AsksWhy):
    """For a ModelAdmin: what the database refuses is a message on the page, with all that was typed still there.

    The rules stand in the database alone, and some of them wait for the commit; so they are asked to speak as soon as
    all is written, before the page says that it was saved. After a refusal the form is built a second time, with the
    refusal as its error.
    """

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        message: str = getattr(request, "refusal", "")
        if not message:
            return form

        class RefusedForm(form):
            def clean(self) -> Any:
                self.add_error(None, message.splitlines())
                return super().clean()

        return RefusedForm

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        # Before it is read: what is saved in between is then newer than what the form says it has seen.
        if request.method == "GET" and object_id.isdecimal() and is_tracked(self.model):
            request.as_opened = last_change(self.model, int(object_id))  # type: ignore[attr-defined]
        return super().get_object(request, object_id, from_field)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        context["as_opened"] = getattr(request, "as_opened", request.POST.get("as-opened", ""))
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change and (seen := request.POST.get("as-opened")):
            # Whoever saves the same at the same time waits here, and then sees what the first one wrote. The update
            # that follows names columns of keys too: a lesser lock would have to be raised, past who waits for it.
            type(obj)._base_manager.select_for_update().get(pk=obj.pk)
            if (now := last_change(self.model, obj.pk)) != seen:
                request.as_opened = now  # type: ignore[attr-defined]
                raise ChangedMeanwhile
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        judge_now()

    def put_back(self, then: Version) -> None:
        with transaction.atomic():
            super().put_back(then)
            judge_now()

    def why_not(self, error: Exception) -> str:
        return refusal(error)  # type: ignore[arg-type]

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        super().delete_model(request, obj)
        judge_now()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        super().delete_queryset(request, queryset)
        judge_now()

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except (DatabaseError, ReasonMissing, ChangedMeanwhile) as error:
            request.refusal = refusal(error)  # type: ignore[attr-defined]
        return super().changeform_view(request, object_id, form_url, extra_context)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        try:
            return super().delete_view(request, object_id, extra_context)
        except (DatabaseError, ReasonMissing) as error:
            self.message_user(request, refusal(error), messages.ERROR)
        return HttpResponseRedirect(
            reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[object_id])
        )

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        try:
            with transaction.atomic():
                return super().response_action(request, queryset, *args, **kwargs)
        except (DatabaseError, ReasonMissing) as error:
            self.message_user(request, refusal(error), messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())


def text_rows(rows: int) -> dict[Any, dict[str, Any]]:
    """The `formfield_overrides` of an admin whose text areas have so many rows, and whose addresses are https."""
    return {
        models.TextField: {"widget": forms.Textarea(attrs={"rows": rows, "class": "vLargeTextField"})},
        models.URLField: {"assume_scheme": "https"},
    }


class KeepsItsSlug(forms.ModelForm):
    """A form whose slug, a public address, can be typed once and never changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields and not self.instance._state.adding:
            self.fields["slug"].disabled = True


class ClaimForm(KeepsItsSlug):
    """A claim, on its own page or among others on its subject's."""

    class Meta:
        model = Claim
        fields: list[str] = []
        widgets = {
            "as_of": forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
            "reasoning": forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField", "placeholder": " "}),
            "looked": forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField", "placeholder": " "}),
        }

    def has_changed(self) -> bool:
        # A new claim of which only a source was filled in is incomplete, not left out.
        return super().has_changed() or (
            self.instance._state.adding and any(nested.has_changed() for nested in getattr(self, "nested_formsets", []))
        )

    @property
    def to_be_seen(self) -> bool:
        """Whether it is shown unfolded among others: when it is new, or something in it was typed or is wrong."""
        forms = [self, *(form for nested in getattr(self, "nested_formsets", []) for form in nested.forms)]
        return self.instance._state.adding or any(form.is_bound and form.has_changed() for form in forms)


class SourceForm(forms.ModelForm):
    """A source, whose kind says which of its fields are to be filled."""

    class Meta:
        model = Source
        fields: list[str] = []
        widgets = {"url": forms.URLInput(attrs={"class": "vURLField"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            # What a style sheet may hide while it is empty needs a placeholder to be told by.
            field.widget.attrs.setdefault("placeholder", " ")


class InlineFormSet(NestedInlineFormSet):
    """Rows on the page of what they belong to. A row that somebody else has deleted meanwhile is shown to be gone."""

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        if not self.is_bound:
            return rows
        # The admin pairs forms with rows by their place, so a row that is gone must leave a gap.
        name = self.model._meta.pk.name
        found = {str(row.pk): row for row in rows}
        sent = [self.data.get(f"{self.add_prefix(place)}-{name}") for place in range(self.initial_form_count())]
        return [found.get(key) or self.model() for key in sent]

    def clean(self) -> None:
        super().clean()
        for form in self.initial_forms:
            if self.model._meta.pk.name in form.errors:
                form.add_error(None, "Somebody else has deleted this since you opened the page.")


class SourceFormSet(InlineFormSet):
    """The sources of a claim, which go with it when it goes."""

    def _should_delete_form(self, form: Any) -> bool:
        claim = getattr(getattr(self, "parent_form", None), "cleaned_data", {})
        return bool(claim.get(DELETION_FIELD_NAME) or super()._should_delete_form(form))


class SourceInline(NestedStackedInline):
    model = Source
    form = SourceForm
    formset = SourceFormSet
    extra = 0
    is_sortable = False
    fieldsets = [
        (None, {"fields": [("kind", "repo", "commit", "path", "lines", "title", "url", "purl", "position")]}),
    ]


class ClaimInline(NestedStackedInline):
    """The claims about a subject, on its page."""

    model = Claim
    form = ClaimForm
    formset = InlineFormSet
    template = "admin/evidence/claim/inline.html"
    extra = 0
    is_sortable = False
    inlines = [SourceInline]
    formfield_overrides = text_rows(2)
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "sentence",
                    ("slug", "aspect", "label", "version", "as_of", "position", "is_published"),
                    "reasoning",
                    "looked",
                ]
            },
        ),
    ]

    def view_on_site(self, claim: Claim) -> str | None:
        """Its place on the site, where a draft has none."""
        return claim.get_absolute_url() if claim.is_public else None


@admin.action(description="Publish", permissions=["change"])
def publish(model_admin: AnyModelAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    """Show what was chosen to the public, or nothing of it where the database refuses any."""
    with pghistory.context(why="Published."):
        number = queryset.filter(is_published=False).update(is_published=True)
        judge_now()
    model_admin.message_user(request, f"Published: {number}.")


@admin.action(description="Make a draft of", permissions=["change"])
def make_draft(model_admin: AnyModelAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    """Take what was chosen from the public, or nothing of it where the database refuses any."""
    with pghistory.context(why="Made a draft again."):
        number = queryset.filter(is_published=True).update(is_published=False)
        judge_now()
    model_admin.message_user(request, f"Drafts now: {number}.")


def badge(kind: str, text: str) -> str:
    """A short mark for a list; `kind` is good, soon or bad."""
    return format_html('<span class="badge badge-{}">{}</span>', kind, text)


class ChosenFilter(admin.SimpleListFilter):
    """A list filter by `options`, which `narrow` knows. An unknown one in the address filters nothing."""

    options: list[tuple[str, str]] = []
    narrow: Callable[[QuerySet[Any], str], QuerySet[Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return self.options

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return type(self).narrow(queryset, value) if value in dict(self.lookup_choices) else queryset


def draft_badge(row: Any) -> list[str]:
    """The mark of a draft, or nothing."""
    return [] if row.is_published else [badge("soon", "draft")]


class FreshnessFilter(ChosenFilter):
    title = "freshness"
    parameter_name = "freshness"
    options = Freshness.choices

    @staticmethod
    def narrow(queryset: Any, value: str) -> QuerySet[Claim]:
        found: QuerySet[Claim] = queryset.with_freshness(value)
        return found


class SubjectTierFilter(ChosenFilter):
    title = "tier of the subject"
    parameter_name = "tier"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tiers: Any = apps.get_model("ladder", "Tier")
        return list(tiers.objects.values_list("slug", "name"))

    @staticmethod
    def narrow(queryset: QuerySet[Claim], value: str) -> QuerySet[Claim]:
        return queryset.filter(Q(tier__slug=value) | Q(primitive__tier__slug=value))


class MovableClaimForm(ClaimForm):
    """A claim on its own page, where it can be moved: to another slug or another subject."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields and self.instance.pk:
            self.fields["slug"].disabled = False
            self.fields["slug"].help_text = "To change it, or the subject, moves the claim: the old address leads on."


class CheckedAgainForm(forms.Form):
    """When claims were found to hold once more, and at which version."""

    as_of = forms.DateField(
        label="As of",
        initial=timezone.localdate,
        widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"),
        help_text="When.",
    )
    version = forms.CharField(
        required=False,
        max_length=200,
        help_text="The version or commit that they were read at, if it is one for all; empty leaves each its own.",
    )
    why = forms.CharField(
        max_length=500,
        initial="Checked again, still true.",
        help_text="Readers see it in the history.",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )

    def __init__(self, data: Any, *, claims: QuerySet[Claim]) -> None:
        super().__init__(data)
        self.claims = claims

    def clean_as_of(self) -> datetime.date:
        as_of: datetime.date = self.cleaned_data["as_of"]
        if as_of > timezone.localdate():
            raise forms.ValidationError("That day has not come yet.")
        if later := self.claims.filter(as_of__gt=as_of).values_list("address", flat=True)[:3]:
            raise forms.ValidationError(f"Known to hold at a later day already: {', '.join(later)}.")
        return as_of


@admin.register(Claim)
class ClaimAdmin(AsksTheDatabase, NestedModelAdmin):
    form = MovableClaimForm
    inlines = [SourceInline]
    list_display = ["slug", "subject", "short_sentence", "label", "as_of", "how_fresh"]
    actions = ["checked_again", publish, make_draft, "export_csv"]
    list_select_related = ["tier", "primitive", "audit__agent", "cell__inner", "cell__outer", "error_text"]
    list_filter = ["is_published", "label", FreshnessFilter, SubjectTierFilter, "aspect", "says_how_to_check"]
    list_per_page = 100
    ordering = ["as_of", "pk"]  # what has waited longest for a check comes first
    search_fields = [
        "slug",
        "sentence",
        "version",
        "primitive__name",
        "tier__name",
        "audit__name",
        "audit__agent__name",
        "cell__inner__name",
        "cell__outer__name",
        "error_text__name",
    ]
    search_help_text = "Looks in slugs, sentences, versions and the names of subjects."
    autocomplete_fields = ["tier", "primitive", "audit", "cell", "error_text"]
    formfield_overrides = text_rows(3)
    fieldsets = [
        ("Subject: exactly one of these", {"fields": [("primitive", "audit", "tier"), ("cell", "error_text")]}),
        (None, {"fields": ["sentence", ("slug", "aspect", "label"), ("version", "as_of", "position"), "is_published"]}),
        ("For the labels inferred and undisclosed", {"fields": ["reasoning", "looked"]}),
        ("For the page of an agent", {"fields": ["says_how_to_check"]}),
    ]

    @admin.action(description="Checked again, still true:", permissions=["change"])
    def checked_again(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        """Ask for the date, the version and a reason, and then note that these claims held then."""
        form = CheckedAgainForm(request.POST if "apply" in request.POST else None, claims=queryset)
        if form.is_valid():
            version = {"version": form.cleaned_data["version"]} if form.cleaned_data["version"] else {}
            number = queryset.order_by().update(as_of=form.cleaned_data["as_of"], **version)
            judge_now()
            self.message_user(request, f"Checked again: {number}.")
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": "Checked again, still true",
            "claims": queryset.order_by("pk"),
            "form": form,
            "opts": self.opts,
        }
        return render(request, "admin/evidence/checked_again.html", context)

    @admin.action(description="Export as CSV:", permissions=["view"])
    def export_csv(self, request: HttpRequest, queryset: Any) -> HttpResponse:
        """A table of these claims, drafts among them, for a spreadsheet."""
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="claims.csv"'
        write_csv(queryset.with_subjects().prefetch_related("sources").order_by("address"), response)
        return response

    @admin.display(description="sentence")
    def short_sentence(self, claim: Claim) -> str:
        return truncatechars(claim.sentence, 160)

    @admin.display(description="freshness", ordering="as_of")
    def how_fresh(self, claim: Claim) -> str:
        kinds = {Freshness.FRESH: "good", Freshness.DUE: "soon", Freshness.STALE: "bad"}
        fresh = badge(kinds[claim.freshness], str(claim.freshness.label))
        return format_html_join(" ", "{}", ((one,) for one in [*draft_badge(claim), fresh]))

    def view_on_site(self, claim: Claim) -> str | None:
        """Its place on the site, where a draft has none."""
        return claim.get_absolute_url() if claim.is_public else None


@admin.register(Withdrawn)
class WithdrawnAdmin(AsksTheDatabase, admin.ModelAdmin):
    """What readers are told of claims that were deleted. A record comes by itself; its reason can be put better."""

    fields = ["address", "sentence", "label", "since", "reason"]
    readonly_fields = ["address", "sentence", "label", "since"]
    list_display = ["address", "since", "reason"]
    search_fields = ["address", "sentence", "reason"]
    formfield_overrides = text_rows(2)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(FormerAddress)
class FormerAddressAdmin(AsksTheDatabase, admin.ModelAdmin):
    """Where claims were before they moved."""

    list_display = ["address", "claim", "since"]
    list_select_related = ["claim"]
    search_fields = ["address", "claim__address"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
