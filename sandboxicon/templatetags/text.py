"""Curators' text in templates: Markdown in, safe HTML out."""

import nh3
from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

register = template.Library()

_PAGE = MarkdownIt("commonmark", {"html": False})
# In a sentence only `code` is marked up: names such as __init__ and *.yaml mean themselves.
_SENTENCE = MarkdownIt("zero", {"html": False}).enable("backticks")
_TAGS = {"p", "em", "strong", "code", "pre", "ul", "ol", "li", "a", "h3", "h4", "blockquote", "br", "hr"}


@register.filter
def markdown(text: str) -> SafeString:
    """A text of several paragraphs."""
    return mark_safe(nh3.clean(_PAGE.render(text), tags=_TAGS, url_schemes={"https"}))  # noqa: S308


@register.filter
def sentence(text: str) -> SafeString:
    """A sentence, in which backticks mark code."""
    return mark_safe(nh3.clean(_SENTENCE.renderInline(text), tags={"code"}))  # noqa: S308
