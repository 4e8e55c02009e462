"""What an audit must not be, kept by Postgres at commit, whoever writes."""

from collections.abc import Sequence

import pgtrigger

from evidence.models import Claim
from primitives.models import Primitive

# A posture that another transaction moves to another audit is waited for: that audit is then the one to check.
_WAIT_FOR_THE_POSTURES = """
    PERFORM FROM audits_posture WHERE id IN (OLD.posture_id, NEW.posture_id) ORDER BY id FOR NO KEY UPDATE;
"""
_AUDITS_OF_THE_POSTURES = "SELECT audit_id FROM audits_posture WHERE id IN (OLD.posture_id, NEW.posture_id)"

# The audit's row is locked, so that two transactions that each add a default cannot both pass. All that is wrong is
# said, a line each, since whoever publishes an audit wants to see the whole list.
_FUNCTION = """
    FOR audit IN
        SELECT id, name, is_published FROM audits_agentaudit
        WHERE id IN ({audit_ids}) ORDER BY id FOR NO KEY UPDATE
    LOOP
        faults := ARRAY(
            SELECT format('%s has more than one default posture on %s.', audit.name, platform.name)
            FROM audits_posture AS posture
                JOIN audits_postureplatform AS offer ON offer.posture_id = posture.id
                JOIN primitives_platform AS platform ON platform.id = offer.platform_id
            WHERE posture.audit_id = audit.id AND posture.is_default
            GROUP BY platform.id, platform.name HAVING count(*) > 1 ORDER BY platform.name
        ) || ARRAY(
            SELECT format('Posture %s of %s rests on %s, which is a claim about something else.',
                posture.mode, audit.name, claim.slug)
            FROM audits_posture AS posture
                JOIN audits_postureclaim AS ground ON ground.posture_id = posture.id
                JOIN evidence_claim AS claim ON claim.id = ground.claim_id
            WHERE posture.audit_id = audit.id AND claim.audit_id IS DISTINCT FROM audit.id
            ORDER BY posture.position, posture.id, claim.slug
        );
        IF audit.is_published THEN
            IF NOT EXISTS (SELECT FROM audits_posture WHERE audit_id = audit.id AND is_default) THEN
                faults := faults || format('%s has no default posture, so it cannot be published.', audit.name);
            END IF;
            faults := faults || ARRAY(
                SELECT format('Posture %s of %s names no claim that it rests on, so it cannot be published.',
                    posture.mode, audit.name)
                FROM audits_posture AS posture
                WHERE posture.audit_id = audit.id
                    AND NOT EXISTS (SELECT FROM audits_postureclaim WHERE posture_id = posture.id)
                ORDER BY posture.position, posture.id
            ) || ARRAY(
                SELECT format('Posture %s of %s names no platform, so it cannot be published.',
                    posture.mode, audit.name)
                FROM audits_posture AS posture
                WHERE posture.audit_id = audit.id
                    AND NOT EXISTS (SELECT FROM audits_postureplatform WHERE posture_id = posture.id)
                ORDER BY posture.position, posture.id
            ) || ARRAY(
                SELECT format('Posture %s of %s rests on %s, which is a draft, so it cannot be published.',
                    posture.mode, audit.name, claim.slug)
                FROM audits_posture AS posture
                    JOIN audits_postureclaim AS ground ON ground.posture_id = posture.id
                    JOIN evidence_claim AS claim ON claim.id = ground.claim_id
                WHERE posture.audit_id = audit.id AND NOT claim.is_published
                ORDER BY posture.position, posture.id, claim.slug
            ) || ARRAY(
                SELECT format('Posture %s of %s stands on %s, which is a draft, so it cannot be published.',
                    posture.mode, audit.name, primitive.name)
                FROM audits_posture AS posture
                    JOIN audits_postureprimitive AS footing ON footing.posture_id = posture.id
                    JOIN primitives_primitive AS primitive ON primitive.id = footing.primitive_id
                WHERE posture.audit_id = audit.id AND NOT primitive.is_published
                ORDER BY posture.position, posture.id, primitive.name
            );
        END IF;
        IF cardinality(faults) > 0 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'audit_holds_together',
                MESSAGE = array_to_string(faults, E'\\n');
        END IF;
    END LOOP;
    RETURN NULL;
"""


def audit_holds_together(
    audit_ids: str, *, name: str, first: str = "", on_delete: bool = True, on_update_of: Sequence[str] = ()
) -> pgtrigger.Trigger:
    """The trigger that checks, at commit, the audits whose ids the SQL query `audit_ids` gives, after the SQL `first`.

    With `on_update_of` after changes of these columns alone: what is saved names all columns, changed or not, and each
    check locks audits that somebody else may be about to save.

    At most one default posture on each platform, and no posture that rests on another subject's claim; of a published
    audit also: a default posture, for each posture a platform and a claim that it rests on, and no draft among what
    they rest and stand on.
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
        declare=[("audit", "record"), ("faults", "text[]")],
        func=first + _FUNCTION.format(audit_ids=audit_ids),
    )


def audit_of_the_posture_holds_together(*, name: str, first: str = "") -> pgtrigger.Trigger:
    """The same for a table whose column posture_id names a posture of the audit."""
    return audit_holds_together(_AUDITS_OF_THE_POSTURES, name=name, first=first + _WAIT_FOR_THE_POSTURES)


# A primitive that another transaction makes a draft is waited for, and one that does so later waits for this.
primitive_fits_its_audit = audit_of_the_posture_holds_together(
    name="primitive_fits_its_audit",
    first="PERFORM FROM primitives_primitive WHERE id = NEW.primitive_id FOR SHARE;",
)


# What is found and what is kept are compared when all is written, so that a posture that was deleted and made anew in
# one transaction leaves no trace. Where two defaults claim one platform, audit_holds_together refuses both.
DEFAULTS = """
    SELECT DISTINCT ON (posture.audit_id, offer.platform_id)
        posture.audit_id, offer.platform_id, posture.isolation, posture.tier_id
    FROM audits_posture AS posture
        JOIN audits_agentaudit AS audit ON audit.id = posture.audit_id AND audit.is_published
        JOIN audits_postureplatform AS offer ON offer.posture_id = posture.id
    WHERE posture.is_default
"""
_KEEP_DEFAULTS = f"""
    PERFORM FROM audits_agentaudit WHERE id = ANY (ARRAY[{{audit_ids}}]) ORDER BY id FOR NO KEY UPDATE;
    DELETE FROM audits_defaultcell AS cell
    WHERE cell.audit_id = ANY (ARRAY[{{audit_ids}}]) AND NOT EXISTS (
        SELECT FROM ({DEFAULTS}) AS found WHERE found.audit_id = cell.audit_id AND found.platform_id = cell.platform_id
    );
    INSERT INTO audits_defaultcell AS cell (audit_id, platform_id, isolation, tier_id)
    {DEFAULTS} AND audit.id = ANY (ARRAY[{{audit_ids}}])
    ON CONFLICT (audit_id, platform_id) DO UPDATE SET isolation = EXCLUDED.isolation, tier_id = EXCLUDED.tier_id
    WHERE (cell.isolation, cell.tier_id) IS DISTINCT FROM (EXCLUDED.isolation, EXCLUDED.tier_id);
    RETURN NULL;
"""  # noqa: S608


def defaults_are_kept(audit_ids: str, *, name: str, on_update_of: str = "") -> pgtrigger.Trigger:
    """The trigger that keeps, at commit, audits_defaultcell for the audits whose ids the SQL expressions give."""
    always = pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Row,
        when=pgtrigger.After,
        timing=pgtrigger.Deferred,
        operation=pgtrigger.UpdateOf(on_update_of) if on_update_of else always,
        condition=pgtrigger.AnyChange(on_update_of) if on_update_of else None,
        func=_KEEP_DEFAULTS.format(audit_ids=audit_ids),
    )


# A claim that moves to another subject, or becomes a draft, leaves the postures that rest on it.
pgtrigger.register(
    audit_holds_together(
        "SELECT unnest(ARRAY[OLD.audit_id, NEW.audit_id])",
        name="moved_claim_fits_its_audit",
        on_delete=False,
        on_update_of=["audit_id", "is_published"],
    )
)(Claim)

# So does a primitive that becomes a draft.
pgtrigger.register(
    audit_holds_together(
        """
            SELECT posture.audit_id FROM audits_posture AS posture
                JOIN audits_postureprimitive AS footing ON footing.posture_id = posture.id
            WHERE footing.primitive_id = NEW.id
        """,
        name="draft_fits_its_audits",
        on_delete=False,
        on_update_of=["is_published"],
    )
)(Primitive)
