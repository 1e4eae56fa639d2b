"""What the gallery sets its parts with: ``{% load gallery %}``."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

__all__ = ["register"]

register = template.Library()


@register.simple_block_tag
def part(content: str, title: str, component: str) -> SafeString:
    """A part: its title, and the file in ``templates/components/`` that it shows, ``base`` for what has none."""
    slug = slugify(title)
    return format_html(
        '<section class="section" aria-labelledby="part-{}" data-component="{}"><h2 id="part-{}">{}</h2>{}</section>',
        slug,
        component,
        slug,
        title,
        content,
    )
