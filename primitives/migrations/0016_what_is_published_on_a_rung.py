"""What is published is counted, rung by rung, and what is not is found, by an index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ladder", "0005_costs_as_claims_say"),
        ("primitives", "0015_names_begin"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="primitive",
            index=models.Index(fields=["is_published", "tier"], name="primitive_published_on"),
        ),
    ]
