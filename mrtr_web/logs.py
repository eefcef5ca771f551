"""What must not stand in a log although others write it."""

import logging


class WithoutQuery(logging.Filter):
    """A link that fills in a form has values in its query: access logs are written without it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_path(arg) if isinstance(arg, str) else arg for arg in record.args)
        return True


class NoFrames(logging.Filter):
    """At DEBUG the ASGI server writes what goes over WebSockets, with the cookies of their handshakes."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.DEBUG


def _path(text: str) -> str:
    return text.partition("?")[0] if text.startswith("/") else text
