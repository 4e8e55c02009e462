"""What Postgres keeps of nesting at commit, whoever writes."""

import pgtrigger

from evidence.models import Claim

_WITHOUT = """
    FOREACH subject IN ARRAY ARRAY[{ids}]::bigint[] LOOP
        IF EXISTS (SELECT FROM {table} WHERE id = subject FOR NO KEY UPDATE)
            AND NOT EXISTS (SELECT FROM evidence_claim WHERE {column} = subject AND is_published) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'nesting_says_how_well_it_is_known',
                MESSAGE = '{what} needs a published claim that says how well it is known.';
        END IF;
    END LOOP;
    RETURN NULL;
"""
_SUBJECTS = {
    "cell": ("nesting_cell", "A sandbox in an environment"),
    "error_text": ("nesting_errortext", "An error text"),
}


def _trigger(subject: str, ids: str, name: str, operation: pgtrigger.Operation) -> pgtrigger.Trigger:
    table, what = _SUBJECTS[subject]
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Row,
        when=pgtrigger.After,
        timing=pgtrigger.Deferred,
        operation=operation,
        declare=[("subject", "bigint")],
        func=_WITHOUT.format(ids=ids, table=table, column=f"{subject}_id", what=what),
    )


def says_how_well_it_is_known(subject: str) -> pgtrigger.Trigger:
    """The trigger that wants a published claim about each row of a table; `subject` is a claim's field for it."""
    return _trigger(subject, "NEW.id", f"{subject}_says_how_well_it_is_known", pgtrigger.Insert)


for _subject in _SUBJECTS:
    _id = f"{_subject}_id"
    pgtrigger.register(
        _trigger(
            _subject,
            f"OLD.{_id}",
            f"last_claim_about_{_subject}_stays",
            pgtrigger.UpdateOf(_id, "is_published") | pgtrigger.Delete,
        )
    )(Claim)

# A fix that takes a protection away altogether stands behind all that do not.
last_resorts_stand_last = pgtrigger.Trigger(
    name="last_resorts_stand_last",
    level=pgtrigger.Row,
    when=pgtrigger.After,
    timing=pgtrigger.Deferred,
    operation=pgtrigger.Insert | pgtrigger.Update,
    func="""
        IF EXISTS (
            SELECT FROM nesting_fix AS early JOIN nesting_fix AS late
                ON (early.cell_id = late.cell_id OR early.error_text_id = late.error_text_id)
                AND (early.position, early.id) < (late.position, late.id)
            WHERE early.last_resort AND NOT late.last_resort
                AND (early.cell_id = NEW.cell_id OR early.error_text_id = NEW.error_text_id)
        ) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'last_resorts_stand_last',
                MESSAGE = 'A fix that is a last resort cannot stand before one that is not.';
        END IF;
        RETURN NULL;
    """,
)
