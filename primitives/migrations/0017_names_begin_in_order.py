"""How names begin is looked up in the order of their bytes, so that a search always takes the same of many."""

import django.db.models.functions.comparison
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ladder", "0005_costs_as_claims_say"),
        ("primitives", "0016_what_is_published_on_a_rung"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="primitive",
            name="primitive_names_begin",
        ),
        migrations.AddIndex(
            model_name="primitive",
            index=models.Index(
                django.db.models.functions.comparison.Collate(
                    django.db.models.functions.text.Left("search_names", 60), "C"
                ),
                models.F("id"),
                name="primitive_names_begin",
            ),
        ),
    ]
