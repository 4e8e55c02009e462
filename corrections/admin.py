"""Corrections on the curators' side: what was sent, and what is answered."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.html import format_html

from corrections.models import CLOSED, Correction, State
from evidence.admin import AsksTheDatabase, badge, text_rows


@admin.register(Correction)
class CorrectionAdmin(AsksTheDatabase, admin.ModelAdmin):
    list_display = ["address", "what", "how_far", "sent_at"]
    list_filter = ["state", "sent_at"]
    list_per_page = 100
    ordering = ["-sent_at", "-pk"]
    search_fields = ["address", "wrong", "answer", "reference"]
    search_help_text = "Looks in addresses of claims, in what was sent and answered, and for a reference."
    formfield_overrides = text_rows(4)
    # What a reader typed is shown as text and never as a link, and nobody changes it.
    readonly_fields = ["the_claim", "wrong", "source", "email", "sent_at", "changed_at", "reference"]
    fieldsets = [
        ("What a reader sent", {"fields": ["the_claim", "wrong", "source", "email", ("sent_at", "reference")]}),
        ("What becomes of it", {"fields": ["state", "answer", "changed_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Correction]:
        return super().get_queryset(request).select_related("claim")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # readers add them, on the site

    def save_model(self, request: HttpRequest, obj: Correction, form: Any, change: bool) -> None:
        if obj.state in CLOSED:
            obj.email = ""
        super().save_model(request, obj, form, change)

    @admin.display(description="claim")
    def the_claim(self, correction: Correction) -> str:
        if correction.claim is None:
            return f"{correction.address}, which is deleted"
        return format_html(
            '<a href="{}">{}</a> {}',
            reverse("admin:evidence_claim_change", args=[correction.claim.pk]),
            correction.claim.address,
            correction.claim.sentence,
        )

    @admin.display(description="what is wrong")
    def what(self, correction: Correction) -> str:
        return truncatechars(correction.wrong, 160)

    @admin.display(description="state", ordering="state")
    def how_far(self, correction: Correction) -> str:
        kinds = {State.NEW: "bad", State.ACCEPTED: "soon"}
        return badge(kinds.get(State(correction.state), "good"), correction.get_state_display())
