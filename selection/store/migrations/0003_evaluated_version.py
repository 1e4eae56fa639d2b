from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0002_live"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="evaluated_version",
            field=models.CharField(
                blank=True, default="", help_text="The release line that it was judged by", max_length=10
            ),
            preserve_default=False,
        ),
    ]
