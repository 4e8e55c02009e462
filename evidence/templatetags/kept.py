"""Parts of pages that a process keeps for as long as the content stays as it is (`evidence.kept`)."""

from typing import Any

from django import template
from django.template import Context, Node, NodeList, TemplateSyntaxError
from django.template.base import Parser, Token

from evidence.kept import HOLE, HOLES, KeptByRevision

register = template.Library()

NO_LIVE_PART = "There is no live part in what is kept; only in a page that is."

# Some of each template that makes a page.
_PARTS = KeptByRevision(1_000)


class KeptNode(Node):
    """What `{% kept %}` makes."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        page = context.template.name if context.template else ""
        return str(_PARTS.get(context.get("request"), (self, page), lambda: self._made(context)))

    def _made(self, context: Context) -> str:
        made = self.nodelist.render(context)
        if HOLE in made:
            raise TemplateSyntaxError(NO_LIVE_PART)
        return made


@register.tag
def kept(parser: Parser, token: Token) -> KeptNode:
    """`{% kept %}`...`{% endkept %}`: a part that is the same in all pages that one template makes, for as long as the
    content is the same. So nothing of the request may decide what is in it, not even its host.
    """
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    if nodelist.get_nodes_by_type(LiveNode):
        raise TemplateSyntaxError(NO_LIVE_PART)
    return KeptNode(nodelist)


class LiveNode(Node):
    """What `{% live %}` makes. While a page is made to be kept (`evidence.kept.kept_page`), it leaves a hole and notes
    itself.
    """

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
    """`{% live %}`...`{% endlive %}`: one of the parts of a page that are made each time, where the rest is kept. It
    may use what the view gives the page, and nothing that the template sets around it.
    """
    nodelist = parser.parse(("endlive",))
    parser.delete_first_token()
    return LiveNode(nodelist)
