"""What a label must carry, kept by Postgres at commit, whoever writes: the admin, a load, a shell, raw SQL."""

from typing import Any

import pgtrigger
from django.apps import apps
from django.db import IntegrityError

# Each label's rule stands here once, and is used by the triggers of both tables. The claim's row is locked, so that
# two transactions that each take away one of two sources cannot both pass.
_FUNCTION = """
    FOR claim IN
        SELECT id, slug, label, reasoning, looked FROM evidence_claim
        WHERE id IN (SELECT unnest(ARRAY[{claim_ids}])) ORDER BY id FOR NO KEY UPDATE
    LOOP
        SELECT coalesce(array_agg(kind), '{{}}') INTO kinds FROM evidence_source WHERE claim_id = claim.id;
        fault := CASE
            WHEN claim.label = 'verified-code' AND NOT 'code' = ANY (kinds)
                THEN 'verified-code needs a code source with repo, commit, path and lines'
            WHEN claim.label = 'documented' AND NOT kinds && ARRAY['doc', 'package']
                THEN 'documented needs a document with an https URL, or a package with a package URL'
            WHEN claim.label = 'inferred' AND claim.reasoning !~ '\\S'
                THEN 'inferred needs its reasoning'
            WHEN claim.label = 'undisclosed' AND (claim.looked !~ '\\S' OR cardinality(kinds) = 0)
                THEN 'undisclosed needs where it was looked for, and a source'
        END;
        IF fault IS NOT NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'claim_label_is_borne_out',
                MESSAGE = format('Claim %s: %s.', claim.slug, fault);
        END IF;
    END LOOP;
    RETURN NULL;
"""


def claim_label_is_borne_out(claim_ids: str, *, name: str, on_delete: bool = True) -> pgtrigger.Trigger:
    """The trigger that checks, at commit, the claims whose ids the SQL expressions `claim_ids` give."""
    operation = pgtrigger.Insert | pgtrigger.Update
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Row,
        when=pgtrigger.After,
        timing=pgtrigger.Deferred,
        operation=operation | pgtrigger.Delete if on_delete else operation,
        declare=[("claim", "record"), ("kinds", "text[]"), ("fault", "text")],
        func=_FUNCTION.format(claim_ids=claim_ids),
    )


def in_words(error: IntegrityError) -> str:
    """Why Postgres refused, for whoever wrote: a constraint's own message, a trigger's, or else Postgres' own."""
    diagnosis: Any = getattr(error.__cause__, "diag", None)
    if diagnosis is None:
        return str(error.args[0])  # Django's own: a protected row is referred to
    for model in apps.get_models():
        for constraint in model._meta.constraints:
            if constraint.name == diagnosis.constraint_name and (
                constraint.violation_error_message != constraint.default_violation_error_message
            ):
                return str(constraint.get_violation_error_message())
    # Only our triggers refuse without naming a table, and what they say is written to be read.
    if not diagnosis.table_name:
        return str(diagnosis.message_primary)
    return f"The database refuses this: {diagnosis.message_detail or diagnosis.message_primary}"
