from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0004_daily_count"),
    ]

    operations = [
        # The foreign key has one already.
        migrations.RemoveIndex(model_name="change", name="change_cause"),
        migrations.RemoveIndex(model_name="change", name="change_runtime_lost"),
        migrations.RemoveIndex(model_name="change", name="change_runtime_won"),
        migrations.AddIndex(
            model_name="change", index=models.Index(fields=["cluster", "before"], name="change_before")
        ),
        migrations.AddIndex(model_name="change", index=models.Index(fields=["cluster", "after"], name="change_after")),
    ]
