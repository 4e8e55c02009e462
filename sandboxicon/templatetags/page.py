"""What a page says of itself in its head, and where it stands among the others."""

from typing import Any

from django import template
from django.template import RequestContext
from django.template.loader_tags import BLOCK_CONTEXT_KEY
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe

from sandboxicon.cards import version

register = template.Library()


@register.simple_tag(takes_context=True)
def words_of(context: RequestContext, block: str) -> SafeString:
    """What the page puts into the block of this name, on one line, for a second place: the title for `og:title`."""
    found = context.render_context[BLOCK_CONTEXT_KEY].get_block(block)
    return mark_safe(" ".join(found.render(context).split()))  # noqa: S308 (a block comes out escaped)


@register.simple_tag(takes_context=True)
def absolute(context: RequestContext, address: str) -> str:
    """An address of this site with its scheme and host, which Django has held against ALLOWED_HOSTS."""
    absolute: str = context["request"].build_absolute_uri(address)
    return absolute


@register.simple_tag(takes_context=True)
def card(context: RequestContext, kind: str, slug: str = "") -> str:
    """The address of the picture that stands for this page: `{% card "agent" agent.slug %}`."""
    request = context["request"]
    address = reverse("card", args=[kind, slug] if slug else [kind])
    current = version(request)
    return absolute(context, f"{address}?{urlencode({'v': current})}" if current else address)


@register.inclusion_tag("_breadcrumb.html")
def breadcrumb(*names_and_addresses: str) -> dict[str, Any]:
    """The way from the front page to here: `{% breadcrumb "Audits" audits_url agent.name %}`.

    Pairs of a name and an address from the top, then the name of the page itself.
    """
    *above, here = names_and_addresses
    return {"above": [("Home", "/"), *zip(above[::2], above[1::2], strict=True)], "here": here}
