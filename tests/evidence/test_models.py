"""Sources as links, and how fresh a claim is."""

import datetime

import pytest

from evidence.models import Claim, Freshness, Label, Source
from tests.factories import COMMIT, SOURCES, make_claim, make_primitive, make_tier

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
@pytest.mark.parametrize(
    ("age", "freshness"),
    [
        (-1, Freshness.FRESH),
        (0, Freshness.FRESH),
        (179, Freshness.FRESH),
        (180, Freshness.FRESH),
        (181, Freshness.DUE),
        (182, Freshness.DUE),
        (364, Freshness.DUE),
        (365, Freshness.DUE),
        (366, Freshness.STALE),
        (5000, Freshness.STALE),
    ],
)
def test_a_claim_and_the_query_agree_on_how_fresh_it_is(
    age: int, freshness: Freshness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.models.timezone.localdate", lambda: TODAY)
    claim = make_claim(as_of=TODAY - datetime.timedelta(days=age))
    assert claim.freshness == freshness
    found = [choice for choice in Freshness if Claim.objects.with_freshness(choice).filter(pk=claim.pk).exists()]
    assert found == [freshness]


@pytest.mark.django_db
def test_a_freshness_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="ripe"):
        Claim.objects.with_freshness("ripe")


@pytest.mark.django_db
def test_a_claim_has_its_place_on_the_page_of_its_subject() -> None:
    of_primitive = make_claim(make_primitive("gvisor"), slug="own-kernel")
    of_tier = make_claim(make_tier("microvm"), slug="own-kernel")
    assert of_primitive.get_absolute_url() == "/primitives/gvisor/#own-kernel"
    assert of_tier.get_absolute_url() == "/ladder/microvm/#own-kernel"


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
