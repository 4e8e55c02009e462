"""Curation of nesting: environments, sandboxes, what runs where, and error texts."""

from typing import Any

from django import forms
from django.contrib import admin
from nested_admin.nested import NestedModelAdmin, NestedStackedInline, NestedTabularInline

from evidence.admin import AsksTheDatabase, ClaimInline, InlineFormSet, KeepsItsSlug, text_rows
from nesting.models import Cell, Environment, ErrorText, Fix, Inner, InnerPrimitive
from primitives.admin import NamesField


class TextsField(NamesField):
    """Texts with a blank line between two, since one may have several lines."""

    def to_python(self, value: Any) -> Any:
        texts = value.replace("\r\n", "\n").split("\n\n") if isinstance(value, str) else value or []
        return [text.strip() for text in texts if text.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n\n".join(value) if isinstance(value, list) else value


class CellForm(forms.ModelForm):
    error_lines = TextsField(
        forms.CharField(),
        required=False,
        help_text="The exact lines, the commonest first; a blank line between two errors.",
    )

    class Meta:
        model = Cell
        fields: list[str] = []


class ErrorTextForm(KeepsItsSlug):
    causes = NamesField(forms.CharField(), required=False, help_text="One a line, the likeliest first.")
    checks = NamesField(
        forms.CharField(),
        required=False,
        help_text="Commands, one a line; two spaces and brackets after one say what to look for.",
    )

    class Meta:
        model = ErrorText
        fields: list[str] = []


class FixInline(NestedStackedInline):
    model = Fix
    formset = InlineFormSet
    extra = 0
    is_sortable = False
    formfield_overrides = text_rows(2)
    fieldsets = [(None, {"fields": ["do", "cost", ("last_resort", "position")]})]


@admin.register(Environment)
class EnvironmentAdmin(AsksTheDatabase, admin.ModelAdmin):
    form = KeepsItsSlug
    fields = ["name", "slug", "place", "summary", "position"]
    list_display = ["name", "slug", "place", "position"]
    search_fields = ["name", "slug"]


class PrimitiveInline(NestedTabularInline):
    model = InnerPrimitive
    verbose_name_plural = "entries of the reference that it is"
    autocomplete_fields = ["primitive"]
    formset = InlineFormSet
    extra = 0
    is_sortable = False


@admin.register(Inner)
class InnerAdmin(AsksTheDatabase, NestedModelAdmin):
    form = KeepsItsSlug
    inlines = [PrimitiveInline]
    fields = ["name", "slug", "summary", "position"]
    list_display = ["name", "slug", "summary", "position"]
    search_fields = ["name", "slug"]


@admin.register(Cell)
class CellAdmin(AsksTheDatabase, NestedModelAdmin):
    form = CellForm
    inlines = [FixInline, ClaimInline]
    list_display = ["inner", "outer", "result", "cause"]
    list_display_links = ["inner", "outer"]
    list_select_related = ["inner", "outer"]
    list_filter = ["result", "inner", "outer"]
    search_fields = ["inner__name", "outer__name", "cause"]
    autocomplete_fields = ["inner", "outer"]
    formfield_overrides = text_rows(3)
    fieldsets = [(None, {"fields": [("inner", "outer", "result"), "cause", "error_lines"]})]


@admin.register(ErrorText)
class ErrorTextAdmin(AsksTheDatabase, NestedModelAdmin):
    form = ErrorTextForm
    inlines = [FixInline, ClaimInline]
    list_display = ["name", "tool", "meaning"]
    search_fields = ["name", "tool", "meaning", "example"]
    formfield_overrides = text_rows(3)
    fieldsets = [
        (None, {"fields": [("name", "slug"), "example", "pattern", ("tool", "source_path"), "meaning"]}),
        ("Which cause it is", {"fields": ["causes", "checks"]}),
    ]

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).defer("search_vector", "search_keys", "search_names")
