"""What templates of nesting need."""

from django import template

register = template.Library()


@register.filter
def command(check: str) -> tuple[str, str]:
    """A check as the command to type and what to look for, which stands behind two spaces in brackets."""
    typed, _, note = check.partition("  (")
    return typed, note.removesuffix(")")
