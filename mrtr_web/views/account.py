"""Signing in and out, how long that lasts, and posts that came with a stale form."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.csrf import REASON_BAD_ORIGIN, REASON_BAD_REFERER
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from mrtr_web import guard, measures, mine
from mrtr_web.sessions import extend
from mrtr_web.views.web import Request, SignedIn, address_of, lost_post, signed_in


class LoginForm(AuthenticationForm):
    """Django's, in words of ours."""

    error_messages = {
        "invalid_login": _("This name and this password do not belong together. Small and capital letters differ."),
        "inactive": _("This name and this password do not belong together. Small and capital letters differ."),
    }


class Login(LoginView):
    """Sign in; says so where a session ended because the browser lost its key.

    Whoever has failed too often gets the same page, whatever the account, and is told how long to wait; one failure
    before that, what comes next.
    """

    template_name = "account/login.html"
    authentication_form = LoginForm

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Few passwords are looked at at once: each takes 100 MB for half a second."""
        if not guard.has_turn():
            typed = {"username": request.POST.get("username", "")}
            return self._later(self.get_form_class()(request, initial=typed), guard.PATIENCE, busy=True)
        try:
            return super().post(request, *args, **kwargs)
        finally:
            guard.slots.release()

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        if getattr(self.request, "axes_locked_out", False):
            return self._later(form, guard.wait(self.request))
        last = hasattr(self.request, "axes_credentials") and guard.left(self.request) == 1
        minutes = settings.AXES_COOLOFF_TIME // timedelta(minutes=1)
        return self.render_to_response(self.get_context_data(form=form, lock_minutes=minutes if last else None))

    def _later(self, form: AuthenticationForm, seconds: int, busy: bool = False) -> HttpResponse:
        measures.REFUSED.labels("sign_in").inc()
        minutes = -(-seconds // 60)
        response = self.render_to_response(self.get_context_data(form=form, minutes=minutes, busy=busy))
        response.status_code = 429
        response["Retry-After"] = str(seconds)
        return response

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        more = {
            "key_lost": getattr(self.request, "key_lost", False),
            "can_reset": settings.CONFIG.can_mail,
            "provider": settings.CONFIG.sso_name,
        }
        return super().get_context_data(**kwargs) | more


class Logout(LogoutView):
    """Sign out; asks first where that ends open requests."""

    request: Request

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        visitor = self.request.visitor
        if visitor is not None and "sure" not in request.POST and mine.open_here(visitor):
            return redirect("sign_out")
        return super().post(request, *args, **kwargs)


@require_safe
@signed_in
def sign_out(request: SignedIn) -> HttpResponse:
    """What signing out ends."""
    return render(request, "account/sign_out.html", {"count": mine.open_here(request.visitor)})


class AdminLogin(RedirectView):
    """Where Django's admin sends whoever it does not let in: who is signed in already is told so."""

    pattern_name, query_string = "login", True

    def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.is_staff:
            raise PermissionDenied
        return super().get(request, *args, **kwargs)


@signed_in
def session(request: SignedIn) -> HttpResponse:
    """How long this session lasts; a POST is the wish to stay signed in."""
    if request.method == "POST" and not extend(request):
        return redirect_to_login(address_of(request))
    return render(request, "account/session.html")


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """CSRF_FAILURE_VIEW. A foreign origin gets nothing back; our own stale page gets what was typed."""
    foreign = REASON_BAD_ORIGIN.split("%")[0], REASON_BAD_REFERER.split("%")[0]
    if reason.startswith(foreign):
        return render(request, "account/foreign_post.html", status=403)
    visitor = getattr(request, "visitor", None)
    fresh = visitor is not None or request.path.startswith(reverse("login"))
    return lost_post(request, "stale" if fresh else "signed_out")
