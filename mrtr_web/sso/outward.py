"""What allauth sends by `requests` leaves through egress, as everything else does: one TLS, one set of bounds.

The provider's address is the operator's: it may be in a private network, and is reached there without being listed.
"""

import asyncio
import io
import logging
from typing import Any
from urllib.parse import urlsplit

import httpx2
import requests
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from mrtr_web import egress, networks

log = logging.getLogger(__name__)
MAX_BYTES = 256 * 1024
SECONDS = 10.0
"""For one request; a person waits for it."""


def session() -> requests.Session:
    """No redirects, no cookies, nothing of the environment; plain http only to a provider that is named by it."""
    found = requests.Session()
    found.trust_env, found.max_redirects = False, 0
    found.adapters.clear()
    found.mount(f"{urlsplit(settings.CONFIG.oidc_issuer).scheme}://", _Guarded())
    found.mount("https://", _Guarded())
    return found


class _Guarded(BaseAdapter):
    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        close_old_connections()  # a provider that hangs must not keep others from the database
        try:
            answer = async_to_sync(_answer)(request)
        except egress.EgressError as error:
            reason = error.code
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError):
            reason = "unreachable"
        else:
            return _read(request, answer)
        log.warning("the sign-in provider cannot be asked: %s", reason)
        raise requests.ConnectionError(reason)

    def close(self) -> None:
        """What is shared stays open."""


async def _answer(request: requests.PreparedRequest) -> httpx2.Response:
    policy = egress.Policy(networks.PRIVATE, MAX_BYTES, SECONDS)
    method, url, body = str(request.method), str(request.url), request.body
    assert body is None or isinstance(body, str | bytes)
    headers = {name: str(value) for name, value in request.headers.items()}
    async with asyncio.timeout(SECONDS), egress.client(policy, read_timeout=SECONDS) as http:
        return await http.request(method, url, content=body, headers=headers)


def _read(request: requests.PreparedRequest, answer: httpx2.Response) -> requests.Response:
    if answer.status_code != 200:
        log.warning("the sign-in provider answered %s with %d", request.method, answer.status_code)
    found = requests.Response()
    found.request, found.url, found.status_code = request, str(request.url), answer.status_code
    found.headers = CaseInsensitiveDict({"content-type": "", **answer.headers})
    found.raw, found._content = io.BytesIO(), answer.content
    return found
