import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0005_change_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="Finding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=80)),
                ("kind", models.CharField(max_length=63)),
                ("namespace", models.CharField(blank=True, max_length=253)),
                ("name", models.CharField(max_length=253)),
                ("component", models.CharField(blank=True, max_length=10)),
                ("code", models.CharField(max_length=40)),
                ("about", models.CharField(blank=True, max_length=1000)),
                (
                    "path",
                    models.CharField(blank=True, help_text="The deciding field, as it stands now", max_length=500),
                ),
                ("severity", models.CharField(help_text="The one in force; off hides it", max_length=10)),
                ("urgency", models.PositiveSmallIntegerField(help_text="Sorts them: the worst first")),
                ("evidence", models.CharField(max_length=32)),
                ("told", models.CharField(max_length=32)),
                ("facts", models.JSONField(default=dict)),
                ("first_seen", models.DateTimeField()),
                ("changed_at", models.DateTimeField(help_text="When its evidence last became another", null=True)),
                ("gone_at", models.DateTimeField(null=True)),
                (
                    "came_back",
                    models.PositiveIntegerField(default=0, help_text="How often it came back after it was gone"),
                ),
                ("came_back_at", models.DateTimeField(null=True)),
                (
                    "generation",
                    models.PositiveBigIntegerField(
                        default=0, help_text="The cluster's generation that last changed it"
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="stream", to="store.cluster"
                    ),
                ),
            ],
            options={
                "ordering": ["urgency", "cluster", "namespace", "name", "component", "about", "key"],
            },
        ),
        migrations.CreateModel(
            name="FindingEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                (
                    "act",
                    models.CharField(
                        choices=[("gone", "Gone"), ("back", "Back"), ("changed", "Changed")], max_length=10
                    ),
                ),
                ("generation", models.PositiveBigIntegerField(help_text="The cluster's generation that was judged")),
                ("facts", models.JSONField(default=dict)),
                (
                    "finding",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="store.finding"
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="SeveritySetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=40)),
                ("severity", models.CharField(max_length=10)),
                ("by", models.CharField(blank=True, help_text="Who said so, as text", max_length=150)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("at", models.DateTimeField()),
            ],
            options={
                "ordering": ["code"],
                "constraints": [models.UniqueConstraint(fields=("code",), name="severity_setting_once")],
            },
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(fields=["cluster", "kind", "name"], name="stream_object"),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(fields=["code", "gone_at"], name="stream_code"),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(fields=["gone_at"], name="stream_gone"),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True)),
                fields=["urgency", "cluster", "namespace", "name", "severity", "code"],
                name="stream_present",
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.UniqueConstraint(fields=("key",), name="stream_key_once"),
        ),
        migrations.AddIndex(
            model_name="findingevent",
            index=models.Index(fields=["at"], name="finding_event_at"),
        ),
    ]
