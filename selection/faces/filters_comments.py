"""What comments can be narrowed by."""

from __future__ import annotations

import django_filters

from selection.faces.filterfields import Name, Words
from selection.people.models import Comment

__all__ = ["CommentFilter"]


class CommentFilter(django_filters.FilterSet):
    """Comments by what they are about, who wrote them, whom they name, and where."""

    q = Words("text", "author", "subject")
    subject = django_filters.CharFilter(field_name="subject", label="Of one thing", max_length=700)
    author = Name("author", "By")
    mentions = Name("mentions__name", "Naming")
    cluster = Name("cluster", "Cluster")
    namespace = Name("namespace", "Namespace")

    class Meta:
        model = Comment
        fields: list[str] = []
