"""A forgotten password: a link by mail, and the page that it leads to. Neither says whether somebody has an account."""

import logging
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import translation

from mrtr_web import allowances
from mrtr_web.threads import with_connection
from mrtr_web.views.web import Request, own_host

log = logging.getLogger(__name__)
MOST_WAITING = 200
_waiting = threading.BoundedSemaphore(MOST_WAITING)
_post = ThreadPoolExecutor(1, thread_name_prefix="mail")


class ResetForm(PasswordResetForm):
    """Django's; nobody is sent more mails than their allowance."""

    def get_users(self, email: str) -> Iterable[User]:
        for user in super().get_users(email):
            try:
                allowances.spend(user.pk, "reset")
            except allowances.TooMany:
                continue
            yield user


def ask(request: HttpRequest) -> HttpResponse:
    """Where the address is typed. What is known of it is looked up once the page is answered: time tells nothing."""
    if not settings.CONFIG.can_mail:
        raise Http404
    form = ResetForm(request.POST or None)
    if not form.is_valid():
        return render(request, "account/reset.html", {"form": form})
    _send_later(form, own_host(request) if settings.SECURE_COOKIES else request.get_host())
    return redirect("reset_sent")


def sent(request: HttpRequest) -> HttpResponse:
    return render(request, "account/reset_sent.html")


class Confirm(PasswordResetConfirmView):
    """Where the link leads. All sessions of the person end once the new password is set."""

    request: Request
    template_name = "account/new_password.html"
    success_url = reverse_lazy("reset_done")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The token comes in the query, which no log has, and leaves the address at once."""
        token = self.request.GET.get("token", self.reset_url_token)
        return super().dispatch(*args, **kwargs, token=token)

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Their session in this very browser, too: somebody else may have its cookies."""
        visitor = self.request.visitor
        response = super().form_valid(form)
        if visitor is not None and visitor.user == form.user.pk:
            self.request.session.flush()
        return response


def done(request: HttpRequest) -> HttpResponse:
    return render(request, "account/reset_done.html")


def _send_later(form: ResetForm, host: str) -> None:
    if not _waiting.acquire(blocking=False):
        log.warning("too many mails are waiting to be sent: one was not sent")
        return
    sending = _post.submit(with_connection, _send, form, host, translation.get_language())
    sending.add_done_callback(lambda _: _waiting.release())


def _send(form: ResetForm, host: str, language: str) -> None:
    try:
        with translation.override(language):
            form.save(**_letter(host))
    except Exception as error:  # nobody waits for it
        log.error("a mail could not be written: %s", type(error).__name__)


def _letter(host: str) -> dict[str, Any]:
    return {
        "domain_override": host,
        "use_https": settings.SECURE_COOKIES,
        "from_email": settings.CONFIG.email_from,
        "subject_template_name": "account/reset_subject.txt",
        "email_template_name": "account/reset_mail.txt",
        "extra_email_context": {"site_name": settings.CONFIG.site_name},
    }
