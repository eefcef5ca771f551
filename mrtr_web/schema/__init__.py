"""A server's JSON Schema in, exact JSON out. Pure: no Django, no MCP, no I/O.

Read in this order: spec.py, read.py, parse.py, check.py. A new kind of field is one row in each of three
registers: read.READERS, parse.KINDS and forms.FIELDS.
"""
