"""What must not stand in a log although others write it: texts of exceptions, values in addresses, frames, cookies.

Of an exception its kind and its place are written: libraries, databases and asyncio quote values in its text.
"""

import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import TracebackType

from mrtr_web import about

log = logging.getLogger(__name__)
_PLACES = 12
_ENDS = "<(:{['\""


class WithoutText(logging.Filter):
    """Tracebacks by kind and place; of what asyncio says, the words before the first value."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "asyncio":
            record.msg, record.args = _before_values(record.getMessage()), ()
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if error is not None:
            record.msg, record.args = f"{record.getMessage().strip()}: {named(error)}", ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


class WithoutQuery(logging.Filter):
    """A link that fills in a form has values in its query: lines about requests are written without it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
        return True


class WithoutServers(logging.Filter):
    """502 is how a page says that a server is down: who asked the server has written that, once."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", None) != 502


class FromInfo(logging.Filter):
    """Below INFO the ASGI server and its WebSocket library write cookies and frames, word for word."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.INFO


class AsJson(logging.Formatter):
    """One object for each line, with the ids of what it is about where they are known."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        return json.dumps({**line, **about.ids()})


def guard_server_logs(form: str = "text") -> None:
    """Keep content out of what uvicorn logs. Levels, and whether there is an access log, are the operator's choice.

    `form`: `text`, which is uvicorn's own, or `json`.
    """
    if form == "json":
        for name in ("uvicorn", "uvicorn.access"):
            for handler in logging.getLogger(name).handlers:
                handler.setFormatter(AsJson())
        logging.captureWarnings(True)
    for name in ("uvicorn.access", "uvicorn.error", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.addFilter(FromInfo())
        logger.addFilter(WithoutQuery())
        logger.addFilter(WithoutText())


def tell(words: str, form: str, level: int = logging.ERROR) -> None:
    """One line of a start, on stderr, where logging may not be set up yet. `form`: as above."""
    fields = {"name": "mrtr_web", "msg": words, "levelno": level, "levelname": logging.getLevelName(level)}
    print(AsJson().format(logging.makeLogRecord(fields)) if form == "json" else words, file=sys.stderr)


def guard_hooks() -> None:
    """The same for what Python itself writes of threads and finalizers, unless somebody else looks after that."""
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda args: log.error("a thread ended: %s", named(args.exc_value))
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = lambda args: log.error("an exception was ignored: %s", named(args.exc_value))


def named(error: BaseException | None) -> str:
    """An exception without its text: its kind, and the last places that it went through."""
    return f"{type(error).__name__} at {places(error.__traceback__ if error else None)}"


def places(trace: TracebackType | None) -> str:
    """The last lines of ours and of others: file, line and function, the innermost first."""
    frames = traceback.extract_tb(trace)
    return " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames[-_PLACES:]))


def _before_values(text: str) -> str:
    line = text.partition("\n")[0]
    return line[: min((at for at in map(line.find, _ENDS) if at >= 0), default=len(line))].strip()
