"""The columns of the listing are written for the entries that there are: each is touched, and its trigger does it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("primitives", "0008_listing"), ("sandboxicon", "0004_content_revision")]
    operations = [migrations.RunSQL("UPDATE primitives_primitive SET slug = slug", migrations.RunSQL.noop)]
