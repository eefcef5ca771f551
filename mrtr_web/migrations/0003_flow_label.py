"""A listed resource has no name that records may hold; its title is kept instead."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mrtr_web", "0002_append_only")]

    operations = [
        migrations.AddField(
            model_name="flow",
            name="label",
            field=models.CharField(blank=True, default="", max_length=200, verbose_name="label"),
            preserve_default=False,
        ),
    ]
