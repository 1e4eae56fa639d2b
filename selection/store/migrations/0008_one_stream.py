from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0007_change_what"),
    ]

    operations = [
        migrations.DeleteModel(
            name="FindingRow",
        ),
    ]
