"""What people say of a thing."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from .written import Written

__all__ = ["Comment", "Mention"]


class Comment(Written):
    """A comment in Markdown. One that was removed keeps its place; its text stands in the record of acts alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    subject = models.CharField(max_length=700, help_text="What it is about: see selection.people.subjects")
    author = models.CharField(max_length=150)
    token = models.CharField(max_length=80, blank=True, help_text="The name of the token that wrote it for them")
    text = models.TextField(blank=True)
    created_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    removed_by = models.CharField(max_length=150, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering: ClassVar[list[str]] = ["created_at", "id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["subject", "created_at"], name="comment_subject"),
            models.Index(fields=["author", "created_at"], name="comment_author"),
        ]

    def __str__(self) -> str:
        return f"{self.author} on {self.subject}"


class Mention(Written):
    """Somebody whom a comment names with ``@``."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    name = models.CharField(max_length=150)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["comment", "name"], name="mention_once")
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["name"], name="mention_name")]

    def __str__(self) -> str:
        return f"@{self.name}"
