"""A still object store on loopback: just enough of S3 to read and list, so that a client is measured and not a server.

Decided here: what is answered. Each object's answer is made once, before anybody asks; nobody is authenticated, and
nothing can be written. It runs as a process of its own: ``python benchmarks/object_server.py OBJECTS``, which prints
its port, and ends when its standard input does. It counts the pages of listings that it was asked for.
"""

from __future__ import annotations

import asyncio
import sys
from urllib.parse import parse_qs

BUCKET = "bucket"
SIZE = 2_700
"""Bytes of an object: about those of a checkpoint of the corpus."""
PAGE = 1_000
"""Keys of a page, as in S3."""
_DATE = "2026-01-01T00:00:00.000Z"
_LATER = "Thu, 01 Jan 2026 00:00:00 GMT"
_ABSENT = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def key_of(number: int) -> str:
    """The name of an object, as the layout names a checkpoint: a hundred in each run."""
    return f"runs/run-{number // 100:06}/journal/{number % 100:010}.json"


def body_of(number: int) -> bytes:
    """One line of JSON, of always the same length."""
    head = f'{{"number":{number},"text":"'
    return f'{head}{"x" * (SIZE - len(head) - 2)}"}}'.encode()


class Objects:
    """The bucket: of each path the whole answer."""

    def __init__(self, objects: int) -> None:
        self.keys = [key_of(number) for number in range(objects)]
        self.pages = 0
        """Pages of listings that were asked for since somebody asked for their number."""
        self._answers = {f"/{BUCKET}/{key}".encode(): _object(body_of(n)) for n, key in enumerate(self.keys)}

    def answer(self, method: bytes, target: bytes) -> bytes:
        """What is sent for one request."""
        path, _, query = target.partition(b"?")
        whole = self._answers.get(path)
        if whole is not None:
            return whole if method == b"GET" else whole.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        if path.rstrip(b"/") == f"/{BUCKET}".encode():
            self.pages += 1
            return self._page({name: values[0] for name, values in parse_qs(query.decode()).items()})
        if path == b"/pages":
            asked, self.pages = self.pages, 0
            return _answer(str(asked).encode(), "text/plain")
        return _ABSENT

    def _page(self, asked: dict[str, str]) -> bytes:
        """Keys from where the last page ended; no delimiter, and of prefixes only those that all keys have."""
        start = int(asked.get("continuation-token", 0))
        most = min(PAGE, int(asked.get("max-keys", PAGE)))
        keys = self.keys[start : start + most] if "runs/".startswith(asked.get("prefix", "")) else []
        found = "".join(
            f'<Contents><Key>{key}</Key><LastModified>{_DATE}</LastModified><ETag>"e"</ETag><Size>{SIZE}</Size>'
            "<StorageClass>STANDARD</StorageClass></Contents>"
            for key in keys
        )
        more = start + most < len(self.keys)
        token = f"<NextContinuationToken>{start + most}</NextContinuationToken>" if more else ""
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>'
            f"<Name>{BUCKET}</Name><KeyCount>{len(keys)}</KeyCount><MaxKeys>{most}</MaxKeys>"
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{found}</ListBucketResult>"
        )
        return _answer(text.encode(), "application/xml")


class Connection(asyncio.Protocol):
    """One client: requests without bodies, answered one after the other."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._waiting = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep whom to answer."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole by now."""
        assert self._transport is not None
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            request, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            method, target, _ = request.split(b" ", 2)
            self._transport.write(self._objects.answer(method, target))


def _object(body: bytes) -> bytes:
    return _answer(body, "application/json")


def _answer(body: bytes, media_type: str) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n"
        f'ETag: "e"\r\nLast-Modified: {_LATER}\r\n\r\n'
    )
    return head.encode() + body


async def serve(objects: int) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    bucket = Objects(objects)
    server = await loop.create_server(lambda: Connection(bucket), "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
