import datetime

import pytest
from django.test import Client, override_settings
from django.utils import timezone


@pytest.mark.django_db
def test_security_txt_names_a_contact_and_is_not_about_to_end(client: Client) -> None:
    with override_settings(SECURITY_CONTACT="mailto:security@guide.example"):
        response = client.get("/.well-known/security.txt", headers={"host": "localhost"})
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    assert fields["Contact"] == "mailto:security@guide.example"
    assert fields["Canonical"] == "http://localhost/.well-known/security.txt"
    left = datetime.datetime.fromisoformat(fields["Expires"]) - timezone.now()
    assert datetime.timedelta(days=150) < left < datetime.timedelta(days=365)


@pytest.mark.django_db
def test_without_a_contact_there_is_none(client: Client) -> None:
    with override_settings(SECURITY_CONTACT=""):
        assert client.get("/.well-known/security.txt").status_code == 404
