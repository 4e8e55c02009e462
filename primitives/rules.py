"""What a reference must not contain, kept by Postgres at commit."""

import pgtrigger

from evidence.addresses import claims_follow
from evidence.models import Claim
from ladder.models import Tier
from ladder.rules import cost_is_borne_out

# The ladder does not know of claims, nor claims of the ladder; whoever knows both ties them.
pgtrigger.register(claims_follow("tier_id = NEW.id", "slug"))(Tier)
pgtrigger.register(
    cost_is_borne_out(
        "SELECT cost_id FROM ladder_costclaim WHERE claim_id = NEW.id",
        name="costs_on_it_are_borne_out",
        on_update_of=("sentence", "tier_id", "primitive_id"),
    )
)(Claim)

costs_on_its_claims_are_borne_out = cost_is_borne_out(
    """
        SELECT ground.cost_id FROM ladder_costclaim AS ground JOIN evidence_claim AS claim ON claim.id = ground.claim_id
        WHERE claim.primitive_id = NEW.id
    """,
    name="costs_on_its_claims",
    on_update_of=("tier_id",),
)

# The advisory lock lets one transaction at a time check, so that two that each add half a circle cannot both pass.
# Then from the part down, breadth first, each entry once: many parts that share parts have more ways than can be
# walked. `below` are the entries found, `above` for each the place of the one that it was found under.
builds_on_has_no_circle = pgtrigger.Trigger(
    name="builds_on_has_no_circle",
    level=pgtrigger.Row,
    when=pgtrigger.After,
    timing=pgtrigger.Deferred,
    operation=pgtrigger.Insert | pgtrigger.Update,
    declare=[("below", "bigint[]"), ("above", "int[]"), ("place", "int"), ("circle", "text")],
    func="""
        PERFORM pg_advisory_xact_lock(hashtext('primitives_buildson'));
        IF NOT EXISTS (
            SELECT FROM primitives_buildson
            WHERE id = NEW.id AND primitive_id = NEW.primitive_id AND part_id = NEW.part_id
        ) THEN
            RETURN NULL;  -- changed again, or deleted, before the commit
        END IF;
        below := ARRAY[NEW.part_id];
        above := ARRAY[0];
        place := 1;
        WHILE place <= cardinality(below) AND below[place] <> NEW.primitive_id LOOP
            SELECT below || array_agg(part_id), above || array_agg(place) INTO below, above
            FROM primitives_buildson WHERE primitive_id = below[place] AND part_id <> ALL (below);
            place := place + 1;
        END LOOP;
        IF place <= cardinality(below) THEN
            WHILE place > 0 LOOP
                circle := concat_ws(' on ', (SELECT name FROM primitives_primitive WHERE id = below[place]), circle);
                place := above[place];
            END LOOP;
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'builds_on_has_no_circle',
                MESSAGE = format(
                    'What builds on what goes in a circle: %s on %s.',
                    (SELECT name FROM primitives_primitive WHERE id = NEW.primitive_id), circle
                );
        END IF;
        RETURN NULL;
    """,
)
