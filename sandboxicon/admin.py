"""The admin site, and its page of a rung: with the claims about it, so it stands above both of their rooms."""

from django.contrib import admin
from nested_admin.nested import NestedModelAdmin

from evidence.admin import AsksTheDatabase, ClaimInline, KeepsItsSlug, text_rows
from ladder.models import Tier

admin.site.site_header = "sandboxicon: curation"
admin.site.site_title = "sandboxicon: curation"
admin.site.index_title = "What can be edited"
admin.site.enable_nav_sidebar = False  # lists and forms need the width


@admin.register(Tier)
class TierAdmin(AsksTheDatabase, NestedModelAdmin):
    form = KeepsItsSlug
    inlines = [ClaimInline]
    list_display = ["rank", "name", "kernel", "tagline"]
    list_display_links = ["name"]
    search_fields = ["name", "slug"]
    formfield_overrides = text_rows(5)
    fieldsets = [
        (None, {"fields": [("name", "slug"), ("rank", "kernel"), "tagline", "summary"]}),
        ("On its page", {"fields": ["description", "shares", "break_cost"]}),
    ]
