"""Where a request says that it comes from."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest


def own_origin(request: HttpRequest) -> str | None:
    """The origin of this site as the request names it, in lower case. None where it names a host that is not ours."""
    try:
        return f"{request.scheme}://{request.get_host()}".lower()
    except DisallowedHost:
        return None
