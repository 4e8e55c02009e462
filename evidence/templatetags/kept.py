"""Parts of pages that a process keeps for as long as the content stays as it is (`evidence.kept`)."""

import secrets
from collections.abc import Callable
from typing import Any

from django import template
from django.template import Context, Node, NodeList, TemplateSyntaxError
from django.template.base import Parser, Token
from django.template.loader_tags import BLOCK_CONTEXT_KEY

from evidence.kept import KeptByRevision

register = template.Library()

# Some of each template that makes a page, and some more of a list for what was searched in it.
_PARTS = KeptByRevision(1_000)

# Where the holes of a page are, in what is kept of it; and under what their parts are noted while it is made.
HOLE = f"<!--{secrets.token_hex(8)}-->"
HOLES = "holes"


class KeptNode(Node):
    """What `{% kept %}` makes."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        return str(_kept(context, self, "", lambda: self.nodelist.render(context)))


@register.tag
def kept(parser: Parser, token: Token) -> KeptNode:
    """`{% kept %}`...`{% endkept %}`: a part that is the same in all pages that one template makes, for as long as the
    content is the same. So nothing of the request may decide what is in it, not even its host.
    """
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    if nodelist.get_nodes_by_type(LiveNode):
        raise TemplateSyntaxError("There is no live part in what is kept; only in a page that is.")
    return KeptNode(nodelist)


class KeptPageNode(Node):
    """What `{% kept_page %}` makes."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        blocks: Any = context.render_context.get(BLOCK_CONTEXT_KEY)
        kept_by = blocks.get_block("kept_by") if blocks else None
        if kept_by is None:
            return self.nodelist.render(context)

        def make() -> tuple[list[str], list[LiveNode]]:
            noted: Any = context.render_context
            noted[HOLES] = []
            try:
                return self.nodelist.render(context).split(HOLE), noted[HOLES]
            finally:
                del noted[HOLES]

        texts, holes = _kept(context, self, kept_by.render(context), make)
        pieces = [texts[0]]
        for hole, text in zip(holes, texts[1:], strict=True):
            pieces += hole.nodelist.render(context), text
        return "".join(pieces)


@register.tag
def kept_page(parser: Parser, token: Token) -> KeptPageNode:
    """Around a whole page: where its template has a block `kept_by`, all but its `{% live %}` parts is kept, for those
    pages of the template in which that block says the same, for as long as the content is the same.
    """
    nodelist = parser.parse(("endkept_page",))
    parser.delete_first_token()
    return KeptPageNode(nodelist)


class LiveNode(Node):
    """What `{% live %}` makes. While a page is made to be kept, it leaves a hole and notes itself."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        # Of several dictionaries: within an include the last one is its own.
        scopes: Any = context.render_context.dicts
        holes = next((scope[HOLES] for scope in reversed(scopes) if HOLES in scope), None)
        if holes is None:
            return self.nodelist.render(context)
        holes.append(self)
        return HOLE


@register.tag
def live(parser: Parser, token: Token) -> LiveNode:
    """`{% live %}`...`{% endlive %}`: one of the parts of a kept page that are made each time. It may use what the view
    gives the page, and nothing that the template sets around it.
    """
    nodelist = parser.parse(("endlive",))
    parser.delete_first_token()
    return LiveNode(nodelist)


def _kept(context: Context, node: Node, depends_on: str, make: Callable[[], Any]) -> Any:
    """What the node makes in this page's template, where it depends on nothing but this."""
    page = context.template.name if context.template else ""
    return _PARTS.get(context.get("request"), (node, page, depends_on), make)
