"""Headers of every answer, static files too, that no library sets for us."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Powers of a browser that a page can give away, as Chromium names them. Left out are two that some of its versions know
# for sites of an origin trial alone, and complain of anywhere else: digital-credentials-create and speaker-selection.
POWERS = """
    accelerometer autoplay browsing-topics camera clipboard-read clipboard-write compute-pressure
    cross-origin-isolated digital-credentials-get display-capture encrypted-media
    fullscreen gamepad geolocation gyroscope hid identity-credentials-get idle-detection keyboard-map
    local-fonts local-network local-network-access loopback-network magnetometer microphone midi
    otp-credentials payment picture-in-picture publickey-credentials-create publickey-credentials-get
    screen-wake-lock serial storage-access sync-xhr usb window-management
    xr-spatial-tracking
""".split()


def cross_origin(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: no other site embeds our answers, and our pages embed nothing that did not agree to it.

    The opener policy is Django's own (SECURE_CROSS_ORIGIN_OPENER_POLICY). Requests in CORS mode are not concerned.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cross-Origin-Embedder-Policy", "require-corp")
        return response

    return middleware
