"""Rules 6 and 7 of DESIGN.md, and the shape of an entry: whoever writes, Postgres refuses."""

from itertools import pairwise
from typing import Any

import pytest
from django.db import DataError
from django.db.models import ProtectedError

from primitives.models import Break, BuildsOn, Category, Isolates, Platform, Primitive, Status
from tests.factories import make_break, make_category, make_platform, make_primitive
from tests.races import at_the_same_time
from tests.sql import accepted, insert, refused, sql

pytestmark = pytest.mark.django_db

CIRCLE = "What builds on what goes in a circle: "


def chain(*names: str) -> list[Primitive]:
    """Primitives of these names, each built on the next, and checked: what comes later is refused for itself."""
    primitives = [make_primitive(name) for name in names]
    with accepted():
        BuildsOn.objects.bulk_create([BuildsOn(primitive=upper, part=lower) for upper, lower in pairwise(primitives)])
    return primitives


# ---- rule 6: builds_on has no circle ----


class TestCircle:
    def test_an_entry_on_itself_is_refused_through_the_orm(self) -> None:
        runc = make_primitive("runc")
        with refused("builds_on_another"):
            runc.builds_on.add(runc)

    def test_an_entry_on_itself_is_refused_in_bulk(self) -> None:
        runc = make_primitive("runc")
        with refused("builds_on_another"):
            BuildsOn.objects.bulk_create([BuildsOn(primitive=runc, part=runc)])

    def test_an_entry_on_itself_is_refused_in_raw_sql(self) -> None:
        runc = make_primitive("runc")
        with refused("builds_on_another"):
            insert("primitives_buildson", primitive_id=runc.pk, part_id=runc.pk)

    def test_an_entry_on_itself_is_refused_by_an_update(self) -> None:
        docker, runc = chain("docker", "runc")
        with refused("builds_on_another"):
            docker.parts.update(part=docker)
        assert list(docker.builds_on.all()) == [runc]

    @pytest.mark.parametrize("names", [("docker", "runc"), ("docker", "containerd", "runc"), tuple("abcdefgh")])
    def test_a_longer_circle_is_refused_through_the_orm(self, names: tuple[str, ...]) -> None:
        first, *_, last = chain(*names)
        with refused(CIRCLE + " on ".join([last.name, *names])):
            last.builds_on.add(first)

    @pytest.mark.parametrize("names", [("docker", "runc"), ("docker", "containerd", "runc")])
    def test_a_longer_circle_is_refused_in_bulk(self, names: tuple[str, ...]) -> None:
        primitives = [make_primitive(name) for name in names]
        with refused(CIRCLE):
            BuildsOn.objects.bulk_create(
                [
                    BuildsOn(primitive=primitive, part=primitives[(place + 1) % len(primitives)])
                    for place, primitive in enumerate(primitives)
                ]
            )

    @pytest.mark.parametrize("names", [("docker", "runc"), ("docker", "containerd", "runc")])
    def test_a_longer_circle_is_refused_in_raw_sql(self, names: tuple[str, ...]) -> None:
        first, *_, last = chain(*names)
        with refused(CIRCLE + " on ".join([last.name, *names])):
            insert("primitives_buildson", primitive_id=last.pk, part_id=first.pk)

    def test_a_circle_made_by_an_update_is_refused(self) -> None:
        docker, containerd, _ = chain("docker", "containerd", "runc")
        with refused(CIRCLE + "containerd on docker on containerd"):
            containerd.parts.update(part=docker)
        with refused(CIRCLE):
            sql("UPDATE primitives_buildson SET part_id = %s WHERE primitive_id = %s", docker.pk, containerd.pk)

    def test_a_circle_made_by_turning_an_upper_end_is_refused(self) -> None:
        docker, containerd, runc = chain("docker", "containerd", "runc")
        with refused(CIRCLE):
            docker.parts.update(primitive=runc)
        assert set(BuildsOn.objects.values_list("primitive", "part")) == {
            (docker.pk, containerd.pk),
            (containerd.pk, runc.pk),
        }

    def test_the_message_names_the_circle_alone_and_its_shortest_way(self) -> None:
        docker, _, runc = chain("docker", "containerd", "runc")
        with accepted():
            docker.builds_on.add(runc, make_primitive("seccomp"))
            runc.builds_on.add(make_primitive("namespaces"))
        with refused(CIRCLE + "runc on docker on runc."):
            runc.builds_on.add(docker)

    def test_a_part_used_on_two_ways_is_no_circle(self) -> None:
        docker, containerd, runc = chain("docker", "containerd", "runc")
        with accepted():
            docker.builds_on.add(runc)
            make_primitive("podman", builds_on=(runc, containerd))

    def test_turning_round_what_builds_on_what_is_accepted_in_one_transaction(self) -> None:
        docker, runc = chain("docker", "runc")
        with accepted():
            runc.builds_on.add(docker)
            docker.builds_on.remove(runc)

    def test_a_row_that_is_gone_again_before_the_commit_is_no_part_of_a_circle(self) -> None:
        docker, runc = make_primitive("docker"), make_primitive("runc")
        with accepted():
            docker.builds_on.add(runc)
            docker.builds_on.remove(runc)
            runc.builds_on.add(docker)

    def test_swapping_both_ends_in_one_update_is_accepted(self) -> None:
        docker, runc = chain("docker", "runc")
        with accepted():
            sql("UPDATE primitives_buildson SET primitive_id = part_id, part_id = primitive_id")
        assert list(runc.builds_on.all()) == [docker]

    def test_a_part_stands_once(self) -> None:
        docker, runc = chain("docker", "runc")
        with refused("builds_on_once"):
            insert("primitives_buildson", primitive_id=docker.pk, part_id=runc.pk)

    def test_many_ways_down_are_not_all_walked(self) -> None:
        """Twenty layers of three, each on all three below, have three to the power of twenty ways through them."""
        layers = [[make_primitive(f"layer-{layer}-{place}") for place in range(3)] for layer in range(20)]
        with accepted():
            BuildsOn.objects.bulk_create(
                [
                    BuildsOn(primitive=upper, part=lower)
                    for above, below in pairwise(layers)
                    for upper in above
                    for lower in below
                ]
            )
        with refused(CIRCLE):
            layers[-1][0].builds_on.add(layers[0][0])


@pytest.mark.django_db(transaction=True)
class TestCircleAtCommit:
    def test_of_two_that_each_add_half_of_a_circle_one_is_refused(self) -> None:
        docker, runc = make_primitive("docker"), make_primitive("runc")
        outcomes = at_the_same_time(lambda: docker.builds_on.add(runc), lambda: runc.builds_on.add(docker))
        assert sorted(outcomes) == ["committed", "refused"]
        assert BuildsOn.objects.count() == 1

    def test_of_three_that_each_add_a_third_of_a_circle_one_is_refused(self) -> None:
        a, b, c = (make_primitive(name) for name in "abc")
        outcomes = at_the_same_time(lambda: a.builds_on.add(b), lambda: b.builds_on.add(c), lambda: c.builds_on.add(a))
        assert sorted(outcomes) == ["committed", "committed", "refused"]

    def test_a_circle_is_refused_at_commit_and_leaves_nothing(self) -> None:
        docker, runc = make_primitive("docker"), make_primitive("runc")
        with refused(CIRCLE, at_commit=True):
            docker.builds_on.add(runc)
            runc.builds_on.add(docker)
            assert BuildsOn.objects.count() == 2
        assert not BuildsOn.objects.exists()


# ---- rule 7: what is in use stays ----


class TestInUse:
    def test_a_category_in_use_is_not_deleted(self) -> None:
        category = make_primitive().category
        with pytest.raises(ProtectedError):
            category.delete()
        with pytest.raises(ProtectedError):
            Category.objects.filter(pk=category.pk).delete()
        with refused("primitives_primitive"):
            sql("DELETE FROM primitives_category WHERE id = %s", category.pk)

    def test_a_platform_in_use_is_not_deleted(self) -> None:
        platform = make_primitive(platforms=("linux",)).platforms.get()
        with pytest.raises(ProtectedError):
            platform.delete()
        with pytest.raises(ProtectedError):
            Platform.objects.filter(pk=platform.pk).delete()
        with refused("primitives_supportedplatform"):
            sql("DELETE FROM primitives_platform WHERE id = %s", platform.pk)

    def test_one_of_several_in_a_bulk_delete_is_enough_to_refuse_all(self) -> None:
        make_primitive()
        make_platform("beos")
        with pytest.raises(ProtectedError):
            Platform.objects.all().delete()
        with refused("primitives_supportedplatform"):
            sql("DELETE FROM primitives_platform")
        assert Platform.objects.filter(slug="beos").exists()

    def test_a_category_and_a_platform_that_nobody_uses_are_deleted(self) -> None:
        make_primitive()
        with accepted():
            make_category("unused").delete()
            make_platform("unused").delete()

    def test_a_deleted_entry_frees_them_and_takes_its_own_rows_along(self) -> None:
        primitive = make_primitive(builds_on=(make_primitive("part"),))
        make_primitive("whole", builds_on=(primitive,))
        make_break(primitive)
        with accepted():
            primitive.delete()
        assert not BuildsOn.objects.exists()
        assert not Break.objects.exists()


# ---- shapes ----


class TestEntryShape:
    @pytest.mark.parametrize(
        ("constraint", "fields"),
        [
            ("primitive_status_is_known", {"status": "alive"}),
            ("primitive_status_is_known", {"status": ""}),
            ("primitive_status_is_known", {"status": "Active"}),
            ("primitive_isolates_known_things", {"isolates": ["kernel", "feelings"]}),
            ("primitive_isolates_known_things", {"isolates": [""]}),
            ("primitive_isolates_known_things", {"isolates": [None]}),
            ("primitive_slug_is_an_address", {"slug": "gVisor"}),
            ("primitive_slug_is_an_address", {"slug": "g visor"}),
            ("primitive_slug_is_an_address", {"slug": ""}),
            ("primitive_homepage_is_https", {"homepage": "http://gvisor.dev/"}),
            ("primitive_repo_is_https", {"repo": "javascript:alert(1)"}),
            ("primitive_docs_is_https", {"docs": "gvisor.dev/docs"}),
        ],
    )
    def test_a_value_outside_the_rules_is_refused(self, constraint: str, fields: dict[str, Any]) -> None:
        with refused(constraint):
            make_primitive(**fields)
        primitive = make_primitive()
        with refused(constraint):
            Primitive.objects.filter(pk=primitive.pk).update(**fields)
        ((name, value),) = fields.items()
        with refused(constraint):
            sql(f"UPDATE primitives_primitive SET {name} = %s WHERE id = %s", value, primitive.pk)

    @pytest.mark.parametrize("fields", [{"slug": "taken"}, {"name": "Taken"}])
    def test_slug_and_name_are_taken_once(self, fields: dict[str, str]) -> None:
        make_primitive("taken", name="Taken")
        with refused("duplicate key"):
            make_primitive(**fields)

    def test_every_status_and_everything_that_can_be_isolated_is_accepted(self) -> None:
        with accepted():
            for status in Status:
                make_primitive(status=status, isolates=list(Isolates))
            make_primitive(isolates=[])

    @pytest.mark.parametrize("fields", [{"tier_id": None}, {"category_id": None}, {"summary": None}])
    def test_an_entry_has_a_tier_a_category_and_a_summary(self, fields: dict[str, None]) -> None:
        primitive = make_primitive()
        with refused("not-null"):
            Primitive.objects.filter(pk=primitive.pk).update(**fields)


class TestBreakShape:
    @pytest.mark.parametrize("url", ["http://nvd.nist.gov/", "", "nvd.nist.gov", "javascript:alert(1)"])
    def test_a_break_without_an_https_address_is_refused(self, url: str) -> None:
        primitive = make_primitive()
        with refused("break_url_is_https"):
            make_break(primitive, url=url)
        item = make_break(primitive)
        with refused("break_url_is_https"):
            sql("UPDATE primitives_break SET url = %s WHERE id = %s", url, item.pk)

    def test_a_break_stands_once_in_an_entry_and_may_stand_in_another(self) -> None:
        runc = make_primitive("runc")
        make_break(runc, "CVE-2019-5736")
        make_break(make_primitive("crun"), "CVE-2019-5736")
        with refused("break_once_in_primitive"):
            make_break(runc, "CVE-2019-5736")

    def test_a_year_is_a_number(self) -> None:
        item = make_break(make_primitive())
        with refused(error=DataError):
            sql("UPDATE primitives_break SET year = 'soon' WHERE id = %s", item.pk)
