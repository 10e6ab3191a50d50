"""Google Cloud Storage through gcsfs: its session and credentials, and requests of our own.

Decided here: which calls of the JSON API are made. gcsfs's own methods are not used for them: its uploads end at a
fixed boundary that a body may contain, its listings are kept in memory, and it waits half a minute before it gives up.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import quote

from safepoint.store.client import Item
from safepoint.store.generic import LoopClient
from safepoint.store.s3 import split

_PIECE = 8 << 20
_TAKEN = 412
"""Precondition Failed: what `ifGenerationMatch=0` answers where something bears the name."""


def prepare() -> None:
    """What must be so before gcsfs is imported."""
    # its other class asks each bucket by gRPC first, which costs half a minute where nobody answers that
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")


class AnswerError(Exception):
    """An answer that is none to what was asked."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class GcsClient(LoopClient):
    """Google Cloud Storage."""

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, data: Any = None, **query: Any
    ) -> bytes:
        """The body of one answer, with gcsfs's session and credentials, and none of its own retries."""
        from aiohttp import ClientTimeout

        fs = self._fs
        await fs._set_session()  # noqa: SLF001 - as its own requests begin
        async with fs.session.request(
            method,
            url if url.startswith("http") else fs.base + url,
            params=fs._get_params(query),  # noqa: SLF001 - adds who pays
            headers=fs._get_headers(headers),  # noqa: SLF001 - adds the token
            data=data,
            timeout=ClientTimeout(sock_connect=10, sock_read=30),
        ) as answer:
            if answer.status >= 400:
                raise AnswerError(answer.status)
            return bytes(await answer.read())

    def _json(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        import orjson

        answer: dict[str, Any] = orjson.loads(self._wait(self._ask(method, url, **more)))
        return answer

    async def _fetch(self, path: str, limit: int | None) -> bytes:
        url = self._url(path)
        if limit is None:
            return await self._ask("GET", url)
        try:
            return await self._ask("GET", url, {"Range": f"bytes=0-{limit}"})
        except AnswerError as error:
            if error.status != 416:  # an empty object has no such range
                raise
            return b""

    def pieces(self, path: str) -> Iterator[bytes]:
        # by ranges of one generation, so that no two of them are of different objects
        about = self._json("GET", self._about(path))
        url, size = f"{self._url(path)}&generation={about['generation']}", int(about["size"])
        for start in range(0, size, _PIECE):
            wanted = f"bytes={start}-{min(start + _PIECE, size) - 1}"
            yield self._wait(self._ask("GET", url, {"Range": wanted}))

    def _is_object(self, path: str) -> bool:
        try:
            self._wait(self._ask("GET", self._about(path)))
        except AnswerError as error:
            if error.status != 404:
                raise
            return False
        return True

    def children(self, path: str) -> Iterator[Item]:
        if not path:
            for page in self._paged("b", project=self._fs.project, fields="nextPageToken,items(name)"):
                for found in page.get("items", ()):
                    yield Item(found["name"], None, folder=True)
            return
        bucket, key = split(path)
        for page in self._pages(bucket, f"{key}/" if key else "", delimiter="/"):
            for prefix in page.get("prefixes", ()):
                yield Item(f"{bucket}/{prefix.removesuffix('/')}", None, folder=True)
            yield from _items(bucket, page)

    def below(self, path: str) -> Iterator[Item]:
        bucket, key = split(path)
        for page in self._pages(bucket, f"{key}/" if key else ""):
            yield from _items(bucket, page)

    def create(self, path: str, data: bytes) -> bool:
        try:
            self._upload(path, data, ifGenerationMatch="0")
        except AnswerError as error:
            if error.status == _TAKEN:
                return False
            raise
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        self._upload(path, data)

    def delete(self, path: str) -> None:
        try:
            self._wait(self._ask("DELETE", self._about(path)))
        except AnswerError as error:
            if error.status != 404:
                raise

    def _upload(self, path: str, data: bytes, **condition: str) -> None:
        import orjson

        bucket, key = split(path)
        mark = os.urandom(16).hex().encode()
        head = b"--%b\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n%b\r\n--%b\r\n" % (
            mark,
            orjson.dumps({"name": key}),
            mark,
        )
        body = b"%bContent-Type: application/octet-stream\r\n\r\n%b\r\n--%b--" % (head, data, mark)
        url = f"{self._fs._location}/upload/storage/v1/b/{quote(bucket)}/o"  # noqa: SLF001 - where its own uploads go
        headers = {"Content-Type": f'multipart/related; boundary="{mark.decode()}"'}
        # its answer describes the object, which nobody needs: one that cannot be parsed would only be unclear
        upload = self._ask("POST", url, headers, BytesIO(body), uploadType="multipart", **condition)
        self._wait(upload, len(data))

    def _pages(self, bucket: str, prefix: str, **more: Any) -> Iterator[dict[str, Any]]:
        fields = "nextPageToken,prefixes,items(name,size)"
        return self._paged(f"b/{quote(bucket)}/o", prefix=prefix, fields=fields, **more)

    def _paged(self, url: str, **more: Any) -> Iterator[dict[str, Any]]:
        while True:
            page = self._json("GET", url, **more)
            yield page
            if not page.get("nextPageToken"):
                return
            more["pageToken"] = page["nextPageToken"]

    def _about(self, path: str) -> str:
        bucket, key = split(path)
        return f"b/{quote(bucket)}/o/{quote(key, safe='')}"

    def _url(self, path: str) -> str:
        bucket, key = split(path)
        place = f"b/{quote(bucket)}/o/{quote(key, safe='')}"
        return f"{self._fs._location}/download/storage/v1/{place}?alt=media"  # noqa: SLF001 - where its own reads go


def _items(bucket: str, page: dict[str, Any]) -> Iterator[Item]:
    for found in page.get("items", ()):
        yield Item(f"{bucket}/{found['name']}", int(found.get("size", 0)))
