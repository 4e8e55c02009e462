"""The ledger's present state for programs: the claims found, as JSON or as a table, at most as many as it counts."""

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from evidence.citation import LICENCE, SITE
from evidence.export import COLUMNS, row
from evidence.ledger import LedgerFilterSet
from evidence.models import Claim

LICENCE_URL = "https://creativecommons.org/licenses/by/4.0/"
# So many claims are read at a time, so that a long answer takes no more memory than a short one.
AT_ONCE = 500
SOURCE_FIELDS = ["kind", "repo", "commit", "path", "lines", "url", "title", "purl"]


def answer(request: HttpRequest, filterset: LedgerFilterSet, wanted: str) -> StreamingHttpResponse:
    """The claims found in a format of FORMATS."""
    make, content_type = FORMATS[wanted]
    claims = filterset.found()[: filterset.most].iterator(chunk_size=AT_ONCE)
    response = StreamingHttpResponse(make(request, filterset, claims), content_type=content_type)
    response["Content-Disposition"] = f'{"attachment" if wanted == "csv" else "inline"}; filename="claims.{wanted}"'
    return response


def claim_data(request: HttpRequest, claim: Claim) -> dict[str, Any]:
    """A claim as JSON has it; what is empty is null."""
    return {
        "id": claim.address,
        "url": request.build_absolute_uri(claim.get_absolute_url()),
        "kind": claim.kind,
        "subject": str(claim.subject),
        "aspect": claim.aspect,
        "sentence": claim.sentence,
        "label": claim.label,
        "version": claim.version or None,
        "as_of": claim.as_of.isoformat(),
        "freshness": claim.freshness.value,
        "reasoning": claim.reasoning or None,
        "looked": claim.looked or None,
        "sources": [
            {
                **{name: value for name in SOURCE_FIELDS if (value := getattr(source, name))},
                "href": source.href or None,
            }
            for source in claim.sources.all()
        ],
    }


def _json(request: HttpRequest, filterset: LedgerFilterSet, claims: Iterator[Claim]) -> Iterator[str]:
    about = {
        "site": SITE,
        "licence": LICENCE,
        "licence_url": LICENCE_URL,
        "url": request.build_absolute_uri(f"{request.path}?{filterset.query()}"),
        "at_most": filterset.most,
        "notices": filterset.notices,
    }
    yield json.dumps(about, ensure_ascii=False)[:-1] + ', "claims": ['
    for number, claim in enumerate(claims):
        yield (",\n" if number else "\n") + json.dumps(claim_data(request, claim), ensure_ascii=False)
    yield "\n]}\n"


class _Line:
    """A file that gives back what is written to it."""

    def write(self, line: str) -> str:
        return line


def _csv(request: HttpRequest, filterset: LedgerFilterSet, claims: Iterator[Claim]) -> Iterator[str]:
    table = csv.writer(_Line())
    yield table.writerow(COLUMNS)
    for claim in claims:
        yield table.writerow(row(claim))


FORMATS: dict[str, tuple[Callable[..., Iterator[str]], str]] = {
    "json": (_json, "application/json"),
    "csv": (_csv, "text/csv; charset=utf-8"),
}
