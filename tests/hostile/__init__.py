"""Hostile MCP servers: what they do, and an app under attack by them whose time and memory are measured."""
