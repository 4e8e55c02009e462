"""What readers say is wrong, for curators alone: nothing of it is ever shown on the public site."""

import secrets

from django.core.validators import MaxLengthValidator, URLValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

LONGEST_TEXT = 4_000
LONGEST_URL = 1_000


class State(models.TextChoices):
    """What became of a correction. The order is that of the desk: what needs hands first."""

    NEW = "new", "new"
    ACCEPTED = "accepted", "accepted"
    DECLINED = "declined", "declined"
    DONE = "done", "done"

    @property
    def meaning(self) -> str:
        """What the reader who sent it is told."""
        return {
            State.NEW: "Nobody has looked at it yet.",
            State.ACCEPTED: "A curator thinks that it is right, and the claim is to be corrected.",
            State.DECLINED: "A curator has looked, and the claim stays as it is.",
            State.DONE: "The claim has been corrected.",
        }[self]


# In these nothing more is to be done, so nobody needs to be asked back.
CLOSED = [State.DECLINED, State.DONE]


def make_reference() -> str:
    """128 random bits, for an address that nobody guesses."""
    return secrets.token_urlsafe(16)


class CorrectionQuerySet(models.QuerySet["Correction"]):
    """Questions about corrections."""

    def open(self) -> "CorrectionQuerySet":
        """Those that still need somebody, the oldest first."""
        return self.exclude(state__in=CLOSED).order_by("sent_at", "pk")


class Correction(models.Model):
    """What one reader says is wrong with one claim, and what a curator answers."""

    claim = models.ForeignKey(
        "evidence.Claim",
        models.SET_NULL,
        null=True,
        related_name="corrections",
        help_text="The claim; empty once it is deleted.",
    )
    address = models.CharField(max_length=260, help_text="The claim's public address when it was sent.")
    wrong = models.TextField(verbose_name="what is wrong", validators=[MaxLengthValidator(LONGEST_TEXT)])
    source = models.TextField(
        blank=True,
        verbose_name="where it can be checked",
        validators=[URLValidator(schemes=["http", "https"]), MaxLengthValidator(LONGEST_URL)],
    )
    email = models.EmailField(
        blank=True, verbose_name="e-mail", help_text="To ask back. It goes once the correction is declined or done."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.NEW)
    answer = models.TextField(blank=True, help_text="The reader who knows the reference sees it. Plain text.")
    reference = models.CharField(max_length=30, unique=True, default=make_reference, editable=False)
    sending = models.UUIDField(unique=True, editable=False)  # of one form with one content: see CorrectionForm
    sent_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = CorrectionQuerySet.as_manager()

    class Meta:
        ordering = ["-sent_at", "-pk"]
        indexes = [models.Index(fields=["state", "sent_at"])]
        constraints = [
            models.CheckConstraint(name="correction_state_is_known", condition=Q(state__in=State.values)),
            models.CheckConstraint(
                name="correction_says_something",
                condition=Q(wrong__regex=r"\S"),
                violation_error_message="A correction says what is wrong.",
            ),
            models.CheckConstraint(
                name="closed_correction_keeps_no_email",
                condition=~Q(state__in=CLOSED) | Q(email=""),
                violation_error_message="A correction that is declined or done keeps no e-mail address.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address}, sent {self.sent_at:%Y-%m-%d}"

    def get_absolute_url(self) -> str:
        return reverse("correction", args=[self.reference])

    def get_state_meaning(self) -> str:
        """What the state means, for the reader."""
        return State(self.state).meaning


class Day(models.Model):
    """A day's salt for the addresses that corrections come from. It goes when the day is over, and with it all that the
    digests could be matched by."""

    day = models.DateField(primary_key=True)
    salt = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.day}"


class Sender(models.Model):
    """How many corrections one address has sent in a day. The address itself is stored nowhere."""

    day = models.ForeignKey(Day, models.CASCADE)
    digest = models.BinaryField()
    sent = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "digest"], name="sender_once_a_day")]

    def __str__(self) -> str:
        return f"{self.sent} on {self.day_id}"
