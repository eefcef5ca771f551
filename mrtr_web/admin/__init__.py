"""Django's admin: servers, people, sessions, and the records of requests, to be read. No content is in it."""

from mrtr_web.admin import connections, people, records, servers  # noqa: F401  each registers its own
