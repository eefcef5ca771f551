"""python -m mrtr_web.demo: run the demo MCP server on 127.0.0.1."""

import argparse
import logging
import os
import secrets

import uvicorn

from mrtr_web.demo.server import STATE_TTL, build


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m mrtr_web.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument(
        "--key",
        default=os.environ.get("MRTR_DEMO_KEY", ""),
        help="seals the request state, so that it outlives a restart (also: MRTR_DEMO_KEY)",
    )
    parser.add_argument("--pages-host", default="localhost", help="the host name of its own pages")
    parser.add_argument("--store", default=":memory:", help="a file for what processes with one key must share")
    parser.add_argument("--state-ttl", type=float, default=STATE_TTL, help="seconds that a person has for one round")
    parser.add_argument("--suite", action="store_true", help="offer the fixtures of the official conformance suite")
    options = parser.parse_args()
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # some tools fail on purpose
    app = build(
        options.key or secrets.token_urlsafe(),
        pages_host=options.pages_host,
        store=options.store,
        state_ttl=options.state_ttl,
        with_suite=options.suite,
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=options.port, log_level="warning", access_log=False, ws="none")
    # Listening first, so that whoever reads the line can connect; a taken port ends it here with one line.
    with config.bind_socket() as listener:
        listener.listen()
        print(f"The demo MCP server: http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
