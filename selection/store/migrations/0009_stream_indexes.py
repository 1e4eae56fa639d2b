import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0008_one_stream"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="finding",
            name="stream_code",
        ),
        migrations.RemoveIndex(
            model_name="finding",
            name="stream_gone",
        ),
        migrations.RemoveIndex(
            model_name="finding",
            name="stream_present",
        ),
        migrations.AlterField(
            model_name="finding",
            name="cluster",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="stream", to="store.cluster"
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True), _negated=True), fields=["gone_at"], name="stream_gone"
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True)),
                fields=["urgency", "code", "severity", "cluster", "kind", "namespace", "name"],
                name="stream_present",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True)),
                fields=["code", "cluster", "kind", "namespace", "name", "severity", "urgency"],
                name="stream_code",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True)),
                fields=["cluster", "code", "kind", "namespace", "name", "severity", "urgency"],
                name="stream_cluster",
            ),
        ),
    ]
