"""A proxy between a client and a server of object storage that does, by a seeded plan, what networks and servers do.

Decided here: what can go wrong with one request. Each fault is one that a client cannot tell from another: an answer
that is lost behind a write that arrived, the same error for what was done and for what was not. Not decided here: what
must hold nevertheless; the tests compare with what is really in the server.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

HOST = "127.0.0.1"
DELAY = 0.15
"""Seconds."""
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "expect", "proxy-connection"}


class Fault(Enum):
    """What happens to one request; those of writes only never happen to a read."""

    BROKEN_BEFORE = "connection closed before the server saw the request"
    BROKEN_BEHIND = "connection closed behind the request, which arrived"
    CUT = "answer cut off in the middle"
    LATE = "answer delayed"
    ERROR_BEFORE = "500, and nothing was done"
    ERROR_BEHIND = "500, and it was done"
    SLOW_DOWN = "503 Slow Down, and nothing was done"
    TAKEN_BEHIND = "412 for a write that was done"
    CONFLICT_BEFORE = "409, and nothing was written"
    CONFLICT_BEHIND = "409 for a write that was done"


WRITES_ONLY = {Fault.TAKEN_BEHIND, Fault.CONFLICT_BEFORE, Fault.CONFLICT_BEHIND}
ANSWERED = {
    Fault.ERROR_BEFORE: 500,
    Fault.ERROR_BEHIND: 500,
    Fault.SLOW_DOWN: 503,
    Fault.TAKEN_BEHIND: 412,
    Fault.CONFLICT_BEFORE: 409,
    Fault.CONFLICT_BEHIND: 409,
}
NEVER_REACHES = {Fault.BROKEN_BEFORE, Fault.ERROR_BEFORE, Fault.SLOW_DOWN, Fault.CONFLICT_BEFORE}


class Request(NamedTuple):
    """One request as it came."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def writes(self) -> bool:
        """Whether it makes an object."""
        return self.method == "PUT" or (self.method == "POST" and "/upload/" in self.target)


class Answer(NamedTuple):
    """One answer of the server, whole."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


Plan = Callable[[Request], Fault | None]


@dataclass
class Dice:
    """Draws a fault for some of the requests."""

    seed: int
    share: float = 0.3
    faults: tuple[Fault, ...] = tuple(Fault)
    _random: random.Random = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def __call__(self, request: Request) -> Fault | None:
        """A fault that can happen to `request`, or none."""
        with self._lock:
            hit, fault = self._random.random() < self.share, self._random.choice(self.faults)
        if not hit or (fault in WRITES_ONLY and not request.writes):
            return None
        return fault


class FaultProxy:
    """A proxy that listens; see `between`."""

    def __init__(self, backend: str, port: int, plan: Plan) -> None:
        self.backend = backend
        self.plan = plan
        self.done: Counter[Fault] = Counter()
        """How often each fault was done."""
        self.requests = 0
        self._server_port = port
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._listener = _Listener((HOST, 0), Handler)
        self.port = int(self._listener.server_address[1])

    def ask(self, request: Request) -> Answer:
        """What the server says."""
        connection = HTTPConnection(HOST, self._server_port, timeout=60)
        try:
            connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers:
                if name.lower() not in _HOP_BY_HOP | {"content-length"}:
                    connection.putheader(name, value)
            if request.body or request.method in {"PUT", "POST"}:
                connection.putheader("Content-Length", str(len(request.body)))
            connection.endheaders(request.body)
            answer = connection.getresponse()
            return Answer(answer.status, tuple(answer.getheaders()), answer.read())
        finally:
            connection.close()


@contextmanager
def between(backend: str, port: int, plan: Plan) -> Iterator[FaultProxy]:
    """A proxy in front of the server at `port`, which speaks as `backend` does (``s3``, ``gs``, ``az``)."""
    proxy = FaultProxy(backend, port, plan)
    thread = threading.Thread(target=proxy._listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy
    finally:
        proxy._listener.shutdown()
        proxy._listener.server_close()
        thread.join()


def error_answer(backend: str, status: int) -> tuple[Mapping[str, str], bytes]:
    """The headers and the body with which a backend says `status`."""
    if backend == "gs":
        words = {500: "backendError", 503: "backendError", 412: "conditionNotMet", 409: "conflict"}[status]
        body = f'{{"error":{{"code":{status},"message":"{words}","errors":[{{"reason":"{words}"}}]}}}}'
        return {"Content-Type": "application/json"}, body.encode()
    if backend == "az":
        code = {500: "InternalError", 503: "ServerBusy", 412: "ConditionNotMet", 409: "BlobAlreadyExists"}[
            status
        ]
    else:
        conflict = "ConditionalRequestConflict"
        code = {500: "InternalError", 503: "SlowDown", 412: "PreconditionFailed", 409: conflict}[status]
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>injected</Message></Error>'
    )
    return {"Content-Type": "application/xml", "x-ms-error-code": code}, text.encode()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is nobody's business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: FaultProxy

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def handle_one_request(self) -> None:
        """Reads a request, asks, and answers or does not."""
        self.close_connection = True
        try:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline or not self.parse_request():
                return
            request = Request(self.command, self.path, tuple(self.headers.items()), self._body())
            self._handle(request)
        except (OSError, HTTPException, ValueError):
            self.close_connection = True

    def _handle(self, request: Request) -> None:
        fault = self.owner.plan(request)
        self.owner.requests += 1
        answer = None if fault in NEVER_REACHES else self.owner.ask(request)
        if fault is Fault.CUT and (answer is None or len(answer.body) < 2 or request.method == "HEAD"):
            fault = None  # nothing that could be cut
        if fault is not None:
            self.owner.done[fault] += 1
        if fault in {Fault.BROKEN_BEFORE, Fault.BROKEN_BEHIND}:
            self._break()
        elif fault in ANSWERED:
            self._answer(request, ANSWERED[fault], *error_answer(self.owner.backend, ANSWERED[fault]))
        elif answer is not None:
            if fault is Fault.LATE:
                time.sleep(DELAY)
            headers = {name: value for name, value in answer.headers if name.lower() not in _HOP_BY_HOP}
            self._answer(request, answer.status, headers, answer.body, cut=fault is Fault.CUT)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _answer(
        self, request: Request, status: int, headers: Mapping[str, str], body: bytes, *, cut: bool = False
    ) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() != "content-length" or request.method == "HEAD":
                self.send_header(name, value)
        if request.method != "HEAD" and status not in {204, 304}:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if request.method == "HEAD":
            body = b""
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.wfile.flush()
        self.close_connection = cut
        if cut:
            self._break()

    def _break(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
