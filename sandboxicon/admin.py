"""The admin site, and its page of a rung: with the claims about it, so it stands above both of their rooms."""

from typing import Any

from django.contrib import admin
from nested_admin.nested import NestedModelAdmin, NestedStackedInline, NestedTabularInline

from audits.admin import AgentAdmin
from evidence.admin import AsksTheDatabase, ClaimInline, InlineFormSet, KeepsItsSlug, text_rows
from ladder.models import CostClaim, CostRange, Tier
from primitives.admin import PrimitiveAdmin
from sandboxicon.exchange import export_yaml

admin.site.site_header = "sandboxicon: curation"
admin.site.site_title = "sandboxicon: curation"
admin.site.index_title = "The curator’s desk"
admin.site.enable_nav_sidebar = False  # lists and forms need the width


class CostClaimInline(NestedTabularInline):
    model = CostClaim
    formset = InlineFormSet
    autocomplete_fields = ["claim"]
    extra = 0
    is_sortable = False


class CostInline(NestedStackedInline):
    """What a box on the rung costs, as claims say it."""

    model = CostRange
    formset = InlineFormSet
    inlines = [CostClaimInline]
    extra = 0
    is_sortable = False
    formfield_overrides = text_rows(2)
    fieldsets = [(None, {"fields": [("kind", "low", "high", "position"), "measured_by"]})]


@admin.register(Tier)
class TierAdmin(AsksTheDatabase, NestedModelAdmin):
    form = KeepsItsSlug
    inlines = [CostInline, ClaimInline]
    list_display = ["rank", "name", "kernel", "tagline"]
    list_display_links = ["name"]
    search_fields = ["name", "slug"]
    formfield_overrides = text_rows(5)
    fieldsets = [
        (None, {"fields": [("name", "slug"), ("rank", "kernel"), "tagline", "summary"]}),
        ("On its page", {"fields": ["description", "shares", "break_cost"]}),
    ]


# The content's files are known up here alone.
EXPORTED: list[Any] = [PrimitiveAdmin, AgentAdmin, TierAdmin]
for exported in EXPORTED:
    exported.actions = [*(exported.actions or []), export_yaml]
