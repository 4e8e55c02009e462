"""A claim's public address, as in primitive.gvisor.own-kernel: kind of subject, the subject's slugs, the claim's own.

It is the same in every database, whatever the rows are called there. Postgres writes it (`Claim.address`, and the kind
alone in `Claim.kind`) whenever a claim, or a slug that is part of it, changes: so there is no way to write a claim past
it, and a page needs no join to link to one. The way back is `ClaimQuerySet.at`.
"""

import pgtrigger

PATTERN = r"[a-z]+(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){2,4}"

# For each field of a claim that can hold its subject: what its kind is called in addresses, and SQL for the subject's
# part of them. The lock waits for whoever renames the subject at the same time.
SUBJECTS = {
    "tier": ("tier", "SELECT slug FROM ladder_tier WHERE id = NEW.tier_id FOR KEY SHARE"),
    "primitive": ("primitive", "SELECT slug FROM primitives_primitive WHERE id = NEW.primitive_id FOR KEY SHARE"),
    "audit": (
        "audit",
        "SELECT agent.slug || '.' || audit.slug FROM audits_agentaudit AS audit"
        " JOIN audits_agent AS agent ON agent.id = audit.agent_id WHERE audit.id = NEW.audit_id FOR KEY SHARE",
    ),
    "cell": (
        "cell",
        "SELECT sandbox.slug || '.' || environment.slug FROM nesting_cell AS cell"
        " JOIN nesting_inner AS sandbox ON sandbox.id = cell.inner_id"
        " JOIN nesting_environment AS environment ON environment.id = cell.outer_id"
        " WHERE cell.id = NEW.cell_id FOR KEY SHARE",
    ),
    "error_text": ("error", "SELECT slug FROM nesting_errortext WHERE id = NEW.error_text_id FOR KEY SHARE"),
}

_WRITE = """
    NEW.kind := CASE {kinds} ELSE '' END;
    NEW.address := coalesce(CASE {addresses} END || '.', '') || NEW.slug;
    RETURN NEW;
"""

claim_has_its_address = pgtrigger.Trigger(
    name="claim_has_its_address",
    level=pgtrigger.Row,
    when=pgtrigger.Before,
    operation=pgtrigger.Insert | pgtrigger.Update,
    func=_WRITE.format(
        kinds=" ".join(f"WHEN NEW.{field}_id IS NOT NULL THEN '{field}'" for field in SUBJECTS),
        addresses=" ".join(
            f"WHEN NEW.{field}_id IS NOT NULL THEN '{name}.' || ({subject})"
            for field, (name, subject) in SUBJECTS.items()
        ),
    ),
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
