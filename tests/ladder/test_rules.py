"""The rungs: rule 7 of DESIGN.md, and what a rank says about the kernel."""

import pytest
from django.db import connection
from django.db.models import ProtectedError

from ladder.models import Kernel, Tier
from tests.factories import RUNGS, make_claim, make_primitive, make_tier
from tests.sql import accepted, refused, sql

pytestmark = pytest.mark.django_db


class TestInUse:
    def test_a_rung_with_a_primitive_is_not_deleted(self) -> None:
        tier = make_primitive().tier
        with pytest.raises(ProtectedError):
            tier.delete()
        with pytest.raises(ProtectedError):
            Tier.objects.filter(pk=tier.pk).delete()
        with refused("primitives_primitive"):
            sql("DELETE FROM ladder_tier WHERE id = %s", tier.pk)

    def test_deleting_all_rungs_at_once_deletes_none(self) -> None:
        make_primitive()
        make_tier("full-vm")
        with pytest.raises(ProtectedError):
            Tier.objects.all().delete()
        with refused("primitives_primitive"):
            sql("DELETE FROM ladder_tier")
        assert Tier.objects.count() == 2

    def test_a_rung_that_nobody_uses_is_deleted_with_its_claims(self) -> None:
        claim = make_claim(make_tier("full-vm"))
        with accepted():
            claim.tier.delete()
        assert not type(claim).objects.exists()


class TestRank:
    @pytest.mark.parametrize(("rank", "kernel"), [(0, Kernel.SHARED), (7, Kernel.OWN), (32767, Kernel.OWN)])
    def test_a_rank_off_the_ladder_is_refused(self, rank: int, kernel: Kernel) -> None:
        with refused("tier_rank_is_a_rung"):
            make_tier("cellar", rank=rank, kernel=kernel)
        tier = make_tier("container")
        with refused("tier_rank_is_a_rung"):
            sql("UPDATE ladder_tier SET rank = %s, kernel = %s WHERE id = %s", rank, kernel.value, tier.pk)

    @pytest.mark.parametrize("slug", RUNGS)
    def test_the_other_kernel_is_refused_on_every_rung(self, slug: str) -> None:
        tier = make_tier(slug)
        other = Kernel.SHARED if tier.has_own_kernel else Kernel.OWN
        with refused("tier_kernel_follows_rank"):
            Tier.objects.filter(pk=tier.pk).update(kernel=other)
        with refused("tier_kernel_follows_rank"):
            sql("UPDATE ladder_tier SET kernel = %s WHERE id = %s", other.value, tier.pk)
        tier.kernel = other
        with refused("tier_kernel_follows_rank"):
            tier.save()

    def test_a_kernel_that_is_neither_is_refused(self) -> None:
        with refused("tier_kernel_follows_rank"):
            make_tier("container", kernel="none")

    def test_a_rung_does_not_cross_the_kernel_line_alone(self) -> None:
        make_tier("userspace-kernel")
        with refused("tier_kernel_follows_rank"):
            Tier.objects.filter(slug="userspace-kernel").update(rank=5)
        with accepted():
            Tier.objects.filter(slug="userspace-kernel").update(rank=5, kernel=Kernel.OWN)

    @pytest.mark.parametrize("fields", [{"rank": 3}, {"name": "container"}])
    def test_no_two_rungs_share_a_rank_or_a_name(self, fields: dict[str, object]) -> None:
        make_tier("container")
        with refused("duplicate key"):
            make_tier("pod", **{"rank": 2, **fields})

    def test_the_ladder_is_drawn_from_the_strongest_down(self) -> None:
        for slug in RUNGS[::2] + RUNGS[1::2]:
            make_tier(slug)
        assert [tier.slug for tier in Tier.objects.strongest_first()] == RUNGS[::-1]
        assert [tier.slug for tier in Tier.objects.all()] == RUNGS
        assert [tier.has_own_kernel for tier in Tier.objects.all()] == [False] * 4 + [True] * 2


def test_every_trigger_that_the_models_declare_is_in_the_database_and_enabled() -> None:
    """Without them a migration that was forgotten would show only in production."""
    from pgtrigger import registered

    declared = {(model._meta.db_table, trigger.get_pgid(model)) for model, trigger in registered()}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
        )
        installed = set(cursor.fetchall())
    assert declared <= installed
    assert len(declared) >= 6
