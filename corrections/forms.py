"""The form in which a reader says what is wrong."""

import uuid
from typing import Any

from django import forms

from corrections.models import LONGEST_TEXT, LONGEST_URL, Correction
from evidence.models import Claim

SHORTEST_TEXT = 10
NOT_AN_ADDRESS = "Give an address that begins with https:// or http://, or leave this empty."


class Text(forms.CharField):
    """Text of several lines. A browser sends two characters where a line ends, which count as one."""

    widget = forms.Textarea(attrs={"rows": 6})

    def to_python(self, value: Any) -> Any:
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class CorrectionForm(forms.Form):
    """What is wrong, where it can be checked, and whom to ask back.

    `website` is a trap for programs, which fill in all that there is. `form_token` is of one form shown, so that a form
    that is sent twice counts once.
    """

    wrong = Text(
        label="What is wrong?",
        min_length=SHORTEST_TEXT,
        max_length=LONGEST_TEXT,
        help_text=f"In your own words, {SHORTEST_TEXT} to {LONGEST_TEXT:,} characters.",
        error_messages={
            "required": "Say what is wrong.",
            "min_length": f"Say it in {SHORTEST_TEXT} characters or more.",
        },
    )
    source = forms.URLField(
        label="Where can it be checked?",
        required=False,
        max_length=LONGEST_URL,
        assume_scheme="https",
        help_text="A web address, if there is one.",
        error_messages={"invalid": NOT_AN_ADDRESS},
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off"}),
    )
    email = forms.EmailField(
        label="Your e-mail address, if we may ask back",
        required=False,
        max_length=254,
        help_text="Seen by curators alone, and deleted when the matter is closed.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    website = forms.CharField(
        label="Leave this empty",
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "tabindex": "-1"}),
    )
    form_token = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.new_token = uuid.uuid4()
        for name, field in self.fields.items():
            parts = [
                *(["help"] if field.help_text else []),
                *(["error"] if self.is_bound and name in self.errors else []),
            ]
            if parts:
                field.widget.attrs["aria-describedby"] = " ".join(f"{name}-{part}" for part in parts)

    def clean_source(self) -> str:
        source: str = self.cleaned_data["source"]
        if source and not source.lower().startswith(("https://", "http://")):
            raise forms.ValidationError(NOT_AN_ADDRESS)
        return source

    def clean_website(self) -> str:
        if self.cleaned_data["website"]:
            raise forms.ValidationError("Leave this field empty. It is there to tell programs from people.")
        return ""

    @property
    def is_broken(self) -> bool:
        """Whether what the form carries along is not whole, which the reader can do nothing about but send again."""
        return self.is_bound and "form_token" in self.errors

    @property
    def next_token(self) -> Any:
        """What the form carries along when it is shown: what it came with, if that was good."""
        return self.cleaned_data["form_token"] if self.is_bound and not self.is_broken else self.new_token

    def correction(self, claim: Claim) -> Correction:
        """What was sent, not yet saved. What is sent again, as by a double click, has the same `sending`."""
        typed = {name: self.cleaned_data[name] for name in ("wrong", "source", "email")}
        sending = uuid.uuid5(self.cleaned_data["form_token"], "\0".join([claim.address, *typed.values()]))
        return Correction(claim=claim, address=claim.address, sending=sending, **typed)
