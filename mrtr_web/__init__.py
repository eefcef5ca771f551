"""mrtr_web: a web front end for MCP servers that ask people for more (Multi Round-Trip Requests).

Read in this order: README.md, flow.py, tests/test_flow.py, rounds.py, schema/, pages.py, sealing.py, vault.py,
wizard.py, relay.py, views/wizard.py. Imports run downwards only; pyproject.toml holds the contracts.
"""
