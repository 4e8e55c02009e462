"""Rules 1 and 2 of DESIGN.md, and the shape of claims and sources: whoever writes, Postgres refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DataError, transaction

from evidence.models import Aspect, Claim, Label, Source, SourceKind
from tests.factories import BORNE_OUT_BY, SOURCES, make_audit, make_claim, make_primitive, make_source, make_tier
from tests.races import at_the_same_time
from tests.sql import accepted, insert, refused, sql

pytestmark = pytest.mark.django_db

LABELS = list(Label)
SUBJECTS: dict[Callable[[], Any], str] = {make_tier: "tier", make_primitive: "primitive"}
CLAIM = {"aspect": "boundary", "sentence": "It does.", "label": "inferred", "reasoning": "So.", "as_of": "2026-08-21"}


def insert_claim(**values: Any) -> None:
    empty = {"slug": "raw", "version": "", "looked": "", "says_how_to_check": False, "position": 1}
    insert("evidence_claim", **{**empty, **CLAIM, **values})


def insert_source(claim: Claim, **values: Any) -> None:
    empty = dict.fromkeys(("repo", "commit", "path", "lines", "url", "title", "purl"), "")
    insert("evidence_source", **{"claim_id": claim.pk, "position": 1, **empty, **values})


# ---- rule 1: exactly one subject ----


class TestSubject:
    def test_no_subject_is_refused_through_the_orm(self) -> None:
        with refused("claim_has_one_subject"):
            Claim.objects.create(slug="a", **CLAIM)

    def test_two_subjects_are_refused_through_the_orm(self) -> None:
        with refused("claim_has_one_subject"):
            Claim.objects.create(slug="a", tier=make_tier(), primitive=make_primitive(), **CLAIM)

    def test_no_subject_is_refused_in_bulk(self) -> None:
        primitive = make_primitive()
        with refused("claim_has_one_subject"):
            Claim.objects.bulk_create([Claim(slug="a", primitive=primitive, **CLAIM), Claim(slug="b", **CLAIM)])

    def test_a_second_subject_is_refused_by_a_bulk_update(self) -> None:
        claim = make_claim()
        with refused("claim_has_one_subject"):
            Claim.objects.filter(pk=claim.pk).update(tier=make_tier())

    def test_the_only_subject_is_not_taken_away_by_a_bulk_update(self) -> None:
        claim = make_claim()
        with refused("claim_has_one_subject"):
            Claim.objects.filter(pk=claim.pk).update(primitive=None)

    def test_no_subject_is_refused_in_raw_sql(self) -> None:
        with refused("claim_has_one_subject"):
            insert_claim(tier_id=None, primitive_id=None)

    def test_two_subjects_are_refused_in_raw_sql(self) -> None:
        with refused("claim_has_one_subject"):
            insert_claim(tier_id=make_tier().pk, primitive_id=make_primitive().pk)

    def test_a_form_says_it_in_words(self) -> None:
        with pytest.raises(ValidationError, match="exactly one subject"):
            Claim(slug="a", **CLAIM).full_clean()

    def test_a_claim_changes_its_subject_in_one_statement(self) -> None:
        claim = make_claim()
        with accepted():
            Claim.objects.filter(pk=claim.pk).update(primitive=None, tier=make_tier())

    @pytest.mark.parametrize("make_subject", [make_tier, make_primitive])
    def test_one_slug_names_one_claim_of_a_subject(self, make_subject: Callable[[], Any]) -> None:
        subject = make_subject()
        make_claim(subject, slug="same")
        with refused("claim_slug_unique"):
            make_claim(subject, slug="same")

    def test_two_subjects_may_use_the_same_slug(self) -> None:
        make_claim(make_primitive(), slug="same")
        make_claim(make_primitive(), slug="same")
        make_claim(make_tier(), slug="same")

    @pytest.mark.parametrize("make_subject", [make_tier, make_primitive])
    def test_only_a_claim_about_an_audit_says_how_to_check(self, make_subject: Callable[[], Any]) -> None:
        rule = "claim_of_an_audit_says_how_to_check"
        with refused(rule):
            make_claim(make_subject(), says_how_to_check=True)
        with refused(rule):
            Claim.objects.filter(pk=make_claim(make_subject()).pk).update(says_how_to_check=True)
        with refused(rule):
            insert_claim(tier_id=make_tier().pk, says_how_to_check=True)
        claim = make_claim(make_audit(), says_how_to_check=True)
        with refused(rule):
            Claim.objects.filter(pk=claim.pk).update(audit=None, **{SUBJECTS[make_subject]: make_subject()})
        with pytest.raises(ValidationError, match="how to check"):
            Claim(slug="a", primitive=make_primitive(), says_how_to_check=True, **CLAIM).full_clean()

    def test_claims_go_with_their_subject(self) -> None:
        claim = make_claim()
        with accepted():
            claim.primitive.delete()
        assert not Claim.objects.filter(pk=claim.pk).exists()


# ---- rule 2: what a label must carry ----


NEEDS = {
    Label.VERIFIED_CODE: "verified-code needs a code source",
    Label.DOCUMENTED: "documented needs a document",
    Label.INFERRED: "inferred needs its reasoning",
    Label.UNDISCLOSED: "undisclosed needs where it was looked for, and a source",
}
# Label, fields and kinds of sources that don't bear it out.
NOT_ENOUGH: list[Any] = [
    pytest.param(Label.VERIFIED_CODE, {}, [], id="verified-code without a source"),
    pytest.param(Label.VERIFIED_CODE, {}, ["doc", "package"], id="verified-code without code"),
    pytest.param(Label.VERIFIED_CODE, {"reasoning": "So.", "looked": "There."}, ["doc"], id="verified-code with words"),
    pytest.param(Label.DOCUMENTED, {}, [], id="documented without a source"),
    pytest.param(Label.DOCUMENTED, {}, ["code"], id="documented by code"),
    pytest.param(Label.INFERRED, {}, ["code", "doc"], id="inferred without reasoning"),
    pytest.param(Label.INFERRED, {"reasoning": " \n\t"}, ["doc"], id="inferred by blanks"),
    pytest.param(Label.UNDISCLOSED, {"looked": "Everywhere."}, [], id="undisclosed without a source"),
    pytest.param(Label.UNDISCLOSED, {}, ["doc"], id="undisclosed without where it was looked for"),
    pytest.param(Label.UNDISCLOSED, {"looked": "  "}, ["doc"], id="undisclosed with blanks"),
    pytest.param(Label.UNDISCLOSED, {"reasoning": "So."}, ["doc"], id="undisclosed with a reasoning"),
]
ENOUGH: list[Any] = [
    (Label.VERIFIED_CODE, {}, ["code"]),
    (Label.VERIFIED_CODE, {}, ["doc", "code"]),
    (Label.DOCUMENTED, {}, ["doc"]),
    (Label.DOCUMENTED, {}, ["package"]),
    (Label.DOCUMENTED, {}, ["code", "package"]),
    (Label.INFERRED, {"reasoning": "So."}, []),
    (Label.UNDISCLOSED, {"looked": "There."}, ["code"]),
    (Label.UNDISCLOSED, {"looked": "There."}, ["package"]),
]
EMPTY = {"reasoning": "", "looked": ""}


class TestLabel:
    @pytest.mark.parametrize(("label", "fields", "kinds"), NOT_ENOUGH)
    def test_it_is_refused_through_the_orm(self, label: Label, fields: dict[str, str], kinds: list[str]) -> None:
        with refused("Claim too-little: ", NEEDS[label]):
            make_claim(label=label, slug="too-little", sources=kinds, **{**EMPTY, **fields})

    @pytest.mark.parametrize(("label", "fields", "kinds"), NOT_ENOUGH)
    def test_it_is_refused_in_bulk(self, label: Label, fields: dict[str, str], kinds: list[str]) -> None:
        primitive = make_primitive()
        good = Claim(primitive=primitive, slug="good", **CLAIM)
        bad = Claim(primitive=primitive, slug="bad", **{**CLAIM, **EMPTY, "label": label, **fields})
        with refused("Claim bad: ", NEEDS[label]):
            Claim.objects.bulk_create([good, bad])
            Source.objects.bulk_create([Source(claim=bad, kind=kind, **SOURCES[kind]) for kind in kinds])

    @pytest.mark.parametrize(("label", "fields", "kinds"), NOT_ENOUGH)
    def test_it_is_refused_in_raw_sql(self, label: Label, fields: dict[str, str], kinds: list[str]) -> None:
        primitive = make_primitive()
        with refused("Claim raw: ", NEEDS[label]):
            insert_claim(primitive_id=primitive.pk, **{**EMPTY, "label": label, **fields})
            for kind in kinds:
                insert_source(Claim.objects.get(slug="raw"), kind=kind, **SOURCES[kind])

    @pytest.mark.parametrize(("label", "fields", "kinds"), ENOUGH)
    def test_what_bears_it_out_is_accepted(self, label: Label, fields: dict[str, str], kinds: list[str]) -> None:
        with accepted():
            make_claim(label=label, sources=kinds, **{**EMPTY, **fields})

    def test_sources_may_be_written_before_their_claim(self) -> None:
        primitive = make_primitive()
        with accepted():
            insert_source(Claim(pk=4711), kind="code", **SOURCES["code"])
            insert_claim(id=4711, primitive_id=primitive.pk, label="verified-code", reasoning="")
        assert Claim.objects.get(pk=4711).sources.count() == 1

    @pytest.mark.parametrize(
        ("old", "new"), [(old, new) for old in LABELS for new in LABELS if old != new], ids=lambda label: label.value
    )
    def test_a_bulk_update_cannot_raise_or_lower_it_without_what_it_needs(self, old: Label, new: Label) -> None:
        claim = make_claim(label=old)
        if (old, new) == (Label.UNDISCLOSED, Label.DOCUMENTED):
            Source.objects.filter(claim=claim).update(kind="code", title="", url="", **SOURCES["code"])
        with refused(NEEDS[new]):
            Claim.objects.filter(pk=claim.pk).update(label=new)

    @pytest.mark.parametrize("label", [Label.VERIFIED_CODE, Label.DOCUMENTED, Label.UNDISCLOSED])
    def test_its_only_source_cannot_be_deleted(self, label: Label) -> None:
        claim = make_claim(label=label)
        with accepted():
            pass
        with refused(NEEDS[label]):
            claim.sources.all().delete()
        with refused(NEEDS[label]):
            claim.sources.get().delete()
        with refused(NEEDS[label]):
            sql("DELETE FROM evidence_source WHERE claim_id = %s", claim.pk)

    def test_one_of_two_sources_can_be_deleted(self) -> None:
        claim = make_claim(label=Label.VERIFIED_CODE, sources=["code", "code"])
        with accepted():
            claim.sources.first().delete()

    def test_its_source_can_be_exchanged_in_one_transaction(self) -> None:
        claim = make_claim(label=Label.VERIFIED_CODE)
        with accepted():
            claim.sources.all().delete()
            make_source(claim, SourceKind.CODE)

    @pytest.mark.parametrize("label", [Label.VERIFIED_CODE, Label.DOCUMENTED, Label.UNDISCLOSED])
    def test_its_only_source_cannot_be_moved_to_another_claim(self, label: Label) -> None:
        claim, other = make_claim(label=label, slug="robbed"), make_claim()
        with refused("Claim robbed: ", NEEDS[label]):
            claim.sources.update(claim=other)
        with refused("Claim robbed: ", NEEDS[label]):
            sql("UPDATE evidence_source SET claim_id = %s WHERE claim_id = %s", other.pk, claim.pk)

    def test_its_only_source_cannot_become_one_of_another_kind(self) -> None:
        claim = make_claim(label=Label.VERIFIED_CODE)
        nothing = dict.fromkeys(("repo", "commit", "path", "lines"), "")
        with refused(NEEDS[Label.VERIFIED_CODE]):
            claim.sources.update(kind="doc", **nothing, **SOURCES["doc"])
        source = claim.sources.get()
        source.kind = SourceKind.DOC
        for name, value in {**nothing, **SOURCES["doc"]}.items():
            setattr(source, name, value)
        with refused(NEEDS[Label.VERIFIED_CODE]):
            source.save()

    @pytest.mark.parametrize(("label", "field"), [(Label.INFERRED, "reasoning"), (Label.UNDISCLOSED, "looked")])
    def test_its_words_cannot_be_taken_away(self, label: Label, field: str) -> None:
        claim = make_claim(label=label)
        with refused(NEEDS[label]):
            sql(f"UPDATE evidence_claim SET {field} = '' WHERE id = %s", claim.pk)
        with refused(NEEDS[label]):
            Claim.objects.filter(pk=claim.pk).update(**{field: "  "})
        setattr(claim, field, "")
        with refused(NEEDS[label]):
            Claim.objects.bulk_update([claim], [field])

    def test_deleting_a_claim_with_its_sources_is_accepted(self) -> None:
        claim = make_claim(label=Label.VERIFIED_CODE)
        with accepted():
            claim.delete()


# ---- at commit, for real ----


@pytest.mark.django_db(transaction=True)
class TestCommit:
    def test_a_claim_without_its_source_is_refused_at_commit_and_leaves_nothing(self) -> None:
        primitive = make_primitive()
        with refused("verified-code needs a code source", at_commit=True):
            make_claim(primitive, label=Label.VERIFIED_CODE, sources=[])
            assert primitive.claims.count() == 1
        assert primitive.claims.count() == 0

    def test_the_last_source_is_not_deleted_outside_a_transaction(self) -> None:
        with transaction.atomic():
            claim = make_claim(label=Label.VERIFIED_CODE)
        with refused("verified-code needs a code source", at_commit=True):
            sql("DELETE FROM evidence_source WHERE claim_id = %s", claim.pk)
        assert claim.sources.count() == 1

    def test_of_two_that_each_delete_one_of_two_sources_one_is_refused(self) -> None:
        with transaction.atomic():
            claim = make_claim(label=Label.VERIFIED_CODE, sources=["code", "code"])
        outcomes = at_the_same_time(*[source.delete for source in claim.sources.all()])
        assert sorted(outcomes) == ["committed", "refused"]
        assert claim.sources.count() == 1

    def test_of_one_that_takes_the_source_and_one_that_raises_the_label_one_is_refused(self) -> None:
        with transaction.atomic():
            claim = make_claim(label=Label.INFERRED, sources=["code"])
        outcomes = at_the_same_time(
            claim.sources.get().delete, lambda: Claim.objects.filter(pk=claim.pk).update(label=Label.VERIFIED_CODE)
        )
        assert sorted(outcomes) == ["committed", "refused"]
        assert (claim.sources.count() == 1) == (Claim.objects.get(pk=claim.pk).label == Label.VERIFIED_CODE)


# ---- shapes ----


CODE, DOC, PACKAGE = (SOURCES[kind] for kind in ("code", "doc", "package"))
MISSHAPEN: list[Any] = [
    pytest.param("code", {**CODE, "lines": ""}, id="code without lines"),
    pytest.param("code", {**CODE, "lines": "all"}, id="code with lines that are no number"),
    pytest.param("code", {**CODE, "lines": "L12-L30"}, id="code with lines as an anchor"),
    pytest.param("code", {**CODE, "lines": "12-"}, id="code with half a range"),
    pytest.param("code", {**CODE, "commit": CODE["commit"][:39]}, id="code with a commit of 39 digits"),
    pytest.param("code", {**CODE, "commit": CODE["commit"].upper()}, id="code with a commit in capitals"),
    pytest.param("code", {**CODE, "commit": "main"}, id="code with a branch for a commit"),
    pytest.param("code", {**CODE, "commit": ""}, id="code without a commit"),
    pytest.param("code", {**CODE, "repo": ""}, id="code without a repo"),
    pytest.param("code", {**CODE, "repo": "gvisor"}, id="code with a repo without an owner"),
    pytest.param("code", {**CODE, "repo": "https://github.com/google/gvisor"}, id="code with a URL for a repo"),
    pytest.param("code", {**CODE, "path": ""}, id="code without a path"),
    pytest.param("code", {**CODE, "path": "  "}, id="code with a blank path"),
    pytest.param("code", {**CODE, "url": "https://gvisor.dev/"}, id="code with a URL"),
    pytest.param("code", {**CODE, "title": "Sentry"}, id="code with a title"),
    pytest.param("code", {**CODE, "purl": PACKAGE["purl"]}, id="code with a purl"),
    pytest.param("doc", {**DOC, "url": "http://gvisor.dev/"}, id="document over http"),
    pytest.param("doc", {**DOC, "url": "gvisor.dev"}, id="document without a scheme"),
    pytest.param("doc", {**DOC, "url": "https:///docs"}, id="document without a host"),
    pytest.param("doc", {**DOC, "url": "javascript:alert(1)"}, id="document as a script"),
    pytest.param("doc", {**DOC, "url": "see https://gvisor.dev/"}, id="document with words before the URL"),
    pytest.param("doc", {**DOC, "url": ""}, id="document without a URL"),
    pytest.param("doc", {**DOC, "title": ""}, id="document without a title"),
    pytest.param("doc", {**DOC, "lines": "12"}, id="document with lines"),
    pytest.param("doc", {**DOC, "repo": CODE["repo"]}, id="document with a repo"),
    pytest.param("doc", {**DOC, "purl": PACKAGE["purl"]}, id="document with a purl"),
    pytest.param("package", {**PACKAGE, "purl": "pkg:codex"}, id="package without a type"),
    pytest.param("package", {**PACKAGE, "purl": "npm/codex@1"}, id="package without its scheme"),
    pytest.param("package", {**PACKAGE, "purl": "pkg:npm/a b"}, id="package with a blank"),
    pytest.param("package", {**PACKAGE, "purl": ""}, id="package without a purl"),
    pytest.param("package", {**PACKAGE, "title": ""}, id="package without a title"),
    pytest.param("package", {**PACKAGE, "url": "https://example.com/"}, id="package with a URL"),
    pytest.param("rumour", DOC, id="a kind that there is not"),
    pytest.param("", DOC, id="no kind"),
]


class TestSourceShape:
    @pytest.mark.parametrize(("kind", "fields"), MISSHAPEN)
    def test_another_shape_is_refused_in_raw_sql(self, kind: str, fields: dict[str, str]) -> None:
        claim = make_claim(label=Label.INFERRED)
        with refused("source_has_the_shape_of_its_kind"):
            insert_source(claim, kind=kind, **fields)

    @pytest.mark.parametrize(("kind", "fields"), MISSHAPEN)
    def test_another_shape_is_refused_in_bulk(self, kind: str, fields: dict[str, str]) -> None:
        claim = make_claim(label=Label.INFERRED)
        with refused("source_has_the_shape_of_its_kind"):
            Source.objects.bulk_create([Source(claim=claim, kind=kind, **fields)])

    @pytest.mark.parametrize("kind", list(SourceKind))
    def test_a_shape_cannot_be_broken_by_an_update(self, kind: str) -> None:
        claim = make_claim(label=Label.INFERRED, sources=[kind])
        other = next(other for other in SourceKind if other != kind)
        with refused("source_has_the_shape_of_its_kind"):
            claim.sources.update(kind=other)

    @pytest.mark.parametrize("kind", list(SourceKind))
    def test_the_right_shape_is_accepted(self, kind: str) -> None:
        claim = make_claim(label=Label.INFERRED)
        with accepted():
            insert_source(claim, kind=kind, **SOURCES[kind])


class TestClaimShape:
    @pytest.mark.parametrize(
        ("constraint", "fields"),
        [
            ("claim_label_is_known", {"label": "rumour"}),
            ("claim_label_is_known", {"label": ""}),
            ("claim_label_is_known", {"label": "Verified-Code"}),
            ("claim_aspect_is_known", {"aspect": "colour"}),
            ("claim_aspect_is_known", {"aspect": "Boundary"}),
            ("claim_has_a_sentence", {"sentence": ""}),
            ("claim_has_a_sentence", {"sentence": " \n "}),
            ("claim_slug_is_an_address", {"slug": ""}),
            ("claim_slug_is_an_address", {"slug": "Own-Kernel"}),
            ("claim_slug_is_an_address", {"slug": "own--kernel"}),
            ("claim_slug_is_an_address", {"slug": "own_kernel"}),
            ("claim_slug_is_an_address", {"slug": "own-kernel\n"}),
            ("claim_slug_is_an_address", {"slug": "own-kernel#x"}),
        ],
    )
    def test_a_value_outside_the_rules_is_refused(self, constraint: str, fields: dict[str, str]) -> None:
        primitive = make_primitive()
        with refused(constraint):
            insert_claim(primitive_id=primitive.pk, **fields)
        claim = make_claim(primitive, label=Label.INFERRED)
        with refused(constraint):
            Claim.objects.filter(pk=claim.pk).update(**fields)

    @pytest.mark.parametrize("fields", [{"as_of": "soon"}, {"as_of": "2026-02-30"}, {"slug": "a" * 61}])
    def test_a_value_of_the_wrong_type_is_refused(self, fields: dict[str, str]) -> None:
        primitive = make_primitive()
        with refused(error=DataError):
            insert_claim(primitive_id=primitive.pk, **fields)

    @pytest.mark.parametrize("aspect", list(Aspect))
    def test_every_aspect_is_accepted(self, aspect: str) -> None:
        with accepted():
            make_claim(aspect=aspect)

    @pytest.mark.parametrize("label", LABELS)
    def test_every_label_has_a_meaning_for_readers(self, label: Label) -> None:
        assert label.meaning.endswith(".")
        assert set(BORNE_OUT_BY) == set(LABELS)
