"""What a primitive is searched by (evidence.search)."""

import pgtrigger

from evidence.models import Claim
from evidence.search import refresh, search_document

primitive_search_document = search_document(
    "primitive_search_document",
    aliases="NEW.aliases",
    summary="NEW.summary",
    breaks="primitives_break WHERE primitive_id = NEW.id",
    claims="evidence_claim WHERE primitive_id = NEW.id AND is_published",
)


def refresh_primitives() -> list[pgtrigger.Trigger]:
    """For a table whose text is searched, and whose column primitive_id names the primitive."""
    return refresh("primitives_primitive", "SELECT primitive_id FROM {rows}", name="primitive_search")


for _trigger in refresh_primitives():
    pgtrigger.register(_trigger)(Claim)
