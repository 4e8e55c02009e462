"""What a page shows of itself where somebody passes its address on: a picture with the page's own verdict.

`words` says what stands on the card of each kind of page, `drawing` makes the picture of it.
"""

from django.http import HttpRequest

# Goes up with each change to the drawing, so that pictures kept elsewhere are asked for anew.
DESIGN = 1


def version(request: HttpRequest) -> str:
    """The version of all cards now: it moves with the content. "" where the content's revision was not asked for."""
    revision = getattr(request, "revision", None)
    return f"{DESIGN}-{revision.number}" if revision else ""
