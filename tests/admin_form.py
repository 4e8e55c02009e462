"""The admin as a curator meets it: forms read from the page and sent back whole, as a browser does."""

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from bs4 import BeautifulSoup
from django.contrib.auth.models import Group, User
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

WHY = "Read again at the newest release."


def curator_client() -> Client:
    """A browser in which a member of Curators, and not more than that, has logged in."""
    user = User.objects.create_user("curie", is_staff=True)
    user.groups.add(Group.objects.get(name="Curators"))
    client = Client()
    client.force_login(user)
    return client


class AdminForm:
    """The form of a page of the admin: `fields` holds what would be sent, and may be changed. A reason is filled in."""

    def __init__(self, client: Client, url: str, response: Any = None) -> None:
        self.client, self.url = client, url
        self.response = response or client.get(url)
        assert self.response.status_code == 200
        self.page = BeautifulSoup(self.response.content, "html.parser")
        form: Any = self.page.select_one("#content-main form[method=post]")
        self.fields: dict[str, str | list[str]] = {}
        for field in form.select("[name]:not([disabled])"):
            if field.name == "select" and field.has_attr("multiple"):
                self.fields[field["name"]] = [str(option["value"]) for option in field.select("option[selected]")]
                continue
            if (value := _value(field)) is None:
                continue
            if field.get("type") == "checkbox" and field["name"] in self.fields:
                self.fields[field["name"]] = [*self.fields[field["name"]], value]
            else:
                self.fields[field["name"]] = [value] if field.get("type") == "checkbox" else value

        if self.fields.get("why") == "":
            self.fields["why"] = WHY

    @property
    def errors(self) -> str:
        """All that the page says is wrong."""
        return " ".join(error.get_text(" ", strip=True) for error in self.page.select(".errornote, .errorlist"))

    def number_of(self, prefix: str) -> int:
        return int(self.fields[f"{prefix}-TOTAL_FORMS"])  # type: ignore[arg-type]

    def add(self, prefix: str, **values: Any) -> str:
        """Press "Add another" and fill in what appears; gives the prefix of its fields."""
        new = f"{prefix}-{self.number_of(prefix)}"
        self.fields[f"{prefix}-TOTAL_FORMS"] = str(self.number_of(prefix) + 1)
        if prefix == "claims":
            values = {"position": 1000, "sources-TOTAL_FORMS": 0, "sources-INITIAL_FORMS": 0, **values}
        elif prefix.endswith("sources"):
            values = {"position": 1000, **values}
        for name, value in values.items():
            self.fields[f"{new}-{name}"] = [str(one) for one in value] if isinstance(value, list) else str(value)
        return new

    def send(self) -> "AdminForm | None":
        """Press "Save": gives the form that is shown again, or None where it was saved."""
        response = self.client.post(self.url, dict(self.fields))
        if response.status_code == 302:
            return None
        return AdminForm(self.client, self.url, response)


def _value(field: Any) -> str | None:
    if field.name == "textarea":
        return str(field.text.removeprefix("\n"))
    if field.name == "select":
        chosen = field.select_one("option[selected]") or field.select_one("option")
        return str(chosen.get("value", "")) if chosen else ""
    if field.get("type") in ("checkbox", "radio"):
        return str(field.get("value", "on")) if field.has_attr("checked") else None
    return None if field.get("type") == "submit" else str(field.get("value", ""))


def text_of(response: Any) -> str:
    """The page as read, in one line."""
    return " ".join(BeautifulSoup(response.content, "html.parser").get_text(" ").split())


def queries(client: Client, url: str) -> int:
    """How many queries the page takes."""
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def amid(statement: str, parameters: list[Any], act: Callable[[], Any]) -> Any:
    """What `act` gives when it runs into a row that another transaction wrote, which commits while `act` waits for it.

    For a test with transaction=True.
    """
    result: list[Any] = []

    def run() -> None:
        try:
            result.append(act())
        finally:
            connections.close_all()

    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SET CONSTRAINTS ALL IMMEDIATE")
        other.execute(statement, parameters)
        thread = threading.Thread(target=run)
        thread.start()
        for _ in range(200):
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                )
                if cursor.fetchone():
                    break
            time.sleep(0.05)
        else:
            raise AssertionError("nothing ran into the other transaction")
        other.commit()
    thread.join(20)
    return result[0]
