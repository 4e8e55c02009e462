"""Curators' text in templates: Markdown in, safe HTML out."""

from functools import lru_cache

import nh3
from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

register = template.Library()

_PAGE = MarkdownIt("commonmark", {"html": False})
# In a sentence only `code` is marked up: names such as __init__ and *.yaml mean themselves.
_SENTENCE = MarkdownIt("zero", {"html": False}).enable("backticks")
_TAGS = {"p", "em", "strong", "code", "pre", "ul", "ol", "li", "a", "h3", "h4", "blockquote", "br", "hr"}


def _without_other_hosts(tag: str, attribute: str, value: str) -> str | None:
    """An address that begins with two slashes names a host, which only https:// may do here."""
    return None if attribute == "href" and value.replace("\\", "/").startswith("//") else value


@register.filter
def markdown(text: str) -> SafeString:
    """A text of several paragraphs."""
    html = nh3.clean(_PAGE.render(text), tags=_TAGS, url_schemes={"https"}, attribute_filter=_without_other_hosts)
    return mark_safe(html)  # noqa: S308


@register.filter
@lru_cache(5_000)
def sentence(text: str) -> SafeString:
    """A sentence, in which backticks mark code."""
    return mark_safe(nh3.clean(_SENTENCE.renderInline(text), tags={"code"}))  # noqa: S308
