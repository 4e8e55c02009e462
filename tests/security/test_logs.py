import json
import logging

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.test import Client, RequestFactory, override_settings

from sandboxicon.logs import JsonFormatter, Numbered


def fail(request: WSGIRequest) -> HttpResponse:
    logging.getLogger("somewhere").error("line one\nline two <b>", exc_info=ValueError("bad"))
    return HttpResponse("ok")


@override_settings(LOG_REQUESTS=True, PROXIES=1)
def test_each_event_is_a_line_of_json_with_the_requests_number_and_nobodys_data(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    caplog.handler.setFormatter(JsonFormatter())
    request = RequestFactory().get(
        "/search/?q=private",
        REMOTE_ADDR="192.0.2.9",
        headers={"user-agent": "Mine/1", "cookie": "sessionid=abc", "x-request-id": "0123456789-abcdef"},
    )
    response = Numbered(fail)(request)
    assert response["X-Request-ID"] == "0123456789-abcdef"
    lines = caplog.text.splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["message"] for event in events] == ["line one\nline two <b>", "answered"]
    assert {event["request_id"] for event in events} == {"0123456789-abcdef"}
    assert "ValueError: bad" in events[0]["exception"]
    assert (events[1]["path"], events[1]["status"]) == ("/search/", 200)
    for private in ("private", "192.0.2.9", "Mine", 'abc"'):
        assert private not in caplog.text


@pytest.mark.django_db
def test_what_a_stranger_says_is_no_number(client: Client) -> None:
    first, second = (client.get("/healthz", headers={"x-request-id": "forged-number"}) for _ in range(2))
    assert "forged" not in first["X-Request-ID"] + second["X-Request-ID"]
    assert first["X-Request-ID"] != second["X-Request-ID"]
    with override_settings(PROXIES=1):
        assert "<" not in client.get("/healthz", headers={"x-request-id": "<b>markup</b>"})["X-Request-ID"]
