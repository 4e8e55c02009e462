"""Sources as links, and how fresh a claim is."""

import datetime
import random
from collections import Counter
from typing import Any

import pytest
from django.utils import timezone

from evidence.models import Claim, Freshness, Kind, Label, Source, SourceKind
from evidence.templatetags.evidence import age, read
from tests.factories import (
    COMMIT,
    SOURCES,
    SUBJECTS,
    make_audit,
    make_claim,
    make_posture,
    make_primitive,
    make_source,
    make_tier,
)

TODAY = datetime.date(2026, 11, 30)
BLOB = f"https://github.com/google/gvisor/blob/{COMMIT}"


def code(path: str, lines: str = "12-30") -> Source:
    return Source(kind="code", **{**SOURCES["code"], "path": path, "lines": lines})


@pytest.mark.parametrize(
    ("source", "href"),
    [
        (code("pkg/sentry/kernel.go"), f"{BLOB}/pkg/sentry/kernel.go#L12-L30"),
        (code("pkg/sentry/kernel.go", "7"), f"{BLOB}/pkg/sentry/kernel.go#L7"),
        (code("README.md"), f"{BLOB}/README.md?plain=1#L12-L30"),
        (code("docs/GUIDE.MD"), f"{BLOB}/docs/GUIDE.MD?plain=1#L12-L30"),
        (code("docs/guide.rst"), f"{BLOB}/docs/guide.rst?plain=1#L12-L30"),
        (code("docs/readme.md.go"), f"{BLOB}/docs/readme.md.go#L12-L30"),
        (code("a b/c#d?e%f.go"), f"{BLOB}/a%20b/c%23d%3Fe%25f.go#L12-L30"),
        (code("é.go"), f"{BLOB}/%C3%A9.go#L12-L30"),
        (Source(kind="doc", url="https://gvisor.dev/docs/?a=b#c", title="Docs"), "https://gvisor.dev/docs/?a=b#c"),
        (Source(kind="package", **SOURCES["package"]), ""),
    ],
)
def test_a_source_leads_to_the_exact_lines_or_the_page(source: Source, href: str) -> None:
    assert source.href == href


def test_a_source_says_what_it_is() -> None:
    assert str(code("pkg/sentry/kernel.go")) == "google/gvisor@0123456 pkg/sentry/kernel.go:12-30"
    assert str(Source(kind="doc", **SOURCES["doc"])) == "What is gVisor?"
    assert str(Source(kind="package", **SOURCES["package"])) == "codex --help"


@pytest.mark.django_db
def test_a_claim_and_the_query_agree_on_how_fresh_it_is_by_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr("evidence.models.timezone.localdate", lambda: TODAY)
    assert set(settings.CLAIM_AGES) == set(Kind.values)
    settings.CLAIM_AGES = {"audit": (10, 20), "primitive": (100, 200), "tier": (1000, 2000)}
    for subject in (make_audit(), make_primitive(), make_tier()):
        due, stale = settings.CLAIM_AGES[SUBJECTS[type(subject)]]
        ages = {-1: "fresh", due: "fresh", due + 1: "due", stale: "due", stale + 1: "stale"}
        for days, freshness in ages.items():
            claim = make_claim(subject, as_of=TODAY - datetime.timedelta(days=days))
            assert claim.freshness == freshness
            found = [choice for choice in Freshness if Claim.objects.with_freshness(choice).filter(pk=claim.pk)]
            assert found == [freshness], (subject, days)


@pytest.mark.parametrize(
    ("days", "words"),
    [
        *((-3, "today"), (0, "today"), (1, "yesterday"), (2, "2 days ago"), (13, "13 days ago"), (14, "2 weeks ago")),
        *((59, "8 weeks ago"), (60, "2 months ago"), (365, "12 months ago"), (729, "24 months ago")),
        *((730, "2 years ago"), (6000, "16 years ago")),
    ],
)
def test_an_age_is_said_in_words_that_a_reader_would_use(days: int, words: str) -> None:
    assert age(TODAY - datetime.timedelta(days=days), TODAY) == words


def test_a_claim_grows_older_at_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Claim(as_of=TODAY, kind="primitive", version="v1.2")
    said = []
    for days in (0, 1, 0):
        monkeypatch.setattr(timezone, "localdate", lambda days=days: TODAY + datetime.timedelta(days=days))
        said.append(read(claim).partition("</time>, ")[2])
    assert said == ["today; v1.2</p>", "yesterday; v1.2</p>", "today; v1.2</p>"]


@pytest.mark.django_db
def test_of_what_is_due_and_stale_that_comes_first_which_most_is_built_on(settings: Any) -> None:
    settings.CLAIM_AGES = dict.fromkeys(Kind.values, (10, 20))

    def days_ago(days: int) -> dict[str, Any]:
        return {"as_of": timezone.localdate() - datetime.timedelta(days=days)}

    boxed, audit = make_primitive("boxed"), make_audit(postures=[])
    make_claim(boxed, slug="fresh", **days_ago(5))
    make_claim(make_primitive(), slug="stale-and-nothing-on-it", **days_ago(50))
    make_claim(make_primitive(), slug="older-and-nothing-on-it", **days_ago(60))
    make_claim(boxed, slug="stale-and-stood-on", **days_ago(30))
    make_claim(boxed, slug="due-and-stood-on", **days_ago(15))
    on_default = make_claim(audit, slug="due-and-a-default-rests-on-it", **days_ago(12))
    on_mode = make_claim(audit, slug="due-and-a-mode-rests-on-it", **days_ago(19))
    make_posture(audit, "container", claims=[on_default], primitives=(boxed,))
    make_posture(audit, "container", claims=[on_mode], primitives=(boxed,), is_default=False, mode="raised")
    worst = Claim.objects.worst_first()
    assert [(claim.slug, claim.built_on_it) for claim in worst] == [
        ("due-and-a-default-rests-on-it", 1),
        ("stale-and-stood-on", 2),
        ("older-and-nothing-on-it", 0),
        ("stale-and-nothing-on-it", 0),
        ("due-and-stood-on", 2),
        ("due-and-a-mode-rests-on-it", 1),
    ]


@pytest.mark.django_db
def test_a_freshness_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="ripe"):
        Claim.objects.with_freshness("ripe")


@pytest.mark.django_db
def test_a_claim_has_its_place_on_the_page_of_its_subject() -> None:
    of_primitive = make_claim(make_primitive("gvisor"), slug="own-kernel")
    of_tier = make_claim(make_tier("microvm"), slug="own-kernel")
    assert of_primitive.get_place_url() == "/primitives/gvisor/#own-kernel"
    assert of_tier.get_place_url() == "/ladder/microvm/#own-kernel"


@pytest.mark.django_db
def test_a_source_says_where_it_is() -> None:
    claim = make_claim(sources=[])
    for place, fields in [
        ("github.com/google/gvisor", {"kind": "code", "repo": "Google/gVisor"}),
        ("github.com/openai/codex", {"kind": "doc", "url": "https://github.com/openai/Codex/blob/main/a.md"}),
        ("github.com", {"kind": "doc", "url": "https://github.com/openai"}),
        ("docs.docker.com", {"kind": "doc", "url": "https://docs.Docker.com?a=b"}),
        ("pkg:npm", {"kind": "package"}),
    ]:
        assert make_source(claim, **fields).place == place
    assert Source.objects.filter(place__isnull=True).count() == 0


@pytest.mark.django_db
def test_claims_stand_as_their_authors_ordered_them() -> None:
    primitive = make_primitive()
    last, second, first = (make_claim(primitive, position=position) for position in (9, 2, 1))
    tied = make_claim(primitive, position=2)
    assert list(primitive.claims.in_reading_order()) == [first, second, tied, last]


@pytest.mark.django_db
def test_labels_are_counted_best_first_and_all_four() -> None:
    make_claim(label=Label.INFERRED)
    make_claim(label=Label.INFERRED)
    make_claim(label=Label.VERIFIED_CODE)
    assert Claim.objects.numbers_by_label() == [
        (Label.VERIFIED_CODE, 1),
        (Label.DOCUMENTED, 0),
        (Label.INFERRED, 2),
        (Label.UNDISCLOSED, 0),
    ]


@pytest.mark.django_db
def test_what_is_counted_of_all_is_what_is_published() -> None:
    """Drafts of every kind, and claims about drafts, are in no number."""
    audits = make_audit(), make_audit(is_published=False)
    subjects = [make_primitive(), make_primitive(is_published=False), make_tier(), *audits]
    kinds = [SourceKind.CODE, SourceKind.DOC, SourceKind.PACKAGE]
    chance = random.Random(4)
    for _ in range(80):
        make_claim(
            chance.choice(subjects),
            chance.choice([Label.VERIFIED_CODE, Label.DOCUMENTED, Label.INFERRED]),
            as_of=timezone.localdate() - datetime.timedelta(days=chance.randrange(900)),
            is_published=chance.random() < 0.7,
        )
    for claim in Claim.objects.all():
        for kind in chance.sample(kinds, 2):
            make_source(claim, kind)
    public = list(Claim.objects.published())
    assert 0 < len(public) < Claim.objects.filter(is_published=True).count()
    assert dict(Claim.objects.numbers_by_label()) == dict.fromkeys(Label, 0) | Counter(claim.label for claim in public)
    assert Claim.objects.numbers_by_freshness() == Counter(claim.freshness.value for claim in public)
    numbers = Claim.objects.numbers_by_kind_and_label()
    assert {(kind, label): n for kind, of in numbers.items() for label, n in of.items()} == Counter(
        (claim.kind, claim.label) for claim in public
    )
    sources = Source.objects.filter(claim__in=public)
    assert Source.objects.numbers_by_kind() == Counter(source.kind for source in sources)


@pytest.mark.django_db
def test_an_example_of_a_label_is_the_shortest_that_says_enough_and_is_published() -> None:
    """The same as looking at all of them."""
    entries = [make_primitive(), make_primitive(is_published=False)]
    chance = random.Random(5)
    for number in range(60):
        sentence = f"Number {number} says {'a' * chance.randrange(40, 90)}."
        label = chance.choice([Label.DOCUMENTED, Label.INFERRED])
        make_claim(chance.choice(entries), label, sentence=sentence, is_published=chance.random() < 0.7)
    make_claim(make_tier(), Label.VERIFIED_CODE, sentence="a" * 70)
    told = [claim for claim in Claim.objects.published() if claim.primitive and len(claim.sentence) >= 70]
    shortest = {label: [claim for claim in told if claim.label == label] for label in Label}
    assert Claim.objects.published().one_of_each_label() == [
        min(claims, key=lambda claim: (len(claim.sentence), claim.pk)) for claims in shortest.values() if claims
    ]
