"""A claim's public address, as in primitive.gvisor.own-kernel: kind of subject, the subject's slugs, the claim's own.

It is the same in every database, whatever the rows are called there. Postgres writes it (`Claim.address`, and the kind
alone in `Claim.kind`) whenever a claim, or a slug that is part of it, changes: so there is no way to write a claim past
it, and a page needs no join to link to one. The way back is `ClaimQuerySet.at`.

An address that was public once stays one. Of a claim that moves, because its slug or its subject changes, it becomes a
FormerAddress that leads to it; of one that is deleted, a Withdrawn that says when and why. Triggers see to it, so that
no write, by whatever way, loses an address.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pgtrigger
from django.db import connection

PATTERN = r"[a-z]+(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){2,4}"

# For each field of a claim that can hold its subject: what its kind is called in addresses, which rows are locked, and
# SQL for the subject's part of the address. The locks wait for whoever renames or moves one of them at the same time.
# Each row is locked by a statement of its own: one that joined two would, after it waited, look for what the first one
# points to by now among what it had found before, and find nothing.
SUBJECTS = {
    "tier": (
        "tier",
        ["ladder_tier WHERE id = NEW.tier_id"],
        "slug INTO subject FROM ladder_tier WHERE id = NEW.tier_id",
    ),
    "primitive": (
        "primitive",
        ["primitives_primitive WHERE id = NEW.primitive_id"],
        "slug INTO subject FROM primitives_primitive WHERE id = NEW.primitive_id",
    ),
    "audit": (
        "audit",
        [
            "audits_agentaudit WHERE id = NEW.audit_id",
            "audits_agent WHERE id = (SELECT agent_id FROM audits_agentaudit WHERE id = NEW.audit_id)",
        ],
        "agent.slug || '.' || audit.slug INTO subject FROM audits_agentaudit AS audit"
        " JOIN audits_agent AS agent ON agent.id = audit.agent_id WHERE audit.id = NEW.audit_id",
    ),
    "cell": (
        "cell",
        [
            "nesting_cell WHERE id = NEW.cell_id",
            "nesting_inner WHERE id = (SELECT inner_id FROM nesting_cell WHERE id = NEW.cell_id)",
            "nesting_environment WHERE id = (SELECT outer_id FROM nesting_cell WHERE id = NEW.cell_id)",
        ],
        "sandbox.slug || '.' || environment.slug INTO subject FROM nesting_cell AS cell"
        " JOIN nesting_inner AS sandbox ON sandbox.id = cell.inner_id"
        " JOIN nesting_environment AS environment ON environment.id = cell.outer_id"
        " WHERE cell.id = NEW.cell_id",
    ),
    "error_text": (
        "error",
        ["nesting_errortext WHERE id = NEW.error_text_id"],
        "slug INTO subject FROM nesting_errortext WHERE id = NEW.error_text_id",
    ),
}


def _address_of(field: str) -> str:
    name, rows, found = SUBJECTS[field]
    locks = " ".join(f"PERFORM FROM {row} FOR KEY SHARE;" for row in rows)
    return f"IF NEW.{field}_id IS NOT NULL THEN NEW.kind := '{field}'; {locks} SELECT '{name}.' || {found};"


claim_has_its_address = pgtrigger.Trigger(
    name="claim_has_its_address",
    level=pgtrigger.Row,
    when=pgtrigger.Before,
    operation=pgtrigger.Insert | pgtrigger.Update,
    declare=[("subject", "text")],
    func=f"""
        NEW.kind := '';
        {" ELS".join(map(_address_of, SUBJECTS))}
        END IF;
        NEW.address := coalesce(subject || '.', '') || NEW.slug;
        RETURN NEW;
    """,
)


def claims_follow(claims: str, *columns: str) -> pgtrigger.Trigger:
    """For a table of subjects: when one of `columns` changes, the claims that the SQL condition names are touched, and
    take the new address.
    """
    return pgtrigger.Trigger(
        name="claims_follow",
        level=pgtrigger.Row,
        when=pgtrigger.After,
        operation=pgtrigger.UpdateOf(*columns),
        condition=pgtrigger.AnyChange(*columns),
        func=f"UPDATE evidence_claim SET slug = slug WHERE {claims}; RETURN NULL;",  # noqa: S608
    )


# What a claim moves away from leads to it from now on; what it comes to is its own, if it was no other claim's before.
# At the end of the statement, so that what waited for another transaction sees what that one did.
claim_keeps_its_addresses = pgtrigger.Trigger(
    name="claim_keeps_its_addresses",
    level=pgtrigger.Row,
    when=pgtrigger.After,
    operation=pgtrigger.Insert | pgtrigger.Update,
    func="""
        IF TG_OP = 'UPDATE' AND OLD.address = NEW.address THEN
            RETURN NULL;
        END IF;
        DELETE FROM evidence_formeraddress WHERE address = NEW.address AND claim_id = NEW.id;
        DELETE FROM evidence_withdrawn WHERE address = NEW.address;
        IF EXISTS (SELECT FROM evidence_formeraddress WHERE address = NEW.address) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'check_violation',
                CONSTRAINT = 'claim_address_is_free',
                MESSAGE = format(
                    'The address %s was that of a claim which is now at %s, and leads there. Choose another slug.',
                    NEW.address, (
                        SELECT claim.address FROM evidence_formeraddress AS former
                            JOIN evidence_claim AS claim ON claim.id = former.claim_id
                        WHERE former.address = NEW.address
                    )
                );
        END IF;
        IF TG_OP = 'UPDATE' AND NOT EXISTS (SELECT FROM evidence_claim WHERE address = OLD.address) THEN
            INSERT INTO evidence_formeraddress (address, claim_id, since) VALUES (OLD.address, NEW.id, CURRENT_DATE);
        END IF;
        RETURN NULL;
    """,
)

# A claim that was a draft, or about one, had no public address: nothing of it may become public by its end.
claim_is_withdrawn = pgtrigger.Trigger(
    name="claim_is_withdrawn",
    level=pgtrigger.Row,
    when=pgtrigger.After,
    operation=pgtrigger.Delete,
    declare=[("addresses", "text[]")],
    func=r"""
        WITH gone AS (DELETE FROM evidence_formeraddress WHERE claim_id = OLD.id RETURNING address)
        SELECT array_agg(address) || OLD.address::text INTO addresses FROM gone;
        INSERT INTO evidence_withdrawn (address, sentence, label, since, reason)
        SELECT address, OLD.sentence, OLD.label, CURRENT_DATE, coalesce(
            nullif(current_setting('evidence.withdrawn_because', true), ''),
            nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'why',
            ''
        )
        FROM unnest(addresses) AS left_behind (address)
        WHERE OLD.is_published
            AND NOT EXISTS (SELECT FROM evidence_claim AS claim WHERE claim.address = left_behind.address)
            AND coalesce(CASE
                WHEN OLD.primitive_id IS NOT NULL THEN coalesce(
                    (SELECT is_published FROM primitives_primitive WHERE id = OLD.primitive_id),
                    current_setting('evidence.published_until_now', true) ~ format('\mprimitive%s\M', OLD.primitive_id)
                )
                WHEN OLD.audit_id IS NOT NULL THEN coalesce(
                    (SELECT is_published FROM audits_agentaudit WHERE id = OLD.audit_id),
                    current_setting('evidence.published_until_now', true) ~ format('\maudit%s\M', OLD.audit_id)
                )
                ELSE true
            END, false)
        ON CONFLICT (address) DO UPDATE
            SET sentence = excluded.sentence, label = excluded.label, since = excluded.since, reason = excluded.reason;
        RETURN NULL;
    """,
)


def claims_outlive(kind: str) -> pgtrigger.Trigger:
    """For a table of subjects that can be drafts: claims may be deleted after their subject, in one transaction, and
    have to know then that it was none.
    """
    return pgtrigger.Trigger(
        name="claims_outlive",
        level=pgtrigger.Row,
        when=pgtrigger.After,
        operation=pgtrigger.Delete,
        condition=pgtrigger.Q(old__is_published=True),
        func=f"""
            PERFORM set_config('evidence.published_until_now',
                concat_ws(' ', current_setting('evidence.published_until_now', true), '{kind}' || OLD.id), true);
            RETURN NULL;
        """,
    )


def address_is_not_in_use(name: str) -> pgtrigger.Trigger:
    """For a table of addresses that no claim has any more."""
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Row,
        when=pgtrigger.After,
        operation=pgtrigger.Insert | pgtrigger.Update,
        func=f"""
            IF EXISTS (SELECT FROM evidence_claim WHERE address = NEW.address) THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'check_violation',
                    CONSTRAINT = '{name}',
                    MESSAGE = format('There is a claim at %s, so that is neither withdrawn nor a former address.',
                        NEW.address);
            END IF;
            RETURN NULL;
        """,
    )


# An address that was withdrawn and turns out to have moved leads on.
former_address_is_not_withdrawn = pgtrigger.Trigger(
    name="former_address_is_not_withdrawn",
    level=pgtrigger.Row,
    when=pgtrigger.After,
    operation=pgtrigger.Insert | pgtrigger.Update,
    func="DELETE FROM evidence_withdrawn WHERE address = NEW.address; RETURN NULL;",
)


@contextmanager
def withdrawing(because: str) -> Iterator[None]:
    """In a transaction: claims that are deleted inside are withdrawn for this reason. Without it the reason is the one
    that a curator gave (pghistory's `why`), or none.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('evidence.withdrawn_because', %s, true)", [because])
        yield
        cursor.execute("SELECT set_config('evidence.withdrawn_because', '', true)")
