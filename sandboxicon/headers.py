"""Headers of every answer, static files too, that no library sets for us."""

from collections.abc import Callable

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Powers of a browser that a page can give away, as Chromium names them. Left out are two that some of its versions know
# for sites of an origin trial alone, and complain of anywhere else: digital-credentials-create and speaker-selection.
POWERS: list[str] = """
    accelerometer autoplay browsing-topics camera clipboard-read clipboard-write compute-pressure
    cross-origin-isolated digital-credentials-get display-capture encrypted-media
    fullscreen gamepad geolocation gyroscope hid identity-credentials-get idle-detection keyboard-map
    local-fonts local-network local-network-access loopback-network magnetometer microphone midi
    otp-credentials payment picture-in-picture publickey-credentials-create publickey-credentials-get
    screen-wake-lock serial storage-access sync-xhr usb window-management
    xr-spatial-tracking
""".split()


class ContentSecurityPolicy(CSPMiddleware):
    """Middleware: django-csp's, but for the many responses that have nothing of their own in their policy. Theirs is
    put together once, and not with each of them, which takes as long as half of all other middleware.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self.policy = build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        has_its_own = hasattr(request, "_csp_nonce") or any(name.startswith("_csp") for name in vars(response))
        if has_its_own or settings.DEBUG:
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, self.policy)
        return response


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
