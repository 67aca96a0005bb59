"""A server that answers each request with the bytes that it is told, over a real socket and, if told so, TLS."""

from __future__ import annotations

import json
import math
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole response; the connection ends with it."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def answer(request: bytes) -> bytes:
    """The answer that chooses the first option of a request in vLLM's dialect."""
    options = json.loads(request)["structured_outputs"]["choice"]
    shares = [0.8, *[0.1 / len(options)] * (len(options) - 1)]
    top = [{"token": option, "logprob": math.log(share)} for option, share in zip(options, shares, strict=True)]
    choice = {"message": {"content": options[0]}, "finish_reason": "stop"}
    choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return json.dumps({"choices": [choice]}).encode()


class RawServer:
    """Use as a context manager; `reply` is given the head and the body of a request, `heads` holds the former."""

    def __init__(self, reply: Callable[[bytes, bytes], bytes], *, tls: ssl.SSLContext | None = None):
        self._reply, self._tls = reply, tls
        self.heads: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.url = f"http{'s' * bool(tls)}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> RawServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._listening.accept()[:1], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(30)
            if not self._tls and connection.recv(1, socket.MSG_PEEK) == b"\x16":  # TLS, which is not spoken here
                connection.sendall(response(b"", status="400 Bad Request"))
                return
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as reading:
                head = b"".join(iter(reading.readline, b"\r\n"))
                fields = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:])
                self.heads.append(head)
                connection.sendall(self._reply(head, reading.read(int(fields.get(b"content-length", 0)))))
