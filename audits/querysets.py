"""The questions that pages ask of audits."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from django.apps import apps
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Case, Count, Exists, IntegerField, Max, OuterRef, Prefetch, Q, Subquery, Value, When
from django.db.models.functions import Lower

from evidence.models import Claim, Label
from evidence.search import SearchedQuerySet

if TYPE_CHECKING:
    from audits.models import Agent, Posture, PosturePlatform  # noqa: F401


def weakest_label(posture: str) -> Subquery:
    """The weakest label among the claims that a posture rests on; `posture` is where an outer query has its id."""
    ground = apps.get_model("audits", "PostureClaim")._default_manager
    weakness = Case(
        *(When(claim__label=label, then=Value(place)) for place, label in enumerate(Label)), output_field=IntegerField()
    )
    claims = ground.filter(posture=OuterRef(posture)).annotate(weakness=weakness).order_by("-weakness")
    return Subquery(claims.values("claim__label")[:1])


class AgentQuerySet(SearchedQuerySet["Agent"]):
    """Questions about agents."""

    def published(self) -> Self:
        """Those with a published audit: the others are drafts, which no page shows."""
        audits = apps.get_model("audits", "AgentAudit")._default_manager
        return self.filter(Exists(audits.filter(agent=OuterRef("pk"), is_published=True)))

    def for_comparison(self) -> Self:
        """With all that a comparison shows of what is published, but for claims: five queries, whatever it holds."""
        audits = apps.get_model("audits", "AgentAudit")._default_manager.filter(is_published=True)
        postures = apps.get_model("audits", "Posture")._default_manager.select_related("tier").with_label()
        return (
            self.defer("search_vector", "search_keys", "search_names")
            .annotate(break_count=Count("breaks"), newest_break=Max("breaks__year"))
            .prefetch_related(
                Prefetch("audits", audits),
                Prefetch("audits__postures", postures),
                "audits__postures__platforms",
                "audits__postures__primitives",
            )
        )

    def for_page(self) -> Self:
        """With all that an agent's page shows of what is published: eight queries, whatever it holds."""
        audits = apps.get_model("audits", "AgentAudit")._default_manager.filter(is_published=True)
        postures = apps.get_model("audits", "Posture")._default_manager.for_page()
        primitives = apps.get_model("primitives", "Primitive")._default_manager.strongest_first().with_inners()
        return self.defer("search_vector", "search_keys", "search_names").prefetch_related(
            "breaks",
            Prefetch("audits", audits),
            Prefetch("audits__claims", Claim.objects.no_drafts()),
            "audits__claims__sources",
            Prefetch("audits__postures", postures),
            "audits__postures__platforms",
            Prefetch("audits__postures__primitives", primitives),
        )


class PostureQuerySet(models.QuerySet["Posture"]):
    """Questions about postures."""

    def published(self) -> Self:
        """Those of published audits."""
        return self.filter(audit__is_published=True)

    def with_label(self) -> Self:
        """Each with `label`, the weakest of the claims that it rests on."""
        return self.annotate(label=weakest_label("pk"))

    def for_uses(self) -> Self:
        """The published ones, agent by agent, each with `platform_names`, for what is used by them (one query)."""
        offers = apps.get_model("audits", "PosturePlatform")._default_manager.filter(posture=OuterRef("pk"))
        names = offers.order_by("platform__position").values("platform__name")
        return (
            self.published()
            .select_related("audit__agent")
            .only(
                "tier", "mode", "is_default", "audit__slug", "audit__name", "audit__agent__slug", "audit__agent__name"
            )
            .annotate(platform_names=ArraySubquery(names))
            .order_by(Lower("audit__agent__name"), "audit__position", "position", "pk")
        )

    def for_page(self) -> Self:
        """Each with its tier, its label, and `rests_on`, the slugs of the claims that it rests on (one query)."""
        ground = apps.get_model("audits", "PostureClaim")._default_manager.filter(posture=OuterRef("pk"))
        claims = ground.order_by("claim__position", "claim").values("claim__slug")
        return self.select_related("tier").with_label().annotate(rests_on=ArraySubquery(claims))


class OfferQuerySet(models.QuerySet["PosturePlatform"]):
    """Questions about postures on platforms. The default ones are the cells of the matrix."""

    def published(self) -> Self:
        """Those of published audits."""
        return self.filter(posture__audit__is_published=True)

    def defaults(self) -> Self:
        """What runs on each surface and platform when nobody changes a setting."""
        return self.published().filter(posture__is_default=True)

    def speaking_for_agents(self, kinds: Iterable[str] = (), *, within_kind: bool = False) -> Self:
        """Of the defaults, one for each agent and platform: that of the agent's first surface that is offered there.

        With `kinds`, of its first surface of one of these kinds; `within_kind`, of each kind the first.
        """
        earlier = self.model._default_manager.defaults().filter(
            platform=OuterRef("platform"), posture__audit__agent=OuterRef("posture__audit__agent")
        )
        if kinds:
            earlier = earlier.filter(posture__audit__kind__in=kinds)
        if within_kind:
            earlier = earlier.filter(posture__audit__kind=OuterRef("posture__audit__kind"))
        before = Q(posture__audit__position__lt=OuterRef("posture__audit__position")) | Q(
            posture__audit__position=OuterRef("posture__audit__position"), posture__audit__lt=OuterRef("posture__audit")
        )
        return self.filter(~Exists(earlier.filter(before)))

    def raisable(self, rank: int) -> Self:
        """Those whose surface can be raised, on the same platform, to at least the rung of that rank.

        A default that stands there already counts: nothing needs to be raised.
        """
        higher = self.model._default_manager.published().filter(
            posture__audit=OuterRef("posture__audit"), platform=OuterRef("platform"), posture__tier__rank__gte=rank
        )
        return self.filter(Exists(higher))

    def for_matrix(self) -> Self:
        """With all that a cell shows, and its `label`: one query."""
        return self.select_related("platform", "posture__tier", "posture__audit__agent").annotate(
            label=weakest_label("posture")
        )
