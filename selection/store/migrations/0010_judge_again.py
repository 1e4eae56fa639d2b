from typing import Any

from django.db import migrations
from django.db.models import F


def judge_again(apps: Any, schema_editor: Any) -> None:
    """Have who follows a cluster judge it once more, so that the stream has its findings also when nothing changes."""
    clusters = apps.get_model("store", "Cluster").objects.filter(generation__gt=0, evaluated_generation=F("generation"))
    clusters.update(evaluated_generation=F("generation") - 1)


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0009_stream_indexes"),
    ]

    operations = [
        migrations.RunPython(judge_again, migrations.RunPython.noop),
    ]
