"""Curation of the reference: entries with all that belongs to them on one page, and a list that says what is wrong."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.contrib.postgres.forms import SimpleArrayField
from django.db.models import Count, Exists, IntegerField, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Lower
from django.http import HttpRequest
from django.utils.html import format_html_join
from nested_admin.nested import NestedModelAdmin, NestedStackedInline, NestedTabularInline

from evidence.admin import (
    AsksTheDatabase,
    ChosenFilter,
    ClaimInline,
    InlineFormSet,
    KeepsItsSlug,
    badge,
    draft_badge,
    make_draft,
    publish,
    text_rows,
)
from evidence.models import Aspect, Claim, Freshness, Label
from primitives.models import Break, BuildsOn, Category, Isolates, Platform, Primitive, SupportedPlatform

FAULTS = {
    "draft": "draft",
    "no_claims": "no claims",
    "no_boundary": "no claim about the boundary",
    "no_platform": "no platform",
    "stale": "stale claims",
    "due": "claims due for a check",
}


class NamesField(SimpleArrayField):
    """Names, one a line: a name may hold a comma, where Django's own field would cut it in two."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"})

    def __init__(self, base_field: forms.Field, **kwargs: Any) -> None:
        super().__init__(base_field, **{**kwargs, "delimiter": "\n"})

    def to_python(self, value: Any) -> Any:
        lines = value.splitlines() if isinstance(value, str) else value or []
        return super().to_python([line.strip() for line in lines if line.strip()])


class PrimitiveForm(KeepsItsSlug):
    aliases = NamesField(
        forms.CharField(max_length=100),
        required=False,
        help_text="Other names that people search for, one a line: command names, abbreviations.",
    )
    isolates = forms.MultipleChoiceField(
        choices=Isolates.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="What it does keep apart. What is not ticked here it does not isolate.",
    )

    class Meta:
        model = Primitive
        fields: list[str] = []

    def clean_isolates(self) -> list[str]:
        return [thing for thing in Isolates.values if thing in self.cleaned_data["isolates"]]


class BreakInline(NestedStackedInline):
    model = Break
    formset = InlineFormSet
    extra = 0
    is_sortable = False
    formfield_overrides = text_rows(2)
    fieldsets = [(None, {"fields": [("identifier", "nickname", "year", "fixed_in"), "summary", "url"]})]


class PlatformInline(NestedTabularInline):
    model = SupportedPlatform
    verbose_name = "platform"
    verbose_name_plural = "platforms"
    formset = InlineFormSet
    extra = 0
    is_sortable = False


class PartInline(NestedTabularInline):
    model = BuildsOn
    fk_name = "primitive"
    verbose_name = "part"
    verbose_name_plural = "built on"
    autocomplete_fields = ["part"]
    formset = InlineFormSet
    extra = 0
    is_sortable = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[BuildsOn]:
        found: QuerySet[BuildsOn] = super().get_queryset(request)
        return found.select_related("primitive", "part")


def number(claims: QuerySet[Claim]) -> Coalesce:
    """How many of `claims` are about the primitive at hand."""
    counted = claims.filter(primitive=OuterRef("pk")).order_by().values("primitive").annotate(n=Count("pk"))
    return Coalesce(Subquery(counted.values("n")), 0, output_field=IntegerField())


def with_faults(primitives: QuerySet[Primitive]) -> QuerySet[Primitive]:
    """With the numbers that FAULTS are told by, counted by the database."""
    about_it = Claim.objects.filter(primitive=OuterRef("pk")).order_by()
    return primitives.annotate(
        all_claims=number(Claim.objects.all()),
        newest=Subquery(about_it.values("primitive").annotate(day=Max("as_of")).values("day")),
        no_boundary=~Exists(about_it.filter(aspect=Aspect.BOUNDARY)),
        no_platform=~Exists(SupportedPlatform.objects.filter(primitive=OuterRef("pk"))),
        stale=number(Claim.objects.with_freshness(Freshness.STALE)),
        due=number(Claim.objects.with_freshness(Freshness.DUE)),
    )


class LabelFilter(ChosenFilter):
    title = "label of a claim"
    parameter_name = "label"
    options = Label.choices

    @staticmethod
    def narrow(queryset: Any, value: str) -> QuerySet[Primitive]:
        claims = Claim.objects.filter(primitive=OuterRef("pk"), label=value)  # those in draft too
        found: QuerySet[Primitive] = queryset.filter(Exists(claims))
        return found


class ClaimFreshnessFilter(ChosenFilter):
    title = "freshness of a claim"
    parameter_name = "freshness"
    options = Freshness.choices

    @staticmethod
    def narrow(queryset: QuerySet[Primitive], value: str) -> QuerySet[Primitive]:
        return queryset.filter(Exists(Claim.objects.with_freshness(value).filter(primitive=OuterRef("pk"))))


class FaultFilter(ChosenFilter):
    title = "what is wrong"
    parameter_name = "fault"
    options = list(FAULTS.items())

    @staticmethod
    def narrow(queryset: QuerySet[Primitive], value: str) -> QuerySet[Primitive]:
        conditions: dict[str, dict[str, Any]] = {
            "draft": {"is_published": False},
            "no_claims": {"all_claims": 0},
            "no_boundary": {"no_boundary": True},
            "no_platform": {"no_platform": True},
            "stale": {"stale__gt": 0},
            "due": {"due__gt": 0},
        }
        return queryset.filter(**conditions[value])


class PrimitiveList(ChangeList):
    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        found = super().get_queryset(request, exclude_parameters)
        return found.defer("search_vector", "search_keys", "search_names")


@admin.register(Primitive)
class PrimitiveAdmin(AsksTheDatabase, NestedModelAdmin):
    form = PrimitiveForm
    inlines = [PlatformInline, PartInline, ClaimInline, BreakInline]
    actions = [publish, make_draft]
    list_display = ["name", "what_is_wrong", "number_of_claims", "newest_claim", "tier", "category", "status"]
    list_select_related = ["tier", "category"]
    list_filter = ["tier", "category", "status", "platforms", LabelFilter, ClaimFreshnessFilter, FaultFilter]
    list_per_page = 100
    ordering = [Lower("name")]
    search_fields = ["name"]  # the box is there if this is set; get_search_results does the searching
    search_help_text = "Searches as the site does: names, aliases, summaries, claims and breaks, spelt nearly right."
    save_on_top = True
    formfield_overrides = text_rows(2)
    fieldsets = [
        (None, {"fields": [("name", "slug"), "summary", ("tier", "category", "status"), "isolates", "is_published"]}),
        (
            "More",
            {
                "classes": ["collapse"],
                "fields": [
                    "aliases",
                    ("license", "written_in", "first_release", "maintainer"),
                    "homepage",
                    "repo",
                    "docs",
                ],
            },
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Primitive]:
        return with_faults(super().get_queryset(request))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return PrimitiveList

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if not search_term.strip():
            return queryset, False
        found = queryset.search(search_term)
        return found if ORDER_VAR in request.GET else found.best_first(), False

    def view_on_site(self, primitive: Primitive) -> str | None:
        """Its page, which a draft does not have."""
        return primitive.get_absolute_url() if primitive.is_published else None

    @admin.display(description="claims", ordering="all_claims")
    def number_of_claims(self, primitive: Any) -> int:
        return int(primitive.all_claims)

    @admin.display(description="newest claim", ordering="newest", empty_value="never")
    def newest_claim(self, primitive: Any) -> Any:
        return primitive.newest

    @admin.display(description="what is wrong")
    def what_is_wrong(self, primitive: Any) -> str:
        badges = draft_badge(primitive)
        if not primitive.all_claims:
            badges.append(badge("bad", "no claims"))
        elif primitive.no_boundary:
            badges.append(badge("bad", "no claim about the boundary"))
        if primitive.no_platform:
            badges.append(badge("bad", "no platform"))
        if primitive.stale:
            badges.append(badge("bad", f"{primitive.stale} stale"))
        if primitive.due:
            badges.append(badge("soon", f"{primitive.due} due for a check"))
        return format_html_join(" ", "{}", ((one,) for one in badges)) or badge("good", "in order")


@admin.register(Category)
class CategoryAdmin(AsksTheDatabase, admin.ModelAdmin):
    form = KeepsItsSlug
    fields = ["name", "slug", "summary"]
    list_display = ["name", "slug", "summary"]
    search_fields = ["name", "slug"]


@admin.register(Platform)
class PlatformAdmin(AsksTheDatabase, admin.ModelAdmin):
    form = KeepsItsSlug
    fields = ["name", "slug", "summary", "position"]
    list_display = ["name", "slug", "position", "summary"]
    search_fields = ["name", "slug"]
