"""Who may what, and where."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import Group, User
from django.db import models

__all__ = ["Grant", "Role"]


class Role(models.TextChoices):
    """What somebody is where a grant says so. Each role may what those before it may.

    >>> Role.ADMIN.holds(Role.REVIEWER), Role.VIEWER.holds(Role.REVIEWER)
    (True, False)
    """

    VIEWER = "viewer", "Viewer"
    REVIEWER = "reviewer", "Reviewer"
    ADMIN = "admin", "Admin"

    def holds(self, wanted: Role) -> bool:
        """Whether this role may what needs ``wanted``."""
        order = list(Role)
        return order.index(self) >= order.index(wanted)


class Grant(models.Model):
    """A role of a user, or of a group's members, in a namespace, a cluster, or everywhere.

    Clusters and namespaces are named, not pointed at: a grant outlasts a cluster that is forgotten and read again, and
    may be given before there is one.
    """

    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE, related_name="grants")
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=10, choices=Role)
    cluster = models.CharField(max_length=253, blank=True, help_text="Empty for every cluster")
    namespace = models.CharField(max_length=253, blank=True, help_text="Empty for every namespace")
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150, help_text="The name of whoever gave it")

    class Meta:
        ordering: ClassVar[list[str]] = ["user__username", "group__name", "cluster", "namespace"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=True) ^ models.Q(group__isnull=True), name="grant_to_one"
            ),
            models.UniqueConstraint(
                fields=["user", "cluster", "namespace"],
                condition=models.Q(user__isnull=False),
                name="grant_of_user_once",
            ),
            models.UniqueConstraint(
                fields=["group", "cluster", "namespace"],
                condition=models.Q(group__isnull=False),
                name="grant_of_group_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.whose}: {self.role} {self.place}"

    @property
    def whose(self) -> str:
        """Who has it, in words: ``alice`` or ``group platform``."""
        return f"group {self.group.name}" if self.group else self.user.get_username() if self.user else ""

    @property
    def place(self) -> str:
        """Where it holds, in words.

        >>> Grant(cluster="lab", namespace="ml").place, Grant().place, Grant(namespace="ml").place
        ('in namespace ml of lab', 'everywhere', 'in namespace ml of every cluster')
        """
        if self.namespace:
            return f"in namespace {self.namespace} of {self.cluster or 'every cluster'}"
        return f"in {self.cluster}" if self.cluster else "everywhere"

    def covers(self, cluster: str, namespace: str) -> bool:
        """Whether it holds in a namespace; with ``""`` in the whole cluster, and with both in every cluster.

        >>> Grant(cluster="lab").covers("lab", "ml"), Grant(cluster="lab", namespace="ml").covers("lab", "")
        (True, False)
        """
        return self.cluster in ("", cluster) and self.namespace in ("", namespace)
