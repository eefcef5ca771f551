"""What people set, see and end for themselves: their time zone, their password, where they are signed in."""

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from mrtr_web import allowances, review, sessions, wizard
from mrtr_web.models import Person
from mrtr_web.schema import dates
from mrtr_web.views.web import SignedIn, signed_in


class ZoneForm(forms.Form):
    """The zone that times are shown and typed in."""

    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        help_text=_("Used for times that you read and type here, unless a page says otherwise."),
        choices=[(name, name.replace("_", " ")) for name in dates.zones()],
    )


@signed_in
def profile(request: SignedIn) -> HttpResponse:
    form = ZoneForm(request.POST or None, initial={"time_zone": wizard.zone_of(request.user)})
    if request.method == "POST" and form.is_valid():
        Person.objects.update_or_create(pk=request.user.pk, defaults=form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("profile")
    context = {
        "form": form,
        "has_password": request.user.has_usable_password(),
        "sessions": sessions.living_of(request.user.pk),
    }
    return render(request, "account/profile.html", context)


@require_POST
@signed_in
def end_others(request: SignedIn) -> HttpResponse:
    """End all of the person's sessions but this one."""
    ended = review.end_sessions(request.user, by=request.user.pk, but=request.visitor.session)
    text = ngettext("%d other session was ended.", "%d other sessions were ended.", ended) % ended
    messages.success(request, text)
    return redirect("profile")


@sensitive_post_parameters()
@signed_in
def change_password(request: SignedIn) -> HttpResponse:
    """A new password; the other sessions end with it. The old one cannot be found out here by trying."""
    if not request.user.has_usable_password():
        return redirect("profile")
    if request.method == "POST":
        allowances.spend(request.user.pk, "password")
    assert isinstance(request.user, User)
    form = PasswordChangeForm(request.user, request.POST or None)
    if not form.is_valid():
        return render(request, "account/password.html", {"form": form})
    update_session_auth_hash(request, form.save())
    messages.success(request, _("Your password was changed. Everywhere else you were signed out."))
    return redirect("profile")
