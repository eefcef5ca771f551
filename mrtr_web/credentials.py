"""What goes to a server to be let in: for now a bearer token from an environment variable that an admin named."""

import os

from mrtr_web.models import Server


def headers(server: Server) -> dict[str, str]:
    """The headers for every request to this server and no other. Nothing where the variable is empty."""
    token = os.environ.get(server.credential_ref, "") if server.credential_kind == "bearer" else ""
    return {"Authorization": f"Bearer {token}"} if token else {}
