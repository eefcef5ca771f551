"""What must not stand in a log although others write it."""

import logging


class WithoutQuery(logging.Filter):
    """A link that fills in a form has values in its query: lines about requests are written without it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_path(arg) if isinstance(arg, str) else arg for arg in record.args)
        return True


class FromInfo(logging.Filter):
    """Below INFO the ASGI server and its WebSocket library write cookies and frames, word for word."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.INFO


def guard_server_logs() -> None:
    """Keep content out of what uvicorn logs. Levels, and whether there is an access log, are the operator's choice."""
    for name in ("uvicorn.access", "uvicorn.error", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.addFilter(FromInfo())
        logger.addFilter(WithoutQuery())


def _path(text: str) -> str:
    return text.partition("?")[0] if text.startswith("/") else text
