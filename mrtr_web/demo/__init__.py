"""The demo MCP server: a real one, on the SDK, that asks for more in every way that MCP 2026-07-28 knows.

server.py puts it together; trip.py is the tool with three rounds, desk.py holds the small ones, and
payments.py the page of its own that it sends people to.
"""
