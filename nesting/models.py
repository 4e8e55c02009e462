"""Whether a sandbox runs inside an environment, and what the errors mean that it prints where it does not."""

from typing import TYPE_CHECKING, Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVector
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Func, Prefetch, Q, Value
from django.db.models.functions import Concat
from django.db.models.lookups import Exact
from django.urls import reverse

from evidence.addresses import claims_follow
from evidence.models import SLUG, Claim
from evidence.search import SEARCH_COLUMNS, SearchDocument, SearchedQuerySet, best_ranked
from history.tracking import Tracking, tracked
from nesting import rules, search
from nesting.patterns import find, matched_by, validate_pattern

if TYPE_CHECKING:
    from primitives.models import Primitive

# Below this closeness (trigrams) an error is not what was meant.
NEAR = 0.45


def slug_field(help_text: str) -> "models.CharField[str, str]":
    """A permanent address."""
    return models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(SLUG, "Use lower-case letters, digits and single hyphens.")],
        help_text=f"{help_text} Never change it.",
    )


def written(model: str, *fields: str) -> list[models.CheckConstraint]:
    """That these fields of a model are not blank."""
    return [
        models.CheckConstraint(
            name=f"{model}_{field}_is_written",
            condition=Q((f"{field}__regex", r"\S")),
            violation_error_message=f"The {field.replace('_', ' ')} cannot be blank.",
        )
        for field in fields
    ]


@tracked(Tracking(kind="frame", quiet=("position",)))
class Environment(models.Model):
    """Where somebody is and wants to run a sandbox: a machine, a container, a pod, a CI runner."""

    slug = slug_field("The environment's address.")
    name = models.CharField(max_length=60, unique=True)
    place = models.CharField(
        max_length=120, help_text="With its preposition, as it ends a sentence: in a Docker container as it comes."
    )
    summary = models.TextField(help_text="One plain sentence: what is meant, and what is not.")
    position = models.PositiveSmallIntegerField(default=100, help_text="Place in lists, low first.")

    class Meta:
        ordering = ["position", "name"]
        constraints = [
            models.CheckConstraint(name="environment_slug_is_an_address", condition=Q(slug__regex=SLUG)),
            *written("environment", "place"),
        ]
        triggers = [claims_follow("cell_id IN (SELECT id FROM nesting_cell WHERE outer_id = NEW.id)", "slug")]

    def __str__(self) -> str:
        return self.name


@tracked(Tracking(quiet=("position",)))
class Inner(models.Model):
    """A sandbox that somebody wants to run inside an environment: one or more primitives of the reference."""

    slug = slug_field("The sandbox's address.")
    name = models.CharField(max_length=60, unique=True)
    summary = models.TextField(help_text="One plain sentence: what is started there.")
    primitives = models.ManyToManyField(
        "primitives.Primitive",
        through="InnerPrimitive",
        related_name="inners",
        help_text="The entries of the reference that it is.",
    )
    position = models.PositiveSmallIntegerField(default=100, help_text="Place in lists, low first.")

    class Meta:
        ordering = ["position", "name"]
        verbose_name = "inner sandbox"
        verbose_name_plural = "inner sandboxes"
        constraints = [models.CheckConstraint(name="inner_slug_is_an_address", condition=Q(slug__regex=SLUG))]
        triggers = [claims_follow("cell_id IN (SELECT id FROM nesting_cell WHERE inner_id = NEW.id)", "slug")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("inner", args=[self.slug])


@tracked(Tracking(owners=("inner",), is_part=True))
class InnerPrimitive(models.Model):
    """An inner sandbox is a primitive of the reference."""

    inner = models.ForeignKey(Inner, models.CASCADE)
    primitive = models.ForeignKey("primitives.Primitive", models.CASCADE)

    class Meta:
        verbose_name = "primitive"
        constraints = [models.UniqueConstraint(fields=["inner", "primitive"], name="inner_primitive_once")]

    def __str__(self) -> str:
        return f"{self.inner} is {self.primitive}"


class Result(models.TextChoices):
    """Whether a sandbox runs in an environment, best first."""

    WORKS = "works", "works"
    NEEDS_SETTING = "needs-setting", "needs a setting"
    FAILS = "fails", "fails"
    UNKNOWN = "unknown", "unknown"


def answered_by() -> list[Any]:
    """What to prefetch of a cell or an error text for an answer: fixes, and public claims with sources."""
    return ["fixes", Prefetch("claims", Claim.objects.no_drafts().in_reading_order())]


class CellQuerySet(models.QuerySet["Cell"]):
    """Questions about cells."""

    def named(self) -> "CellQuerySet":
        """With all that names them."""
        return self.select_related("inner", "outer")

    def labelled(self) -> "CellQuerySet":
        """Each with its `label`, that of the first claim that it stands on."""
        first = Claim.objects.no_drafts().filter(cell=models.OuterRef("pk")).order_by("position", "pk")
        return self.annotate(label=models.Subquery(first.values("label")[:1]))

    def of_primitives(self, pks: list[int], primitive: "Primitive") -> "CellQuerySet":
        """Those of sandboxes that are one of these primitives; each with `is_own`: whether its sandbox is that one."""
        sandboxes = InnerPrimitive.objects.filter(inner=models.OuterRef("inner"))
        found = self.filter(models.Exists(sandboxes.filter(primitive__in=pks))).named()
        return found.annotate(is_own=models.Exists(sandboxes.filter(primitive=primitive)))

    def for_answer(self) -> "CellQuerySet":
        """With all that an answer shows (four queries)."""
        return self.named().prefetch_related(*answered_by())

    def that_print(self, errors: "list[ErrorText]") -> "dict[int, list[Cell]]":
        """Of each of these errors, by its id, the cells in which it is printed (one query, and none for no errors)."""
        cells: dict[int, list[Cell]] = {error.pk: [] for error in errors}
        patterns = tuple(error.pattern for error in errors)
        for cell in self.exclude(error_lines=[]).named() if errors else ():
            for place in sorted(matched_by(patterns, cell.error_lines)):
                cells[errors[place].pk].append(cell)
        return cells

    def search(self, text: str) -> "CellQuerySet":
        """Those in whose names, cause or error lines the words of `text` are, the one meant first, with their `rank`.

        There are as many as sandboxes times environments: they need no columns for it.
        """
        text_field = models.TextField()
        spaced = (each for name in ("inner__name", "outer__name", "outer__place") for each in (F(name), Value(" ")))
        named = Func(Concat(*spaced, output_field=text_field), function="search_words", output_field=text_field)
        errors = Func(F("error_lines"), Value(" "), function="array_to_string", output_field=text_field)
        said = Func(
            Concat("cause", Value(" "), errors, output_field=text_field),
            function="search_words",
            output_field=text_field,
        )
        vector = SearchVector(named, config="english", weight="A") + SearchVector(said, config="english", weight="C")
        return best_ranked(self, vector, text)

    def numbers_by_result(self) -> list[tuple[Result, int]]:
        """How many cells have each result, best first (one query)."""
        numbers = dict(self.order_by().values_list("result").annotate(number=models.Count("pk")))
        return [(result, numbers.get(result.value, 0)) for result in Result]


@tracked(Tracking(owners=("inner",), named_by="outer", says="cause"))
class Cell(models.Model):
    """A sandbox in an environment, looked at. A combination that nobody looked at has no cell."""

    inner = models.ForeignKey(Inner, models.CASCADE, related_name="cells")
    outer = models.ForeignKey(Environment, models.PROTECT, related_name="cells")
    result = models.CharField(max_length=20, choices=Result.choices)
    error_lines = ArrayField(
        models.TextField(), default=list, blank=True, help_text="What it prints, the exact lines, the commonest first."
    )
    cause = models.TextField(help_text="Why it is so, in one sentence.")

    objects = CellQuerySet.as_manager()

    class Meta:
        ordering = ["inner__position", "inner__name", "outer__position", "outer__name"]
        constraints = [
            models.UniqueConstraint(
                fields=["inner", "outer"],
                name="cell_once",
                violation_error_message="There is a cell for this sandbox in this environment already.",
            ),
            models.CheckConstraint(name="cell_result_is_known", condition=Q(result__in=Result.values)),
            *written("cell", "cause"),
        ]
        triggers = [
            rules.says_how_well_it_is_known("cell"),
            claims_follow("cell_id = NEW.id", "inner_id", "outer_id"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("cell", args=[self.inner.slug, self.outer.slug])

    @property
    def name(self) -> str:
        """Sandbox and environment, as a title."""
        return f"{self.inner.name} {self.outer.place}"


class ErrorTextQuerySet(SearchedQuerySet["ErrorText"]):
    """Questions about error texts."""

    def for_answer(self) -> "ErrorTextQuerySet":
        """With all that an answer shows (four queries)."""
        return self.defer(*SEARCH_COLUMNS).prefetch_related(*answered_by())

    def recognised_in(self, texts: list[str]) -> "list[ErrorText]":
        """Those whose pattern finds something in any of `texts` (one query, and none for no texts)."""
        if not texts:
            return []
        known = list(self.only("slug", "name", "pattern", "meaning").order_by("name"))
        places = matched_by(tuple(error.pattern for error in known), texts)
        return [error for place, error in enumerate(known) if place in places]

    def nearest(self, lines: list[str], most: int = 3) -> "ErrorTextQuerySet":
        """Those whose example is spelt most like one of these lines, each with its `closeness`; none that is far."""
        closeness = Func(
            Value(lines, ArrayField(models.TextField())),
            template=(
                "(SELECT max(greatest(word_similarity(line, nesting_errortext.example), "
                "word_similarity(nesting_errortext.example, line))) FROM unnest(%(expressions)s) AS line)"
            ),
            output_field=models.FloatField(),
        )
        return self.annotate(closeness=closeness).filter(closeness__gte=NEAR).order_by("-closeness", "name")[:most]


@tracked(Tracking(says="meaning"), leave_out=SEARCH_COLUMNS)
class ErrorText(SearchDocument):
    """An error that a sandbox prints: how it is recognised, what it means, what to check, and what mends it."""

    slug = slug_field("The error's address.")
    name = models.CharField(max_length=120, unique=True, help_text="The words by which people know it.")
    pattern = models.TextField(
        validators=[validate_pattern],
        help_text="A regular expression (RE2) that finds it in a line, whatever stands in front of the line.",
    )
    example = models.TextField(help_text="The error as it is printed. The pattern must find it.")
    tool = models.CharField(max_length=200, help_text="What prints it.")
    source_path = models.CharField(
        max_length=300, blank=True, verbose_name="printed at", help_text="Where in the tool's source the text stands."
    )
    meaning = models.TextField(help_text="One sentence: what happened.")
    causes = ArrayField(models.TextField(), default=list, blank=True, help_text="The likeliest first.")
    checks = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="Commands that tell the causes apart; two spaces and brackets after one say what to look for.",
    )

    objects = ErrorTextQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(name="error_slug_is_an_address", condition=Q(slug__regex=SLUG)),
            *written("error", "pattern", "example", "meaning"),
        ]
        indexes = SearchDocument.Meta.indexes
        triggers = [
            search.error_search_document,
            rules.says_how_well_it_is_known("error_text"),
            claims_follow("error_text_id = NEW.id", "slug"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("error", args=[self.slug])

    def clean(self) -> None:
        super().clean()
        if self.pattern and self.example and find(self.pattern, self.example) is None:
            raise ValidationError({"pattern": "The pattern does not find its own example."})


@tracked(Tracking(owners=("cell", "error_text"), is_part=True, named_by="do", says="cost"))
class Fix(models.Model):
    """One way to make it run, with what it costs in safety."""

    cell = models.ForeignKey(Cell, models.CASCADE, null=True, blank=True, related_name="fixes")
    error_text = models.ForeignKey(ErrorText, models.CASCADE, null=True, blank=True, related_name="fixes")
    position = models.PositiveSmallIntegerField(
        default=1000, help_text="Place among the fixes, the least dangerous first."
    )
    do = models.TextField(help_text="What to do.")
    cost = models.TextField(help_text="What it costs in safety. None is an answer too.")
    last_resort = models.BooleanField(
        default=False,
        help_text="It takes a protection away altogether, for more than the one thing that needs it. It stands last.",
    )

    class Meta:
        ordering = ["position", "pk"]
        verbose_name_plural = "fixes"
        constraints = [
            models.CheckConstraint(
                name="fix_mends_one_thing",
                condition=Exact(Func(F("cell"), F("error_text"), function="num_nonnulls"), 1),
                violation_error_message="A fix belongs to a cell or to an error text.",
            ),
            *written("fix", "do", "cost"),
        ]
        triggers = [rules.last_resorts_stand_last]

    def __str__(self) -> str:
        return self.do[:80]
