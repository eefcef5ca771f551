"""A mail server on a free loopback port that takes one mail per connection, and keeps it."""

import email
import email.policy
import queue
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from urllib.parse import urlsplit

from pydantic import SecretStr
from pytest_django import Settings

BOUND = 20.0
ANSWERS = {"EHLO": "250 here", "MAIL": "250 fine", "RCPT": "250 fine", "RSET": "250 fine", "QUIT": "221 bye"}


class Mailbox:
    def __init__(self, port: int) -> None:
        self.url = f"smtp://127.0.0.1:{port}"
        self.mails: queue.Queue[EmailMessage] = queue.Queue()

    def next(self) -> EmailMessage:
        return self.mails.get(timeout=BOUND)


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    class Taking(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 here")
            for line in self.rfile:
                word = line[:4].decode().upper()
                if word == "DATA":
                    self.say("354 go on")
                    box.mails.put(self.mail())
                self.say("250 taken" if word == "DATA" else ANSWERS[word])

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def mail(self) -> EmailMessage:
            lines = iter(self.rfile.readline, b".\r\n")
            found = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
            assert isinstance(found, EmailMessage)
            return found

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Taking) as server:
        box = Mailbox(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield box
        server.shutdown()


def mails_to(box: Mailbox, settings: Settings) -> None:
    """The app hands its mails over there."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # tests are given another one
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", urlsplit(box.url).port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    told = {"email_url": SecretStr(box.url), "email_from": "Forms <mrtr@example.org>"}
    settings.CONFIG = settings.CONFIG.model_copy(update=told)
