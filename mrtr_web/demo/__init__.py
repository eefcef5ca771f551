"""The demo MCP server: a real one, on the SDK, that asks for more in every way that MCP 2026-07-28 knows.

server.py puts it together. trip.py is the tool with three rounds, walk.py asks in every way at once, voucher.py may
happen once only, desk.py and gallery.py hold the small ones; people.py says whose request it is, store.py what must be
remembered, payments.py and pages.py are its own pages. suite.py is for the official conformance suite.
"""
