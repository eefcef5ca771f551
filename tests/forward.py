"""A forward proxy on loopback: keeps what it is asked, answers as it is told, and leads to ports of this machine."""

import contextlib
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers import BOUND

OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
Answer = bytes | tuple[bytes, ...]
"""What follows a head; several pieces come a tenth of a second apart, for ever."""


class Forward(socketserver.ThreadingTCPServer):
    """Answers the n-th connection with the n-th answer, the last one goes on; nothing more is said until it is closed.

    After OPEN it leads to the port that was asked for, on loopback, whatever the address.
    """

    def __init__(self, *answers: Answer, certificate: Path | None) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.answers = list(answers)
        self.heads: list[bytes] = []
        self.first: list[bytes] = []
        """Of each tunnel, the first bytes that went through it."""
        self.gone = threading.Event()
        """Somebody hung up."""
        self.open: set[Any] = set()
        self.tls: ssl.SSLContext | None = None
        if certificate is not None:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def get_request(self) -> tuple[Any, Any]:
        plain, address = super().get_request()
        plain.settimeout(BOUND)
        return (self.tls.wrap_socket(plain, server_side=True) if self.tls else plain), address

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def cut(self) -> None:
        """What rests in a pool would be waited for."""
        for request in self.open:
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who breaks off is no news."""

    @property
    def lines(self) -> list[str]:
        """The first line of each head."""
        return [head.partition(b"\r\n")[0].decode() for head in self.heads]


class _Visit(socketserver.BaseRequestHandler):
    server: Forward

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := self.request.recv(4096)):
                return
            head += more
        answer = self.server.answers[min(len(self.server.heads), len(self.server.answers) - 1)]
        self.server.heads.append(head)
        if isinstance(answer, tuple):
            return self._drip(answer)
        self.request.sendall(answer)
        if answer == OPEN:
            self._lead(int(head.split()[1].rpartition(b":")[2]))
        elif answer:
            self._await_end()

    def _drip(self, pieces: tuple[bytes, ...]) -> None:
        self.request.settimeout(0.1)
        while True:
            for piece in pieces:
                self.request.sendall(piece)
                with contextlib.suppress(TimeoutError):
                    if not self.request.recv(1):
                        return self.server.gone.set()

    def _await_end(self) -> None:
        while self.request.recv(4096):
            pass
        self.server.gone.set()

    def _lead(self, port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), BOUND) as there:
            first = self.request.recv(65536)
            self.server.first.append(first)
            there.sendall(first)
            back = threading.Thread(target=_pump, args=(there, self.request))
            back.start()
            _pump(self.request, there)
            back.join(BOUND)


def _pump(source: Any, target: Any) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def forward(*answers: Answer, certificate: Path | None = None) -> Iterator[Forward]:
    """Run one that leads on unless it is told otherwise; b"" closes at once. With a certificate it speaks TLS."""
    with Forward(*(answers or (OPEN,)), certificate=certificate) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.cut()
            thread.join(BOUND)
