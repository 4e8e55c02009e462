"""Curation of agents, in clear steps: an agent with its surfaces, then each surface with its claims and postures."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pghistory
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ORDER_VAR
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, IntegerField, Max, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Lower
from django.http import HttpRequest
from django.template.defaultfilters import pluralize, truncatechars
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from nested_admin.nested import NestedModelAdmin, NestedStackedInline, NestedTabularInline

from audits import second_pair
from audits.models import (
    Agent,
    AgentAudit,
    AgentBreak,
    Decision,
    Isolation,
    Posture,
    PostureClaim,
    PosturePrimitive,
    Proposal,
)
from evidence.admin import (
    AsksTheDatabase,
    ChosenFilter,
    ClaimInline,
    InlineFormSet,
    KeepsItsSlug,
    badge,
    draft_badge,
    text_rows,
)
from evidence.models import Claim, Freshness, by_aspect
from history.reasons import reason
from history.restoring import Version
from ladder.models import Tier
from primitives.models import Platform, Primitive

# ---- what is wrong, counted by the database ----


def number(rows: QuerySet[Any], of: str) -> Coalesce:
    """How many of `rows` belong, by their field `of`, to the row at hand."""
    counted = rows.filter(**{of: OuterRef("pk")}).order_by().values(of).annotate(n=Count("pk"))
    return Coalesce(Subquery(counted.values("n")), 0, output_field=IntegerField())


def with_claims(subjects: QuerySet[Any], by: str) -> QuerySet[Any]:
    """With how many claims are about them, how fresh they are; `by` leads from a claim to one of `subjects`."""
    newest = Claim.objects.filter(**{by: OuterRef("pk")}).order_by().values(by).annotate(day=Max("as_of"))
    return subjects.annotate(
        claim_count=number(Claim.objects.all(), by),
        newest=Subquery(newest.values("day")),
        stale=number(Claim.objects.with_freshness(Freshness.STALE), by),
        due=number(Claim.objects.with_freshness(Freshness.DUE), by),
    )


def agents_with_faults(agents: QuerySet[Agent]) -> QuerySet[Agent]:
    """With the numbers that AGENT_FAULTS are told by."""
    return with_claims(agents, "audit__agent").annotate(
        surface_count=number(AgentAudit.objects.all(), "agent"),
        drafts=number(AgentAudit.objects.filter(is_published=False), "agent"),
    )


def audits_with_faults(audits: QuerySet[AgentAudit]) -> QuerySet[AgentAudit]:
    """With the numbers that AUDIT_FAULTS are told by."""
    postures = Posture.objects.all()
    draft_claims = PostureClaim.objects.filter(posture=OuterRef("pk"), claim__is_published=False)
    draft_primitives = PosturePrimitive.objects.filter(posture=OuterRef("pk"), primitive__is_published=False)
    return with_claims(audits, "audit").annotate(
        posture_count=number(postures, "audit"),
        no_default=~Exists(postures.filter(audit=OuterRef("pk"), is_default=True)),
        groundless=number(postures.filter(claims__isnull=True), "audit"),
        nowhere=number(postures.filter(platforms__isnull=True), "audit"),
        on_drafts=number(postures.filter(Exists(draft_claims) | Exists(draft_primitives)), "audit"),
    )


AGENT_FAULTS: dict[str, tuple[str, Q]] = {
    "no_surface": ("no surface", Q(surface_count=0)),
    "not_public": ("not public", Q(surface_count=F("drafts"))),
    "draft": ("a surface in draft", Q(drafts__gt=0)),
    "stale": ("stale claims", Q(stale__gt=0)),
    "due": ("claims due for a check", Q(due__gt=0)),
}
AUDIT_FAULTS: dict[str, tuple[str, Q]] = {
    "draft": ("draft", Q(is_published=False)),
    "no_default": ("no default posture", Q(no_default=True)),
    "groundless": ("a posture without a claim", Q(groundless__gt=0)),
    "nowhere": ("a posture without a platform", Q(nowhere__gt=0)),
    "on_drafts": ("a posture that rests or stands on a draft", Q(on_drafts__gt=0)),
    "no_claims": ("no claims", Q(claim_count=0)),
    "stale": ("stale claims", Q(stale__gt=0)),
    "due": ("claims due for a check", Q(due__gt=0)),
}


def freshness_badges(subject: Any) -> list[str]:
    return [
        *([badge("bad", f"{subject.stale} stale")] if subject.stale else []),
        *([badge("soon", f"{subject.due} due for a check")] if subject.due else []),
    ]


def in_a_row(badges: list[str]) -> str:
    return format_html_join(" ", "{}", ((one,) for one in badges)) or badge("good", "in order")


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{pluralize(number)}"


class AgentFaultFilter(ChosenFilter):
    title = "what is wrong"
    parameter_name = "fault"
    options = [(name, title) for name, (title, _) in AGENT_FAULTS.items()]

    @staticmethod
    def narrow(queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(AGENT_FAULTS[value][1])


class AuditFaultFilter(ChosenFilter):
    title = "what is wrong"
    parameter_name = "fault"
    options = [(name, title) for name, (title, _) in AUDIT_FAULTS.items()]

    @staticmethod
    def narrow(queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(AUDIT_FAULTS[value][1])


# ---- an agent, with its surfaces and breaks ----


class PutsNoDefaultBack(AsksTheDatabase):
    """Puts back earlier versions, but none that changes a default past the second curator."""

    def put_back(self, then: Version) -> None:
        objections = second_pair.objections_to_new_defaults()
        with transaction.atomic():
            super().put_back(then)
            if lines := objections():
                raise IntegrityError("\n".join(lines))


class AuditForm(KeepsItsSlug):
    class Meta:
        model = AgentAudit
        fields: list[str] = []


class AuditInline(NestedTabularInline):
    """The surfaces of an agent; what each runs in is on the surface's own page."""

    model = AgentAudit
    form = AuditForm
    formset = InlineFormSet
    verbose_name = "surface"
    verbose_name_plural = "surfaces"
    extra = 0
    is_sortable = False
    fields = ["name", "slug", "kind", "position", "is_published", "holds"]
    readonly_fields = ["holds"]
    view_on_site = False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        # Published on its own page, where that becomes a proposal.
        return [*self.readonly_fields, *(["is_published"] if second_pair.in_force() else [])]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentAudit]:
        # The agent's name is part of a surface's own.
        return audits_with_faults(super().get_queryset(request).select_related("agent"))

    @admin.display(description="postures and claims")
    def holds(self, audit: Any) -> str:
        if audit.pk is None:
            return "once it is saved"
        return format_html(
            '<a href="{}">{}, {}</a>',
            reverse("admin:audits_agentaudit_change", args=[audit.pk]),
            counted(audit.posture_count, "posture"),
            counted(audit.claim_count, "claim"),
        )


class BreakInline(NestedStackedInline):
    model = AgentBreak
    formset = InlineFormSet
    extra = 0
    is_sortable = False
    formfield_overrides = text_rows(2)
    fieldsets = [(None, {"fields": [("identifier", "nickname", "year", "fixed_in"), "summary", "url"]})]


@admin.register(Agent)
class AgentAdmin(PutsNoDefaultBack, NestedModelAdmin):
    form = KeepsItsSlug
    inlines = [AuditInline, BreakInline]
    list_display = ["name", "what_is_wrong", "surfaces", "number_of_claims", "newest_claim", "vendor", "open_source"]
    list_filter = [
        "open_source",
        "audits__kind",
        "audits__is_published",
        "audits__postures__isolation",
        ("audits__postures__tier", admin.RelatedOnlyFieldListFilter),
        ("audits__postures__platforms", admin.RelatedOnlyFieldListFilter),
        AgentFaultFilter,
        "vendor",
    ]
    list_per_page = 100
    ordering = [Lower("name")]
    search_fields = ["name"]  # the box is there if this is set; get_search_results does the searching
    search_help_text = "Searches as the site does: names, vendors, what is published of surfaces, and breaks."
    save_on_top = True
    formfield_overrides = text_rows(2)
    fieldsets = [
        (None, {"fields": [("name", "slug"), ("vendor", "open_source", "license")]}),
        ("Addresses", {"fields": ["homepage", "repo", "docs"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        found = super().get_queryset(request).defer("search_vector", "search_keys", "search_names")
        return agents_with_faults(found)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if not search_term.strip():
            return queryset, False
        found = queryset.search(search_term)
        return found if ORDER_VAR in request.GET else found.best_first(), False

    def view_on_site(self, agent: Any) -> str | None:
        """The agent's page, which a draft does not have."""
        return agent.get_absolute_url() if agent.audits.filter(is_published=True).exists() else None

    @admin.display(description="surfaces", ordering="surface_count")
    def surfaces(self, agent: Any) -> int:
        return int(agent.surface_count)

    @admin.display(description="claims", ordering="claim_count")
    def number_of_claims(self, agent: Any) -> int:
        return int(agent.claim_count)

    @admin.display(description="newest claim", ordering="newest", empty_value="never")
    def newest_claim(self, agent: Any) -> Any:
        return agent.newest

    @admin.display(description="what is wrong")
    def what_is_wrong(self, agent: Any) -> str:
        badges = []
        if not agent.surface_count:
            badges.append(badge("bad", "no surface"))
        elif agent.drafts == agent.surface_count:
            badges.append(badge("bad", "draft"))
        elif agent.drafts:
            badges.append(badge("soon", f"{counted(agent.drafts, 'surface')} in draft"))
        return in_a_row([*badges, *freshness_badges(agent)])


# ---- a surface, with its claims and postures ----


class ChosenPrimitives(AutocompleteSelectMultiple):
    """Primitives, found by typing; shown are those chosen, out of the field's own choices."""

    def __init__(self) -> None:
        super().__init__(Posture._meta.get_field("primitives"), admin.site)

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> list[Any]:
        chosen = [(key, title) for key, title in self.choices if str(key) in value]
        options = [self.create_option(name, key, title, True, place) for place, (key, title) in enumerate(chosen)]
        return [(None, options, 0)]


class PostureForm(forms.ModelForm):
    """A posture with its platforms, its primitives and the claims that it rests on.

    `choices` has them all, made once for all postures of a page, so that a page with ten of them asks no more.
    """

    # What is shown as a field of the form but kept in a table of its own.
    MANY = {"on_platforms": "platforms", "stands_on": "primitives", "rests_on": "claims"}

    tier = forms.ModelChoiceField(
        Tier.objects.all(), required=False, help_text="The rung if it is isolated, and only then."
    )
    on_platforms = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        label="Platforms",
        widget=forms.CheckboxSelectMultiple,
        help_text="Of an audit's default postures there is one on a platform.",
    )
    stands_on = forms.TypedMultipleChoiceField(
        coerce=int, required=False, label="Primitives", widget=ChosenPrimitives, help_text="What it stands on."
    )
    rests_on = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        label="Claims that it rests on",
        widget=forms.CheckboxSelectMultiple,
        help_text="Out of this audit's own. A claim that is new on this page can be ticked once it is saved.",
    )

    class Meta:
        model = Posture
        fields: list[str] = []

    def __init__(self, *args: Any, choices: dict[str, list[Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, options in choices.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]
        for name, relation in self.MANY.items():
            self.initial[name] = [row.pk for row in getattr(self.instance, relation).all()] if self.instance.pk else []

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]
        for name in self.MANY.keys() & self.changed_data:
            chosen = self.cleaned_data[name]
            if name == "rests_on":  # without those deleted on the same page
                chosen = Claim.objects.filter(pk__in=chosen)
            getattr(self.instance, self.MANY[name]).set(chosen)

    @property
    def to_be_seen(self) -> bool:
        """Whether it is shown unfolded among others: when it is new, or something in it was typed or is wrong."""
        return self.instance._state.adding or (self.is_bound and self.has_changed())

    @property
    def facts(self) -> str:
        """What a folded posture says of itself, as it is saved."""
        posture = self.instance
        if posture.pk is None:
            return ""
        return ", ".join(
            [
                *(["default"] if posture.is_default else []),
                str(posture.tier or Isolation(posture.isolation).label),
                " and ".join(platform.name for platform in posture.platforms.all()) or "no platform",
                counted(len(self.initial["rests_on"]), "claim"),
            ]
        )


class PostureFormSet(InlineFormSet):
    """The postures of an audit, each with the same choices."""

    @cached_property
    def choices(self) -> dict[str, list[Any]]:
        claims = by_aspect(Claim.objects.filter(audit=self.instance.pk)) if self.instance.pk else []
        return {
            "tier": [("", "---------"), *Tier.objects.values_list("pk", "name")],
            "on_platforms": list(Platform.objects.values_list("pk", "name")),
            "stands_on": [
                (primitive.pk, f"{primitive}" if primitive.is_published else f"{primitive} (draft)")
                for primitive in Primitive.objects.order_by(Lower("name")).only("name", "is_published")
            ],
            "rests_on": [
                (aspect.label, [(claim.pk, self.title(claim)) for claim in claims]) for aspect, claims in claims
            ],
        }

    @staticmethod
    def title(claim: Claim) -> str:
        return format_html(
            '<b>{}</b> {} <span class="facts">{}{}</span>',
            claim.slug,
            truncatechars(claim.sentence, 140),
            claim.label,
            "" if claim.is_published else ", draft",
        )

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "choices": self.choices}

    def clean(self) -> None:
        super().clean()
        goes = any(form.initial.get("is_default") for form in getattr(self, "deleted_forms", []))
        if goes and self.instance.is_published and second_pair.in_force():
            raise forms.ValidationError(second_pair.DEFAULTS_STAY)


class PostureInline(NestedStackedInline):
    model = Posture
    form = PostureForm
    formset = PostureFormSet
    template = "admin/audits/posture/inline.html"
    extra = 0
    is_sortable = False
    formfield_overrides = text_rows(2)
    fieldsets = [
        (None, {"fields": [("mode", "is_default", "position"), "on_platforms", ("how", "note")]}),
        ("Boundary", {"fields": [("isolation", "tier", "on_failure"), "stands_on"]}),
        (
            "What code in it reaches: a code for filters, and the words of the source",
            {
                "fields": [
                    ("read_level", "filesystem_read"),
                    ("write_level", "filesystem_write"),
                    ("network_level", "network"),
                    ("credentials_level", "credentials"),
                    ("approvals_level", "approvals"),
                ]
            },
        ),
        ("Evidence", {"fields": ["rests_on"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Posture]:
        found: QuerySet[Posture] = super().get_queryset(request)
        # The names of the audit and its agent are part of a posture's own.
        return found.select_related("tier", "audit__agent").prefetch_related("platforms", "primitives", "claims")


class AuditClaimInline(ClaimInline):
    fieldsets = [*ClaimInline.fieldsets, (None, {"fields": ["says_how_to_check"]})]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Claim]:
        found: QuerySet[Claim] = super().get_queryset(request)
        return found.select_related("audit__agent")


@admin.register(AgentAudit)
class AgentAuditAdmin(PutsNoDefaultBack, NestedModelAdmin):
    form = AuditForm
    inlines = [AuditClaimInline, PostureInline]
    list_display = ["name", "agent", "what_is_wrong", "kind", "postures", "number_of_claims", "newest_claim"]
    list_select_related = ["agent"]
    list_filter = [
        "kind",
        "is_published",
        "postures__isolation",
        ("postures__tier", admin.RelatedOnlyFieldListFilter),
        ("postures__platforms", admin.RelatedOnlyFieldListFilter),
        "agent__open_source",
        AuditFaultFilter,
        "agent__vendor",
    ]
    list_per_page = 100
    ordering = [Lower("agent__name"), "position", "pk"]
    search_fields = ["name"]  # the box is there if this is set; get_search_results does the searching
    search_help_text = "Looks in names of surfaces, and for agents as the site does."
    autocomplete_fields = ["agent"]
    save_on_top = True
    formfield_overrides = text_rows(2)
    fieldsets = [(None, {"fields": [("agent", "name", "slug"), ("kind", "position", "is_published")]})]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentAudit]:
        return audits_with_faults(super().get_queryset(request).select_related("agent"))

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["agent"] if obj else []  # its address is on the agent's page

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        """As the form says, but for whether it is published where a second curator has to approve that."""
        audit = super().save_form(request, form, change)
        request.held = None  # type: ignore[attr-defined]
        if second_pair.in_force():
            before = bool(form.initial.get("is_published"))
            request.held = {"was_published": before, "postures": []}  # type: ignore[attr-defined]
            if audit.is_published != before:
                request.held["is_published"] = {"before": before, "after": audit.is_published}  # type: ignore[attr-defined]
                audit.is_published = before
        return audit

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        held: dict[str, Any] | None = request.held  # type: ignore[attr-defined]
        taken = []
        if held and held.pop("was_published"):
            postures = (one for formset in formsets if formset.model is Posture for one in formset.forms)
            typed = (one for one in postures if one.has_changed() and not one.cleaned_data.get("DELETE"))
            taken = [(one.instance, what) for one in typed if (what := second_pair.hold_back(one))]
        super().save_related(request, form, formsets, change)
        if held and (taken or "is_published" in held):
            held["postures"] = [{"posture": posture.pk, "mode": posture.mode, **what} for posture, what in taken]
            curator: Any = request.user
            proposal = Proposal.objects.create(
                audit=form.instance, changes=held, reason=reason(request), proposed_by=curator
            )
            address = reverse("admin:audits_proposal_change", args=[proposal.pk])
            words = "What changes the default waits for a second curator: {}. All else is saved."
            link = format_html('<a href="{}">the proposal</a>', address)
            self.message_user(request, format_html(words, link), messages.WARNING)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if not search_term.strip():
            return queryset, False
        agents = Agent.objects.search(search_term)
        found = queryset.filter(Q(agent__in=agents.values("pk")) | Q(name__icontains=search_term.strip()))
        if ORDER_VAR in request.GET:
            return found, False
        its_agent = agents.filter(pk=OuterRef("agent"))
        best = [Subquery(its_agent.values(part)).desc(nulls_last=True) for part in ("hit", "rank", "closeness")]
        return found.order_by(*best, *self.ordering), False

    def view_on_site(self, audit: Any) -> str | None:
        """Its place on the agent's page, where a draft's is not."""
        return audit.get_absolute_url() if audit.is_published else None

    @admin.display(description="postures", ordering="posture_count")
    def postures(self, audit: Any) -> int:
        return int(audit.posture_count)

    @admin.display(description="claims", ordering="claim_count")
    def number_of_claims(self, audit: Any) -> int:
        return int(audit.claim_count)

    @admin.display(description="newest claim", ordering="newest", empty_value="never")
    def newest_claim(self, audit: Any) -> Any:
        return audit.newest

    @admin.display(description="what is wrong")
    def what_is_wrong(self, audit: Any) -> str:
        badges = draft_badge(audit)
        if audit.no_default:
            badges.append(badge("bad", "no default posture"))
        if audit.groundless:
            badges.append(badge("bad", f"{counted(audit.groundless, 'posture')} without a claim"))
        if audit.nowhere:
            badges.append(badge("bad", f"{counted(audit.nowhere, 'posture')} without a platform"))
        if audit.on_drafts:
            badges.append(badge("bad", f"{counted(audit.on_drafts, 'posture')} on a draft"))
        if not audit.claim_count:
            badges.append(badge("bad", "no claims"))
        return in_a_row([*badges, *freshness_badges(audit)])


# ---- changes that wait for a second curator ----


@admin.register(Proposal)
class ProposalAdmin(AsksTheDatabase, admin.ModelAdmin):
    """What one curator proposes, as a difference, and the two buttons of another."""

    change_form_template = "admin/audits/proposal/change_form.html"
    list_display = ["audit", "decision", "reason", "proposed_by", "proposed_at"]
    list_filter = ["decision"]
    list_select_related = ["audit__agent", "proposed_by"]
    fields = [
        *("audit", "difference", "reason", "proposed_by", "proposed_at", "decision", "decided_by", "decided_at"),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [str(field) for field in self.fields or []]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # the page of a surface makes them

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description="what changes")
    def difference(self, proposal: Proposal) -> str:
        rows = [
            (change["mode"], second_pair.in_words(change["before"]), second_pair.in_words(change["after"]))
            for change in proposal.changes["postures"]
        ]
        if published := proposal.changes.get("is_published"):
            words = {True: "published", False: "a draft"}
            rows.append(("The surface", words[published["before"]], words[published["after"]]))
        return format_html(
            '<table><thead><tr><th scope="col">What</th><th scope="col">is</th><th scope="col">is to be</th></tr>'
            "</thead><tbody>{}</tbody></table>",
            format_html_join("", '<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>', rows),
        )

    def save_model(self, request: HttpRequest, obj: Proposal, form: Any, change: bool) -> None:
        waiting = Proposal.objects.select_for_update().filter(pk=obj.pk, decision=Decision.WAITING).first()
        if waiting is None:
            raise IntegrityError("Somebody has decided on this already.")
        approved = "approve" in request.POST
        obj.decision = Decision.APPROVED if approved else Decision.DECLINED
        obj.decided_by_id, obj.decided_at = request.user.pk, timezone.now()
        super().save_model(request, obj, form, change)
        if approved:
            with pghistory.context(why=f"{obj.reason} (proposed by {obj.proposed_by})"):
                second_pair.carry_out(obj)
