"""python -m tests.bench.upstream: an MCP server on the official SDK that asks as much and as late as it is told."""

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

TOOL = "ask"


async def ask(ctx: Context, work: int, state: int, fields: int) -> InputRequiredResult:
    """Works for so many milliseconds, then asks for so many fields, with a state of so many bytes; never ends."""
    await anyio.sleep(work / 1000)
    properties = {f"field{number}": {"type": "string", "title": f"Field {number}"} for number in range(fields)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    request = ElicitRequest(params=ElicitRequestFormParams(message="What are they?", requested_schema=schema))
    return InputRequiredResult(input_requests={"form": request}, request_state=ctx.request_state or "s" * state)


def main() -> None:
    server = MCPServer("bench", log_level="WARNING")
    server.tool(name=TOOL, title="Ask", structured_output=False)(ask)
    config = uvicorn.Config(server.streamable_http_app(stateless_http=True), log_level="warning", access_log=False)
    config.port = 0
    with config.bind_socket() as listener:
        listener.listen()
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
