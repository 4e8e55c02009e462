"""What an error text is searched by (evidence.search): its words, what prints it, what it means."""

import pgtrigger

from evidence.models import Claim
from evidence.search import refresh, search_document

error_search_document = search_document(
    "error_search_document",
    aliases="ARRAY[NEW.tool::text]",
    summary="concat_ws(' ', NEW.example, NEW.meaning, array_to_string(NEW.causes, ' '))",
    breaks="(SELECT ''::text AS identifier, ''::text AS nickname, ''::text AS summary WHERE false) AS none",
    claims="evidence_claim WHERE error_text_id = NEW.id AND is_published",
)

for _trigger in refresh("nesting_errortext", "SELECT error_text_id FROM {rows}", name="error_search"):
    pgtrigger.register(_trigger)(Claim)
