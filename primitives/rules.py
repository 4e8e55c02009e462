"""What a reference must not contain, kept by Postgres at commit."""

import pgtrigger

# The advisory lock lets one transaction at a time check, so that two that each add half a circle cannot both pass.
builds_on_has_no_circle = pgtrigger.Trigger(
    name="builds_on_has_no_circle",
    level=pgtrigger.Row,
    when=pgtrigger.After,
    timing=pgtrigger.Deferred,
    operation=pgtrigger.Insert | pgtrigger.Update,
    declare=[("circle", "text")],
    func="""
        PERFORM pg_advisory_xact_lock(hashtext('primitives_buildson'));
        WITH RECURSIVE below (id, way) AS (
            SELECT NEW.part_id, ARRAY[NEW.primitive_id, NEW.part_id]
            UNION ALL
            SELECT parts.part_id, below.way || parts.part_id
            FROM below JOIN primitives_buildson AS parts ON parts.primitive_id = below.id
            WHERE below.id <> NEW.primitive_id AND NOT parts.part_id = ANY (below.way[2:])
        )
        SELECT string_agg(primitive.name, ' on ' ORDER BY step.place) INTO circle
        FROM (SELECT way FROM below WHERE below.id = NEW.primitive_id ORDER BY cardinality(way) LIMIT 1) AS found,
            unnest(found.way) WITH ORDINALITY AS step (id, place)
            JOIN primitives_primitive AS primitive ON primitive.id = step.id;
        IF circle IS NOT NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'builds_on_has_no_circle',
                MESSAGE = format('What builds on what goes in a circle: %s.', circle);
        END IF;
        RETURN NULL;
    """,
)
