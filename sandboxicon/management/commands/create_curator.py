import getpass
import os
import sys
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.urls import reverse


class Command(BaseCommand):
    """What `make admin` does. Name and password come from CURATOR_USERNAME and CURATOR_PASSWORD, or are asked for."""

    help = "Create a user who may edit the content in the admin."

    def handle(self, *args: Any, **options: Any) -> None:
        group = Group.objects.filter(name="Curators").first()
        if group is None:
            raise CommandError("The group Curators does not exist yet. Run `make run` once, which creates it.")
        user = get_user_model()(is_staff=True, username=os.environ.get("CURATOR_USERNAME") or self.ask("Username: "))
        self.refuse_bad_name(user)
        password = os.environ.get("CURATOR_PASSWORD") or self.ask_password()
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        user.set_password(password)
        with transaction.atomic():
            user.save()
            user.groups.add(group)
        self.stdout.write(f"{user.username} can now log in at {reverse('admin:index')}.")

    def ask(self, prompt: str) -> str:
        self.need_terminal()
        return input(prompt).strip()

    def ask_password(self) -> str:
        self.need_terminal()
        password = getpass.getpass("Password: ")
        if getpass.getpass("Password again: ") != password:
            raise CommandError("The two passwords differ.")
        return password

    def need_terminal(self) -> None:
        if not sys.stdin.isatty():
            raise CommandError("There is no terminal to ask in. Set CURATOR_USERNAME and CURATOR_PASSWORD.")

    def refuse_bad_name(self, user: AbstractUser) -> None:
        try:
            user.clean_fields(exclude={"password"})
            user.validate_unique()
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
