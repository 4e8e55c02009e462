"""What an agent is searched by (evidence.search): its names, its vendor, and what is published of its surfaces."""

import pgtrigger

from evidence.models import Claim
from evidence.search import refresh, search_document

_PUBLISHED = "audits_agentaudit WHERE agent_id = NEW.id AND is_published"

agent_search_document = search_document(
    "agent_search_document",
    aliases=f"(ARRAY[NEW.vendor::text] || ARRAY(SELECT name::text FROM {_PUBLISHED}))",  # noqa: S608
    summary="NEW.license",
    breaks="audits_agentbreak WHERE agent_id = NEW.id",
    claims=f"evidence_claim WHERE is_published AND audit_id IN (SELECT id FROM {_PUBLISHED})",  # noqa: S608
)


def refresh_agents(ids: str, name: str = "agent_search") -> list[pgtrigger.Trigger]:
    """For a table whose text is searched; `ids` is SQL for the agents that its changed {rows} belong to."""
    return refresh("audits_agent", ids, name=name)


for _trigger in refresh_agents("SELECT agent_id FROM audits_agentaudit WHERE id IN (SELECT audit_id FROM {rows})"):
    pgtrigger.register(_trigger)(Claim)
