"""The admin's second key: a code of the curator's phone, asked for after the password wherever SECOND_FACTOR is on."""

import base64
import logging
from typing import Any

import segno
from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django_otp import login, verify_token
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

log = logging.getLogger(__name__)

NUMBER_OF_CODES = 10
NEW_KEY = "second-factor-key"  # in the session of who is about to enrol
REFUSED = "That code was not accepted. Each works once; after a wrong one, wait a moment before the next."


class CodeForm(forms.Form):
    """Six digits of an authenticator, or a recovery code."""

    code = forms.CharField(
        max_length=16,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        return "".join(code.split()).lower()


class CuratorsSite(admin.AdminSite):
    """Django's admin site, where a password alone opens nothing while SECOND_FACTOR is on."""

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and (not settings.SECOND_FACTOR or _is_verified(request))

    index_template = "admin/desk.html"

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from sandboxicon import desk, exchange  # which are made of other admins, and they of this one

        own = {"desk": desk.piles(request), "may_import": request.user.has_perms(exchange.NEEDED)}
        return super().index(request, {**(extra_context or {}), **own})

    def get_urls(self) -> list[Any]:
        from sandboxicon.exchange import import_content

        own = [
            path("second-factor/", self.second_factor, name="second_factor"),
            path("import/", self.admin_view(import_content), name="import_content"),
        ]
        return [*own, *super().get_urls()]

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if super().has_permission(request) and not self.has_permission(request):
            return redirect_to_login(_next(request), reverse("admin:second_factor"))
        return super().login(request, extra_context)

    @method_decorator(never_cache)
    @method_decorator(sensitive_post_parameters("code"))
    @method_decorator(csrf_protect)
    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Ask for a code; or, of a curator who has no authenticator yet, that they set one up now."""
        if not super().has_permission(request) or _is_verified(request):
            return redirect(_next(request))
        form = CodeForm(request.POST or None)
        user: Any = request.user
        device = TOTPDevice.objects.filter(user=user, confirmed=True).first()
        if device is None:
            return self._enrol(request, form)
        if form.is_valid():
            if found := _verify(user, device, form.cleaned_data["code"]):
                _enter(request, found)
                return redirect(_next(request))
            log.warning("a second factor was refused")
            form.add_error("code", REFUSED)
        return self._page(request, "admin/second_factor.html", "Second factor", form=form)

    def _enrol(self, request: HttpRequest, form: CodeForm) -> HttpResponse:
        # Kept in the session, so that nobody else who knows the password can know the key that is agreed on here.
        key = request.session.setdefault(NEW_KEY, random_hex())
        user: Any = request.user
        if form.is_valid():
            if codes := _enrolled(request, key, form.cleaned_data["code"]):
                del request.session[NEW_KEY]
                return self._page(request, "admin/recovery_codes.html", "Recovery codes", codes=codes)
            form.add_error("code", REFUSED)
        device = TOTPDevice(user=user, key=key)
        return self._page(
            request,
            "admin/enrol.html",
            "Set up a second factor",
            form=form,
            secret=base64.b32encode(device.bin_key).decode().rstrip("="),
            picture=mark_safe(  # noqa: S308
                segno.make(device.config_url).svg_inline(scale=5, light="#fff", title="QR code of the key below")
            ),
        )

    def _page(self, request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
        then = _next(request)
        return render(request, template, {**self.each_context(request), "title": title, "next": then, **context})


def _is_verified(request: HttpRequest) -> bool:
    user: Any = request.user  # as django-otp's middleware leaves it
    return bool(user.is_verified())


def _next(request: HttpRequest) -> str:
    """Where the curator wanted to go, if that is here."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_here = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_here else reverse("admin:index")


def _enter(request: HttpRequest, device: Any) -> None:
    login(request, device)
    request.session.cycle_key()


def _verify(user: Any, device: TOTPDevice, code: str) -> Any:
    """The device that accepts the code, which never does again; None while a wrong one is waited for."""
    asked: Any = device if code.isdecimal() else StaticDevice.objects.filter(user=user, confirmed=True).first()
    return verify_token(user, asked.persistent_id, code) if asked else None


@transaction.atomic
def _enrolled(request: HttpRequest, key: str, code: str) -> list[str]:
    """The recovery codes of the curator who has just shown that their authenticator holds the key; else none."""
    user: Any = request.user
    device = TOTPDevice(user=user, key=key, name="Authenticator")
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    if not code.isdecimal() or not totp.verify(int(code), tolerance=1):
        return []
    # Two at once: the second has come too late, and is asked for a code of the first one's authenticator.
    get_user_model().objects.select_for_update().get(pk=user.pk)
    if TOTPDevice.objects.filter(user=user, confirmed=True).exists():
        return []
    device.last_t = totp.t()
    device.save()
    spare = StaticDevice.objects.create(user=user, name="Recovery codes")
    codes = [StaticToken.random_token() for _ in range(NUMBER_OF_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=spare, token=code) for code in codes)
    _enter(request, device)
    return codes
