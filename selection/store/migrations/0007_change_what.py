from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0006_finding_stream"),
    ]

    operations = [
        migrations.AddIndex(model_name="change", index=models.Index(fields=["what", "at"], name="change_what")),
    ]
