"""A server's JSON Schema in, exact JSON out. Pure: no Django, no MCP, no I/O.

Read in this order: spec.py, read.py, parse.py, check.py. Where a new kind of field goes: docs/extending.md.
"""
