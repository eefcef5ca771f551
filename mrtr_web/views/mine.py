"""My requests: the list of them, and forgetting what is kept of those that are over."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from mrtr_web import mine as requests
from mrtr_web.views.web import SignedIn, signed_in


class ShownForm(forms.Form):
    """How many of those that are over are wanted."""

    ended = forms.IntegerField(min_value=requests.STEP, max_value=requests.MOST_ENDED)


@require_safe
@signed_in
def mine(request: SignedIn) -> HttpResponse:
    form = ShownForm(request.GET)
    shown = form.cleaned_data["ended"] if form.is_valid() else requests.STEP
    return render(request, "flows/list.html", {"mine": requests.read(request.visitor, shown)})


@signed_in
def forget_ended(request: SignedIn) -> HttpResponse:
    if request.method == "POST":
        count = requests.forget_ended(request.visitor.user)
        told = ngettext("Removed, of %(count)d request.", "Removed, of %(count)d requests.", count)
        messages.success(request, told % {"count": count})
    return redirect("flows")
