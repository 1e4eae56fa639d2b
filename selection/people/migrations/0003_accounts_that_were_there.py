"""Accounts that were there before rights were go on seeing everything: nobody is locked out by an upgrade.

Who is staff could change clusters, and becomes an admin everywhere. Take back what is too much with `manage.py grant`.
"""

from django.db import migrations
from django.utils import timezone


def give(apps, schema_editor):
    """Give every account what it had."""
    user_model, grant_model = apps.get_model("auth", "User"), apps.get_model("people", "Grant")
    now = timezone.now()
    grant_model.objects.bulk_create(
        grant_model(
            user=user,
            role="admin" if user.is_staff else "viewer",
            created_at=now,
            created_by="the upgrade that brought rights",
        )
        for user in user_model.objects.filter(is_superuser=False, grants__isnull=True)
    )


class Migration(migrations.Migration):
    dependencies = [("people", "0002_grants"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
