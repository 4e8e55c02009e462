"""How many corrections one address may send in a day, counted in Postgres, so that all workers count together."""

import hmac
import secrets

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from corrections.models import Day, Sender


def take_one(address: str) -> bool:
    """Whether this address may send one more today; if so, it is counted. Only within a transaction.

    The row is locked until the transaction ends: another worker that counts the same address waits, and sees the count.
    """
    today = timezone.localdate()
    day = Day.objects.filter(day=today).first()
    if day is None:
        Day.objects.filter(day__lt=today).delete()
        day, _ = Day.objects.get_or_create(day=today, defaults={"salt": secrets.token_bytes(32)})
    digest = hmac.digest(bytes(day.salt), address.encode(), "sha256")
    Sender.objects.bulk_create([Sender(day=day, digest=digest)], ignore_conflicts=True)
    mine = Sender.objects.filter(day=day, digest=digest, sent__lt=settings.CORRECTIONS_A_DAY)
    return mine.update(sent=F("sent") + 1) == 1
