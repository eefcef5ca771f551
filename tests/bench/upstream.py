"""python -m tests.bench.upstream: an MCP server on the official SDK that asks as much and as late as it is told."""

import json
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

TOOL = "ask"
PLAIN = "tell"


async def ask(ctx: Context, work: int, state: int, fields: int) -> InputRequiredResult:
    """Works for so many milliseconds, then asks for so many fields, with a state of so many bytes; never ends."""
    await anyio.sleep(work / 1000)
    params = ElicitRequestFormParams(message="What are they?", requested_schema=_schema(fields))
    requests = {"form": ElicitRequest(params=params)}
    return InputRequiredResult(input_requests=requests, request_state=ctx.request_state or "s" * state)


async def tell(work: int, state: str, answers: dict[str, str]) -> str:
    """The same work and as many bytes both ways in a plain call, for those that do not speak of rounds."""
    await anyio.sleep(work / 1000)
    return json.dumps({"state": state, "schema": _schema(len(answers))})


def _schema(fields: int) -> dict[str, Any]:
    properties = {f"field{number}": {"type": "string", "title": f"Field {number}"} for number in range(fields)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def main() -> None:
    server = MCPServer("bench", log_level="WARNING")
    server.tool(name=TOOL, title="Ask", structured_output=False)(ask)
    server.tool(name=PLAIN, structured_output=False)(tell)
    config = uvicorn.Config(server.streamable_http_app(stateless_http=True), log_level="warning", access_log=False)
    config.port = 0
    with config.bind_socket() as listener:
        listener.listen()
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
