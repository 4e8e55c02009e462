"""Rules 3, 4 and 5 of DESIGN.md, and what else an audit must not be: whoever writes, Postgres refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import ProtectedError

from audits.models import (
    LEVELS,
    Agent,
    AgentAudit,
    Isolation,
    OpenSource,
    Posture,
    PostureClaim,
    PosturePlatform,
    SurfaceKind,
)
from evidence.models import Claim
from tests.admin_form import amid
from tests.factories import (
    make_agent,
    make_agent_break,
    make_audit,
    make_claim,
    make_platform,
    make_posture,
    make_primitive,
    make_tier,
)
from tests.races import at_the_same_time
from tests.sql import accepted, insert, refused, sql

pytestmark = pytest.mark.django_db

TEXTS = ("note", "how", "filesystem_read", "filesystem_write", "network", "credentials", "approvals")
NO_DEFAULT = "has no default posture, so it cannot be published"
NO_CLAIM = "names no claim that it rests on, so it cannot be published"
NO_PLATFORM = "names no platform, so it cannot be published"
TWO_DEFAULTS = "has more than one default posture on"
FOREIGN = "which is a claim about something else"


def insert_posture(audit: AgentAudit, **values: Any) -> None:
    defaults = {"position": 1, "mode": "raw", "is_default": False, "isolation": "none", "tier_id": None}
    empty = {**dict.fromkeys(TEXTS, ""), **dict.fromkeys(LEVELS, "unknown")}
    insert("audits_posture", **{"audit_id": audit.pk, **defaults, **empty, **values})


def insert_audit(agent: Agent, **values: Any) -> None:
    defaults = {"slug": "raw", "name": "raw", "kind": "cli", "position": 1, "is_published": False}
    insert("audits_agentaudit", **{"agent_id": agent.pk, **defaults, **values})


@pytest.fixture
def audit() -> AgentAudit:
    """Published, with the default posture "default" on Linux."""
    return make_audit("codex")


@pytest.fixture
def draft() -> AgentAudit:
    """As `audit`, but not published."""
    return make_audit("draft", is_published=False)


# ---- rule 3: a tier if and only if isolated ----


WRONG: list[Any] = [("isolated", False), ("none", True), ("undisclosed", True)]
RIGHT: list[Any] = [("isolated", True), ("none", False), ("undisclosed", False)]


class TestTier:
    @pytest.mark.parametrize(("isolation", "tier"), WRONG)
    def test_it_is_refused_through_the_orm(self, draft: AgentAudit, isolation: str, tier: bool) -> None:
        with refused("posture_has_a_tier_only_if_isolated"):
            Posture.objects.create(audit=draft, mode="a", isolation=isolation, tier=make_tier() if tier else None)

    @pytest.mark.parametrize(("isolation", "tier"), WRONG)
    def test_it_is_refused_in_bulk(self, draft: AgentAudit, isolation: str, tier: bool) -> None:
        good = Posture(audit=draft, mode="a", isolation="none")
        bad = Posture(audit=draft, mode="b", isolation=isolation, tier=make_tier() if tier else None)
        with refused("posture_has_a_tier_only_if_isolated"):
            Posture.objects.bulk_create([good, bad])

    @pytest.mark.parametrize(("isolation", "tier"), WRONG)
    def test_it_is_refused_in_raw_sql(self, draft: AgentAudit, isolation: str, tier: bool) -> None:
        with refused("posture_has_a_tier_only_if_isolated"):
            insert_posture(draft, isolation=isolation, tier_id=make_tier().pk if tier else None)

    @pytest.mark.parametrize(("isolation", "tier"), RIGHT)
    def test_what_fits_is_accepted(self, draft: AgentAudit, isolation: str, tier: bool) -> None:
        with accepted():
            insert_posture(draft, isolation=isolation, tier_id=make_tier().pk if tier else None)

    @pytest.mark.parametrize("isolation", ["none", "undisclosed"])
    def test_a_bulk_update_of_the_isolation_alone_is_refused(self, isolation: str) -> None:
        make_audit(postures=[{"tier": "container"}])
        with refused("posture_has_a_tier_only_if_isolated"):
            Posture.objects.update(isolation=isolation)
        with refused("posture_has_a_tier_only_if_isolated"):
            sql("UPDATE audits_posture SET isolation = %s", isolation)
        with accepted():
            Posture.objects.update(isolation=isolation, tier=None)

    @pytest.mark.parametrize("isolation", ["none", "undisclosed"])
    def test_a_bulk_update_of_the_tier_alone_is_refused(self, draft: AgentAudit, isolation: str) -> None:
        Posture.objects.update(isolation=isolation)
        with refused("posture_has_a_tier_only_if_isolated"):
            Posture.objects.update(tier=make_tier())
        with refused("posture_has_a_tier_only_if_isolated"):
            sql("UPDATE audits_posture SET tier_id = %s", make_tier().pk)

    def test_the_tier_of_an_isolated_posture_is_not_taken_away(self) -> None:
        posture = make_posture(tier="container")
        with refused("posture_has_a_tier_only_if_isolated"):
            Posture.objects.update(tier=None)
        posture.tier = None
        with refused("posture_has_a_tier_only_if_isolated"):
            Posture.objects.bulk_update([posture], ["tier"])

    def test_a_form_says_it_in_words(self, draft: AgentAudit) -> None:
        with pytest.raises(ValidationError, match="A posture has a tier if it is isolated, and only then"):
            Posture(audit=draft, mode="a", isolation="undisclosed", tier=make_tier()).full_clean()

    def test_a_tier_in_use_is_not_deleted(self) -> None:
        tier = make_posture(tier="microvm").tier
        assert tier is not None
        with pytest.raises(ProtectedError):
            tier.delete()
        with refused("audits_posture"):
            sql("DELETE FROM ladder_tier WHERE id = %s", tier.pk)


# ---- rule 4: one default on a platform, and one at least ----


class TestDefault:
    @pytest.mark.parametrize("is_published", [True, False])
    def test_two_on_a_platform_are_refused_through_the_orm(self, is_published: bool) -> None:
        audit = make_audit(is_published=is_published)
        with refused(TWO_DEFAULTS):
            make_posture(audit, mode="second")

    def test_two_on_a_platform_are_refused_in_bulk(self, audit: AgentAudit) -> None:
        with refused(TWO_DEFAULTS):
            second = Posture(audit=audit, mode="b", isolation="none", is_default=True)
            Posture.objects.bulk_create([second])
            PosturePlatform.objects.bulk_create([PosturePlatform(posture=second, platform=make_platform())])
            PostureClaim.objects.bulk_create([PostureClaim(posture=second, claim=audit.claims.get())])

    def test_two_on_a_platform_are_refused_in_raw_sql(self, draft: AgentAudit) -> None:
        with refused(TWO_DEFAULTS):
            insert_posture(draft, is_default=True)
            posture = Posture.objects.get(mode="raw")
            insert("audits_postureplatform", posture_id=posture.pk, platform_id=make_platform().pk)

    def test_two_on_a_platform_are_refused_by_name(self) -> None:
        linux, macos = make_platform("linux", name="Linux"), make_platform("macos", name="macOS")
        audit = make_audit(name="Codex CLI", postures=[{"platforms": (linux.slug, macos.slug)}])
        with refused("Codex CLI has more than one default posture on Linux.\nCodex CLI has more", "on macOS."):
            make_posture(audit, mode="second", platforms=(linux.slug, macos.slug))

    def test_a_second_mode_is_not_made_a_default_by_an_update(self, audit: AgentAudit) -> None:
        other = make_posture(audit, mode="other", is_default=False)
        with refused(TWO_DEFAULTS):
            Posture.objects.update(is_default=True)
        with refused(TWO_DEFAULTS):
            sql("UPDATE audits_posture SET is_default = true WHERE id = %s", other.pk)
        other.is_default = True
        with refused(TWO_DEFAULTS):
            other.save()

    def test_a_default_is_not_offered_where_another_is(self, audit: AgentAudit) -> None:
        other = make_posture(audit, mode="other", platforms=("macos",))
        with refused(TWO_DEFAULTS):
            other.platforms.add(make_platform("linux"))
        with refused(TWO_DEFAULTS):
            PosturePlatform.objects.filter(posture=other).update(platform=make_platform("linux"))
        with refused(TWO_DEFAULTS):
            sql("UPDATE audits_postureplatform SET platform_id = %s", make_platform("macos").pk)

    def test_an_offer_of_a_mode_is_not_moved_to_the_default(self) -> None:
        audit = make_audit(postures=[{"platforms": ("linux",)}, {"mode": "b", "platforms": ("macos",)}])
        mode = make_posture(audit, mode="c", is_default=False, platforms=("linux", "windows"))
        with refused(TWO_DEFAULTS):
            PosturePlatform.objects.filter(posture=mode, platform__slug="linux").update(
                posture=audit.postures.get(mode="b")
            )

    def test_a_default_is_not_moved_to_an_audit_that_has_one(self, audit: AgentAudit) -> None:
        other = make_audit(is_published=False)
        with refused(TWO_DEFAULTS):
            other.postures.update(audit=audit)
        with refused(TWO_DEFAULTS):
            sql("UPDATE audits_posture SET audit_id = %s", audit.pk)

    def test_the_last_one_of_a_published_audit_is_not_taken_away(self, audit: AgentAudit) -> None:
        make_posture(audit, mode="other", is_default=False)
        default = audit.postures.get(mode="default")
        with refused(NO_DEFAULT):
            Posture.objects.update(is_default=False)
        with refused(NO_DEFAULT):
            default.delete()
        with refused(NO_DEFAULT):
            audit.postures.all().delete()
        with refused(NO_DEFAULT):
            sql("DELETE FROM audits_postureclaim")
            sql("DELETE FROM audits_postureplatform")
            sql("DELETE FROM audits_posture WHERE is_default")
        with refused(NO_DEFAULT, "codex"):
            Posture.objects.filter(is_default=True).update(audit=make_audit(is_published=False, postures=[]))

    def test_an_audit_without_one_is_not_published(self) -> None:
        audit = make_audit(is_published=False, postures=[{"is_default": False}])
        with refused(NO_DEFAULT):
            AgentAudit.objects.update(is_published=True)
        with refused(NO_DEFAULT):
            sql("UPDATE audits_agentaudit SET is_published = true")
        audit.is_published = True
        with refused(NO_DEFAULT):
            audit.save()
        with refused(NO_DEFAULT):
            AgentAudit.objects.bulk_update([audit], ["is_published"])

    def test_an_audit_without_one_is_not_created_as_published(self) -> None:
        agent = make_agent()
        with refused(NO_DEFAULT):
            make_audit(agent, postures=[])
        with refused(NO_DEFAULT):
            AgentAudit.objects.bulk_create([AgentAudit(agent=agent, slug="a", name="a", kind="cli", is_published=True)])
        with refused(NO_DEFAULT):
            insert_audit(agent, is_published=True)

    def test_the_last_platform_of_a_published_posture_is_not_taken_away(self, audit: AgentAudit) -> None:
        posture, other = audit.postures.get(), make_posture(audit, mode="other", is_default=False)
        with refused(NO_PLATFORM):
            posture.platforms.clear()
        with refused(NO_PLATFORM):
            PosturePlatform.objects.all().delete()
        with refused(NO_PLATFORM):
            sql("DELETE FROM audits_postureplatform WHERE posture_id = %s", posture.pk)
        other.platforms.set([make_platform("macos")])
        with refused(NO_PLATFORM):
            PosturePlatform.objects.filter(posture=posture).update(posture=other)

    def test_one_for_each_platform_is_accepted(self) -> None:
        with accepted():
            make_audit(
                postures=[
                    {"platforms": ("linux", "windows"), "tier": "process-sandbox"},
                    {"mode": "seatbelt", "platforms": ("macos",), "tier": "process-sandbox"},
                    {"mode": "off", "is_default": False, "platforms": ("linux", "macos", "windows")},
                ]
            )

    def test_the_default_changes_hands_in_one_transaction(self, audit: AgentAudit) -> None:
        other = make_posture(audit, mode="other", is_default=False)
        with accepted():
            Posture.objects.update(is_default=True)
            Posture.objects.exclude(pk=other.pk).update(is_default=False)


# ---- rule 5: what a posture rests on ----


class TestGround:
    def test_a_posture_without_is_refused_in_a_published_audit(self, audit: AgentAudit) -> None:
        with refused(NO_CLAIM):
            make_posture(audit, mode="b", is_default=False, claims=[])
        with refused(NO_CLAIM):
            groundless = Posture(audit=audit, mode="b", isolation="none")
            Posture.objects.bulk_create([groundless])
            PosturePlatform.objects.bulk_create([PosturePlatform(posture=groundless, platform=make_platform())])
        with refused(NO_CLAIM):
            insert_posture(audit)
            sql("INSERT INTO audits_postureplatform (posture_id, platform_id) SELECT id, %s FROM audits_posture "
                "WHERE mode = 'raw'", make_platform().pk)  # fmt: skip

    def test_an_audit_with_one_without_is_not_published(self) -> None:
        audit = make_audit(is_published=False)
        make_posture(audit, mode="b", is_default=False, claims=[])
        with refused("Posture b of", NO_CLAIM):
            AgentAudit.objects.update(is_published=True)
        with refused("Posture b of", NO_CLAIM):
            sql("UPDATE audits_agentaudit SET is_published = true")

    def test_the_last_one_is_not_taken_away(self, audit: AgentAudit) -> None:
        posture = audit.postures.get()
        with refused(NO_CLAIM):
            posture.claims.clear()
        with refused(NO_CLAIM):
            PostureClaim.objects.all().delete()
        with refused(NO_CLAIM):
            sql("DELETE FROM audits_postureclaim")
        other = make_posture(audit, mode="other", is_default=False)
        with refused(NO_CLAIM):
            PostureClaim.objects.filter(posture=posture).update(posture=other)

    def test_the_claim_that_was_the_last_one_is_not_deleted(self, audit: AgentAudit) -> None:
        with refused(NO_CLAIM):
            audit.claims.get().delete()
        with refused(NO_CLAIM):
            audit.claims.all().delete()
        with refused("audits_postureclaim"):
            sql("DELETE FROM evidence_source")
            sql("DELETE FROM evidence_claim")

    def test_one_of_two_can_go(self, audit: AgentAudit) -> None:
        audit.postures.get().claims.add(make_claim(audit, slug="second"))
        with accepted():
            audit.claims.exclude(slug="second").delete()

    def test_of_a_draft_the_last_one_can_go(self, draft: AgentAudit) -> None:
        with accepted():
            draft.claims.all().delete()
        assert draft.postures.count() == 1

    @pytest.mark.parametrize("is_published", [True, False])
    def test_it_is_of_the_same_audit(self, is_published: bool) -> None:
        audit = make_audit(is_published=is_published)
        posture = audit.postures.get()
        for subject in (make_audit("other"), make_primitive(), make_tier()):
            claim = make_claim(subject, slug="foreign")
            with refused("rests on foreign", FOREIGN):
                posture.claims.add(claim)
            with refused("rests on foreign", FOREIGN):
                PostureClaim.objects.bulk_create([PostureClaim(posture=posture, claim=claim)])
            with refused("rests on foreign", FOREIGN):
                insert("audits_postureclaim", posture_id=posture.pk, claim_id=claim.pk)
            with refused("rests on foreign", FOREIGN):
                PostureClaim.objects.filter(posture=posture).update(claim=claim)

    @pytest.mark.parametrize("is_published", [True, False])
    def test_it_is_not_moved_to_another_subject(self, is_published: bool) -> None:
        audit, other = make_audit(is_published=is_published), make_audit()
        claim = audit.claims.get()
        with refused(FOREIGN):
            Claim.objects.filter(pk=claim.pk).update(audit=other)
        with refused(FOREIGN):
            Claim.objects.filter(pk=claim.pk).update(audit=None, primitive=make_primitive())
        with refused(FOREIGN):
            sql("UPDATE evidence_claim SET audit_id = %s WHERE id = %s", other.pk, claim.pk)
        claim.audit = other
        with refused(FOREIGN):
            claim.save()
        with refused(FOREIGN):
            Claim.objects.bulk_update([claim], ["audit"])

    def test_a_posture_is_not_moved_away_from_its_claims(self, draft: AgentAudit) -> None:
        other = make_audit("other", is_published=False, postures=[])
        with refused(FOREIGN):
            draft.postures.update(audit=other)
        posture = draft.postures.get()
        posture.audit = other
        with refused(FOREIGN):
            posture.save()

    def test_a_posture_moves_with_its_claims(self, draft: AgentAudit) -> None:
        other = make_audit("other", is_published=False, postures=[])
        with accepted():
            draft.postures.update(audit=other)
            draft.claims.update(audit=other)


# ---- an audit as a whole ----


class TestWhole:
    def test_a_draft_may_lack_everything(self) -> None:
        with accepted():
            make_audit(is_published=False, postures=[])
            make_audit(is_published=False, postures=[{"is_default": False, "claims": [], "platforms": ()}])
            Posture.objects.all().delete()

    def test_all_that_is_missing_is_said_at_once(self) -> None:
        audit = make_audit(name="Codex CLI", is_published=False, postures=[])
        make_posture(audit, mode="a", is_default=False, platforms=(), claims=[], position=1)
        make_posture(audit, mode="b", is_default=False, claims=[], position=2)
        with refused(
            "Codex CLI has no default posture, so it cannot be published.\n"
            "Posture a of Codex CLI names no claim that it rests on, so it cannot be published.\n"
            "Posture b of Codex CLI names no claim that it rests on, so it cannot be published.\n"
            "Posture a of Codex CLI names no platform, so it cannot be published."
        ):
            AgentAudit.objects.update(is_published=True)

    def test_it_may_be_written_in_any_order(self) -> None:
        agent, platform = make_agent(), make_platform()
        with accepted():
            insert("audits_postureclaim", posture_id=4712, claim_id=4713)
            insert("audits_postureplatform", posture_id=4712, platform_id=platform.pk)
            insert_posture(AgentAudit(pk=4711), id=4712, is_default=True)
            insert_audit(agent, id=4711, is_published=True)
            make_claim(AgentAudit(pk=4711), pk=4713)
        assert list(agent.audits.get().postures.get().claims.values_list("pk", flat=True)) == [4713]

    def test_it_may_be_taken_apart_and_put_together_in_one_transaction(self, audit: AgentAudit) -> None:
        with accepted():
            audit.postures.all().delete()
            audit.claims.all().delete()
            make_posture(audit, "container")

    def test_it_goes_with_all_that_belongs_to_it(self, audit: AgentAudit) -> None:
        make_agent_break(audit.agent)
        with accepted():
            audit.agent.delete()
        for table in (AgentAudit, Posture, PosturePlatform, PostureClaim, Claim):
            assert not table._default_manager.exists()

    def test_it_is_unpublished_and_then_emptied(self, audit: AgentAudit) -> None:
        with accepted():
            AgentAudit.objects.update(is_published=False)
            audit.postures.all().delete()

    @pytest.mark.parametrize("field", ["primitives", "platforms"])
    def test_what_a_posture_stands_on_is_not_deleted(self, field: str) -> None:
        audit = make_audit(postures=[{"tier": "container", "primitives": (make_primitive(platforms=()),)}])
        row = getattr(audit.postures.get(), field).get()
        with pytest.raises(ProtectedError):
            row.delete()
        with refused("audits_posture"):
            sql("DELETE FROM primitives_supportedplatform")
            sql(f"DELETE FROM {row._meta.db_table} WHERE id = %s", row.pk)
        with accepted():
            audit.agent.delete()
            row.delete()

    @pytest.mark.parametrize(
        ("table", "column", "make"),
        [
            ("audits_postureplatform", "platform_id", make_platform),
            ("audits_postureprimitive", "primitive_id", make_primitive),
            ("audits_postureclaim", "claim_id", None),
        ],
    )
    def test_nothing_is_named_twice(self, audit: AgentAudit, table: str, column: str, make: Callable[[], Any]) -> None:
        posture = audit.postures.get()
        row = make() if make else audit.claims.get()
        posture.primitives.set([row] if column == "primitive_id" else [])
        with refused("_once"):
            insert(table, posture_id=posture.pk, **{column: row.pk})


# ---- at commit, for real ----


def publish(audit: AgentAudit) -> None:
    AgentAudit.objects.filter(pk=audit.pk).update(is_published=True)


def refused_one(*actions: Callable[[], Any]) -> bool:
    """Whether of actions at the same time one was committed, and one refused."""
    return sorted(at_the_same_time(*actions)) == ["committed", "refused"]


@pytest.mark.django_db(transaction=True)
class TestCommit:
    @pytest.fixture
    def audit(self) -> AgentAudit:
        with transaction.atomic():
            return make_audit("codex")

    def test_an_audit_that_lacks_something_is_refused_and_leaves_nothing(self) -> None:
        with refused(NO_DEFAULT, at_commit=True):
            make_audit("codex", postures=[])
        assert not Agent.objects.exists()

    def test_outside_a_transaction_each_statement_is_judged(self, audit: AgentAudit) -> None:
        connection.ensure_connection()
        for statement in (
            "DELETE FROM audits_postureclaim",
            "DELETE FROM audits_postureplatform",
            "UPDATE audits_posture SET is_default = false",
        ):
            with refused("cannot be published", at_commit=True):
                sql(statement)

    def test_two_defaults_at_once(self, audit: AgentAudit) -> None:
        with transaction.atomic():
            modes = [make_posture(audit, mode=mode, is_default=False, platforms=("macos",)) for mode in "ab"]
        rows = [Posture.objects.filter(pk=mode.pk) for mode in modes]
        assert refused_one(*[lambda row=row: row.update(is_default=True) for row in rows])
        assert audit.postures.filter(is_default=True, platforms__slug="macos").count() == 1

    def test_two_new_defaults_at_once(self) -> None:
        with transaction.atomic():
            audit = make_audit(is_published=False, postures=[])
            make_platform()
        assert refused_one(*[lambda mode=mode: make_posture(audit, mode=mode, claims=[]) for mode in "ab"])
        assert audit.postures.count() == 1

    def test_two_defaults_offered_on_one_platform_at_once(self, audit: AgentAudit) -> None:
        with transaction.atomic():
            other = make_posture(audit, mode="other", platforms=("macos",))
            windows = make_platform("windows")
        postures = [audit.postures.get(mode="default"), other]
        assert refused_one(*[lambda posture=posture: posture.platforms.add(windows) for posture in postures])

    def test_the_last_two_grounds_deleted_at_once(self, audit: AgentAudit) -> None:
        with transaction.atomic():
            audit.postures.get().claims.add(make_claim(audit))
        grounds = [PostureClaim.objects.filter(pk=ground.pk) for ground in PostureClaim.objects.all()]
        assert len(grounds) == 2
        assert refused_one(*[ground.delete for ground in grounds])
        assert PostureClaim.objects.count() == 1

    def test_the_last_two_claims_deleted_at_once(self, audit: AgentAudit) -> None:
        with transaction.atomic():
            audit.postures.get().claims.add(make_claim(audit))
        gone, stays = audit.claims.all()

        def delete() -> str:
            try:
                stays.delete()
            except IntegrityError as error:
                return str(error)
            return "committed"

        # The second waits for the first already to write what the agent is searched by, so neither acts beside it.
        first = (
            "WITH ground AS (DELETE FROM audits_postureclaim WHERE claim_id = %s), "
            "source AS (DELETE FROM evidence_source WHERE claim_id = %s) DELETE FROM evidence_claim WHERE id = %s"
        )
        assert NO_CLAIM in amid(first, [gone.pk] * 3, delete)
        assert audit.postures.get().claims.count() == 1

    def test_the_last_two_defaults_taken_away_at_once(self, audit: AgentAudit) -> None:
        with transaction.atomic():
            make_posture(audit, mode="other", platforms=("macos",))
        rows = [Posture.objects.filter(pk=posture.pk) for posture in audit.postures.all()]
        assert refused_one(*[lambda row=row: row.update(is_default=False) for row in rows])
        assert audit.postures.filter(is_default=True).count() == 1

    @pytest.mark.parametrize("table", ["postureclaim", "postureplatform", "posture"])
    def test_published_while_what_it_needs_goes(self, table: str) -> None:
        with transaction.atomic():
            audit = make_audit(is_published=False)
        remove = {
            "postureclaim": lambda: audit.postures.get().claims.clear(),
            "postureplatform": lambda: audit.postures.get().platforms.clear(),
            "posture": lambda: audit.postures.get().delete(),
        }
        assert refused_one(remove[table], lambda: publish(audit))

    def test_published_while_a_posture_without_a_claim_comes(self) -> None:
        with transaction.atomic():
            audit = make_audit(is_published=False)
        assert refused_one(
            lambda: make_posture(audit, mode="other", is_default=False, claims=[]), lambda: publish(audit)
        )

    def test_a_claim_moved_while_a_posture_comes_to_rest_on_it(self, audit: AgentAudit) -> None:
        with transaction.atomic():
            claim, other = make_claim(audit), make_audit("other")
        assert refused_one(
            lambda: Claim.objects.filter(pk=claim.pk).update(audit=other),
            lambda: audit.postures.get().claims.add(claim),
        )

    @pytest.mark.parametrize("mover_first", [True, False])
    @pytest.mark.parametrize("comes", ["ground", "platform"])
    def test_a_posture_moved_while_something_comes_to_it(self, comes: str, mover_first: bool) -> None:
        with transaction.atomic():
            one = make_audit("one", is_published=False, postures=[])
            posture, claim = make_posture(one, claims=[]), make_claim(one)
            two, macos = (
                make_audit("two", postures=[{"platforms": ("macos",)}], is_published=False),
                make_platform("macos"),
            )
        table, column, row = {
            "ground": ("audits_postureclaim", "claim_id", claim),
            "platform": ("audits_postureplatform", "platform_id", macos),
        }[comes]
        insertion = f"INSERT INTO {table} (posture_id, {column}) VALUES (%s, %s)", [posture.pk, row.pk]
        move = "UPDATE audits_posture SET audit_id = %s WHERE id = %s", [two.pk, posture.pk]
        first, second = (move, insertion) if mover_first else (insertion, move)

        def act() -> str:
            try:
                sql(second[0], *second[1])
            except IntegrityError as error:
                return str(error)
            return "committed"

        assert {"ground": FOREIGN, "platform": TWO_DEFAULTS}[comes] in amid(*first, act)

    def test_two_audits_published_at_once_do_not_hinder_each_other(self) -> None:
        with transaction.atomic():
            audits = [make_audit(is_published=False) for _ in range(2)]
        assert at_the_same_time(*[lambda audit=audit: publish(audit) for audit in audits]) == ["committed"] * 2


# ---- shapes ----


class TestShape:
    @pytest.mark.parametrize("level", [*LEVELS, "isolation"])
    @pytest.mark.parametrize("value", ["", "fast", "Unknown", "unknown "])
    def test_a_level_that_there_is_not_is_refused(self, audit: AgentAudit, level: str, value: str) -> None:
        # What is no isolation goes with no tier and not without, and Postgres names the first rule that it meets.
        rule = "posture_has_a_tier_only_if_isolated" if level == "isolation" else f"posture_{level}_is_known"
        with refused(rule):
            insert_posture(audit, **{level: value})
        with refused(rule):
            Posture.objects.bulk_create([Posture(audit=audit, **{"mode": "a", "isolation": "none", level: value})])
        with refused(rule):
            Posture.objects.update(**{level: value})

    @pytest.mark.parametrize(("level", "value"), [(level, value) for level in LEVELS for value in LEVELS[level].values])
    def test_every_level_is_accepted_and_unknown_is_one(self, audit: AgentAudit, level: str, value: str) -> None:
        with accepted():
            Posture.objects.update(**{level: value})
        assert "unknown" in LEVELS[level].values
        assert getattr(Posture(), level) == "unknown"

    def test_every_isolation_is_known_here(self) -> None:
        assert [isolation for isolation, _ in RIGHT] == Isolation.values

    @pytest.mark.parametrize(
        ("constraint", "fields"),
        [
            *(("agent_slug_is_an_address", {"slug": slug}) for slug in ("", "Codex", "a--b", "a_b", "a/b", "a\n")),
            *(("agent_open_source_is_known", {"open_source": value}) for value in ("", "maybe", "Yes")),
            *(
                (f"agent_{field}_is_https", {field: address})
                for field in ("homepage", "repo", "docs")
                for address in ("http://example.org/", "example.org", "javascript:alert(1)", "see https://example.org/")
            ),
        ],
    )
    def test_a_value_of_an_agent_outside_the_rules_is_refused(self, constraint: str, fields: dict[str, str]) -> None:
        with refused(constraint):
            make_agent(**fields)
        make_agent()
        with refused(constraint):
            Agent.objects.update(**fields)

    @pytest.mark.parametrize(
        ("constraint", "fields"),
        [
            *(("audit_slug_is_an_address", {"slug": slug}) for slug in ("", "CLI", "a--b", "a#b")),
            *(("audit_kind_is_known", {"kind": kind}) for kind in ("", "tui", "CLI")),
        ],
    )
    def test_a_value_of_an_audit_outside_the_rules_is_refused(self, constraint: str, fields: dict[str, str]) -> None:
        agent = make_agent()
        with refused(constraint):
            insert_audit(agent, **fields)
        make_audit(agent)
        with refused(constraint):
            AgentAudit.objects.update(**fields)

    def test_every_kind_and_openness_is_accepted(self) -> None:
        with accepted():
            for kind in SurfaceKind:
                make_audit(kind=kind)
            for openness in OpenSource:
                make_agent(open_source=openness)

    def test_addresses_are_unique(self, audit: AgentAudit) -> None:
        with refused("slug"):
            make_agent("codex", name="Another")
        with refused("name"):
            make_agent("other", name="codex")
        with refused("audit_once_in_agent"):
            insert_audit(audit.agent, slug="cli")
        with accepted():
            make_audit("other", "cli")

    def test_a_break_is_named_once_in_an_agent_and_leads_to_https(self) -> None:
        agent = make_agent()
        with refused("agent_break_url_is_https"):
            make_agent_break(agent, url="http://example.org/")
        make_agent_break(agent, "CVE-2026-1")
        with refused("break_once_in_agent"):
            make_agent_break(agent, "CVE-2026-1")
        with accepted():
            make_agent_break(make_agent(), "CVE-2026-1")

    def test_a_mode_that_is_too_long_is_refused(self, audit: AgentAudit) -> None:
        with refused(error=DataError):
            insert_posture(audit, mode="a" * 41)
