"""What a range of costs must not be, kept by Postgres at commit, whoever writes."""

import pgtrigger

# All that is wrong is said, a line each. Ranges on another's claim are found, too: a claim or a primitive may move.
_FUNCTION = """
    FOR cost IN
        SELECT id, tier_id, kind, low, high FROM ladder_costrange WHERE id IN ({cost_ids}) ORDER BY id FOR NO KEY UPDATE
    LOOP
        faults := ARRAY(
            SELECT format('No claim that the %s rests on says “%s”.', cost.kind, figure)
            FROM unnest(ARRAY[cost.low, cost.high]) AS figure
            WHERE figure <> '' AND NOT EXISTS (
                SELECT FROM ladder_costclaim AS ground JOIN evidence_claim AS claim ON claim.id = ground.claim_id
                WHERE ground.cost_id = cost.id AND position(figure IN claim.sentence) > 0
            )
        ) || ARRAY(
            SELECT format('The %s rests on %s, which is about another rung.', cost.kind, claim.address)
            FROM ladder_costclaim AS ground
                JOIN evidence_claim AS claim ON claim.id = ground.claim_id
                LEFT JOIN primitives_primitive AS itself ON itself.id = claim.primitive_id
            WHERE ground.cost_id = cost.id
                AND cost.tier_id IS DISTINCT FROM coalesce(claim.tier_id, itself.tier_id)
            ORDER BY claim.address
        );
        IF cardinality(faults) > 0 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'cost_is_borne_out',
                MESSAGE = array_to_string(faults, E'\\n');
        END IF;
    END LOOP;
    RETURN NULL;
"""


def cost_is_borne_out(
    cost_ids: str, *, name: str, on_delete: bool = False, on_update_of: tuple[str, ...] = ()
) -> pgtrigger.Trigger:
    """The trigger that checks, at commit, the ranges whose ids the SQL `cost_ids` gives.

    With `on_update_of` after changes of these columns alone, however many an update names.

    Each figure stands in the sentence of a claim that the range rests on, and each of these is about the range's own
    rung or a primitive on it.
    """
    operation: pgtrigger.Operation = (
        pgtrigger.UpdateOf(*on_update_of) if on_update_of else pgtrigger.Insert | pgtrigger.Update
    )
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Row,
        when=pgtrigger.After,
        timing=pgtrigger.Deferred,
        operation=operation | pgtrigger.Delete if on_delete else operation,
        condition=pgtrigger.AnyChange(*on_update_of) if on_update_of else None,
        declare=[("cost", "record"), ("faults", "text[]")],
        func=_FUNCTION.format(cost_ids=cost_ids),
    )
