"""What is counted over all claims and sources, and an example of each label, comes from indexes alone."""

import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0008_proposals"),
        ("evidence", "0011_costs_as_claims_say"),
        ("ladder", "0005_costs_as_claims_say"),
        ("nesting", "0001_initial"),
        ("primitives", "0015_names_begin"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="claim",
            index=models.Index(fields=["is_published", "kind", "label", "as_of"], name="claim_published_numbers"),
        ),
        migrations.AddIndex(
            model_name="claim",
            index=models.Index(
                models.F("label"),
                django.db.models.functions.text.Length("sentence"),
                models.F("id"),
                condition=models.Q(("is_published", True), ("primitive__isnull", False)),
                name="claim_examples",
            ),
        ),
        migrations.AddIndex(
            model_name="source",
            index=models.Index(fields=["kind"], name="evidence_so_kind_f2e32b_idx"),
        ),
    ]
