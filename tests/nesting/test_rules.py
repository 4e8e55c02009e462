"""What Postgres refuses of nesting, whoever writes."""

import pytest

from nesting.models import Cell, Environment, ErrorText, Fix
from tests.factories import make_cell, make_claim, make_environment, make_error, make_inner, make_primitive
from tests.sql import accepted, refused

pytestmark = pytest.mark.django_db

UNKNOWN = "needs a published claim that says how well it is known"
LAST = {"do": "Take the filter off.", "cost": "No filter is left.", "last_resort": True}


def test_a_cell_and_an_error_need_a_claim_and_keep_the_last_one() -> None:
    with accepted():
        cell, error = make_cell(), make_error()
    with refused("A sandbox in an environment", UNKNOWN):
        Cell.objects.create(inner=make_inner("firejail"), outer=make_environment(), result="works", cause="So.")
    with refused("An error text", UNKNOWN):
        ErrorText.objects.create(slug="x", name="x", pattern="x", example="x", tool="x", meaning="x")
    for subject in (cell, error):
        with refused(UNKNOWN):
            subject.claims.all().delete()
        with refused(UNKNOWN):
            subject.claims.update(is_published=False)
        with refused(UNKNOWN):
            subject.claims.update(cell=None, error_text=None, primitive=make_primitive())
    with accepted():
        claim = cell.claims.get()
        make_claim(cell)
        claim.delete()
    with accepted():
        cell.delete()
        error.delete()


def test_the_rules_of_labels_hold_here_too() -> None:
    cell = make_cell()
    with refused("documented needs a document"):
        cell.claims.get().sources.all().delete()
    with refused("claim_has_one_subject"):
        cell.claims.update(error_text=make_error())
    with refused("already exists"):
        make_claim(cell, slug=cell.claims.get().slug)


def test_a_fix_has_its_cost_and_mends_one_thing() -> None:
    cell, error = make_cell(), make_error()
    for fields in ({"cost": " "}, {"do": ""}):
        with refused("_is_written"):
            Fix.objects.create(**{"cell": cell, "do": "This.", "cost": "That.", **fields})
    with refused("fix_mends_one_thing"):
        Fix.objects.create(cell=cell, error_text=error, do="This.", cost="That.")
    with refused("fix_mends_one_thing"):
        Fix.objects.create(do="This.", cost="That.")


def test_a_last_resort_never_stands_before_a_milder_fix() -> None:
    with accepted():
        cell = make_cell(fixes=[{}, LAST, LAST])
        make_error(fixes=[LAST])
    with refused("last resort"):
        make_error(fixes=[LAST, {}])
    with refused("last resort"):
        cell.fixes.filter(last_resort=False).update(position=9)
    with refused("last resort"):
        Fix.objects.filter(pk=cell.fixes.last().pk).update(last_resort=False)


def test_a_value_outside_the_rules_is_refused() -> None:
    cell = make_cell()
    with refused("cell_result_is_known"):
        Cell.objects.filter(pk=cell.pk).update(result="perhaps")
    with refused("cell_once"):
        make_cell(cell.inner, cell.outer)
    with refused("environment_slug_is_an_address"):
        Environment.objects.filter(pk=cell.outer.pk).update(slug="ubuntu-24.04")
