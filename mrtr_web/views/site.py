"""What the team that hosts this gives the pages: its logo."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from mrtr_web import config


@require_safe
def logo(request: HttpRequest) -> HttpResponse:
    """The picture beside the site's name, read anew so that it may be changed at any time."""
    path = settings.CONFIG.site_logo
    try:
        picture = path.read_bytes() if path is not None else b""
    except OSError:
        picture = b""
    if path is None or not picture:
        raise Http404
    return HttpResponse(picture, content_type=config.PICTURES[path.suffix], headers={"Cache-Control": "max-age=300"})
