"""The suite's command where the client is in another process: hands the scenario over and ends as it is told.

python -S hand_over.py SOCKET URL. It imports next to nothing, since it is started for every scenario.
"""

import json
import os
import socket
import sys

DONE = "done"


def main(path: str, url: str) -> str | None:
    """What went wrong."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        line.sendall(json.dumps([url, context]).encode() + b"\n")
        with line.makefile() as answer:
            told = answer.read()
    return None if told == DONE else told or "the client is gone"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
