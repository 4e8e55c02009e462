"""What the reference lists, filters, sorts and counts an entry by: columns that Postgres writes beside it.

A trigger writes them whenever the entry, its platforms or its claims change, so that a list reads one table and its
indexes however many entries there are.

`tier_rank`      the rank of its rung
`claim_count`    its published claims
`last_checked`   the newest date as of which one of them holds
`facets`         every value that it has of every filter, as in tier:microvm or platform:linux
"""

import pgtrigger

from evidence.search import refresh
from ladder.models import Tier

LISTING_COLUMNS = ["tier_rank", "claim_count", "last_checked", "facets"]

primitive_listing = pgtrigger.Trigger(
    name="primitive_listing",
    level=pgtrigger.Row,
    when=pgtrigger.Before,
    operation=pgtrigger.Insert | pgtrigger.Update,
    # The locks wait for whoever renames or moves at the same time what the entry is about to point to: that one cannot
    # see this entry yet, and so would leave it as it is.
    func="""
        PERFORM FROM ladder_tier WHERE id = NEW.tier_id FOR KEY SHARE;
        PERFORM FROM primitives_category WHERE id = NEW.category_id FOR KEY SHARE;
        PERFORM FROM primitives_platform WHERE id IN (
            SELECT platform_id FROM primitives_supportedplatform WHERE primitive_id = NEW.id) ORDER BY id FOR KEY SHARE;
        SELECT rank INTO NEW.tier_rank FROM ladder_tier WHERE id = NEW.tier_id;
        SELECT count(*), max(as_of) INTO NEW.claim_count, NEW.last_checked
        FROM evidence_claim WHERE primitive_id = NEW.id AND is_published;
        NEW.facets := ARRAY(
            SELECT 'tier:' || slug FROM ladder_tier WHERE id = NEW.tier_id
            UNION ALL SELECT 'category:' || slug FROM primitives_category WHERE id = NEW.category_id
            UNION ALL SELECT 'status:' || NEW.status
            UNION ALL SELECT DISTINCT 'isolates:' || thing FROM unnest(NEW.isolates) AS thing
            UNION ALL SELECT 'platform:' || slug FROM primitives_platform WHERE id IN (
                SELECT platform_id FROM primitives_supportedplatform WHERE primitive_id = NEW.id)
            UNION ALL SELECT DISTINCT 'label:' || label FROM evidence_claim
                WHERE primitive_id = NEW.id AND is_published
        );
        RETURN NEW;
    """,
)


def refresh_listings(ids: str) -> list[pgtrigger.Trigger]:
    """For a table whose slugs or ranks stand in the columns: `ids` is SQL for the entries that its {rows} stand in.

    What an entry stands on can't go before the entry does; but it can come back as another one within a transaction.
    """
    after_insert, after_update, *_ = refresh("primitives_primitive", ids, name="primitive_listing")
    return [after_insert, after_update]


for _trigger in refresh_listings("SELECT id FROM primitives_primitive WHERE tier_id IN (SELECT id FROM {rows})"):
    pgtrigger.register(_trigger)(Tier)
