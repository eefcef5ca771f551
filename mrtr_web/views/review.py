"""The review desk: the queue, one request, and what a reviewer may do about it."""

import functools
from collections.abc import Callable
from typing import Concatenate, cast

from django.http import Http404, HttpResponse

from mrtr_web import review
from mrtr_web.views.web import P, Request, SignedIn, View, signed_in


def reviewer(view: View[P]) -> Callable[Concatenate[Request, P], HttpResponse]:
    """Only for people who may review something; for others the page is not there."""

    @functools.wraps(view)
    def guarded(request: SignedIn, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not review.is_reviewer(request.user):
            raise Http404
        return view(request, *args, **kwargs)

    return signed_in(cast(View[P], guarded))
