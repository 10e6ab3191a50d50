"""Google Cloud Storage through gcsfs: its session and credentials, and requests of our own.

Decided here: which calls of the JSON API are made. gcsfs's own methods are not used for them: its uploads end at a
fixed boundary that a body may contain, its listings are kept in memory, and it waits half a minute before it gives up.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Literal
from urllib.parse import quote

from safepoint.store.client import Item
from safepoint.store.generic import LoopClient, statuses_of
from safepoint.store.s3 import split

_PIECE = 8 << 20
_TAKEN = 412
"""Precondition Failed: what `ifGenerationMatch=0` answers where something bears the name."""


def prepare() -> None:
    """What must be so before gcsfs is imported."""
    # its other class asks each bucket by gRPC first, which costs half a minute where nobody answers that
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    # it logs a lost race as an error with its whole request
    logging.getLogger("gcsfs").addHandler(logging.NullHandler())


class GcsClient(LoopClient):
    """Google Cloud Storage."""

    async def _ask(self, method: str, url: str, **more: Any) -> tuple[Any, bytes]:
        """The headers and the body of one answer, asked for once: the store itself asks again."""
        ask = type(self._fs)._request.__wrapped__  # noqa: SLF001 - the one way past its own retries
        _, headers, _, body = await ask(self._fs, method, url, **more)
        return headers, body

    def _json(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        import orjson

        answer: dict[str, Any] = orjson.loads(self._wait(self._ask(method, url, **more))[1])
        return answer

    async def _fetch(self, path: str, limit: int | None) -> bytes:
        url = self._url(path)
        if limit is None:
            return (await self._ask("GET", url))[1]
        try:
            return (await self._ask("GET", url, headers={"Range": f"bytes=0-{limit}"}))[1]
        except Exception as error:
            if 416 not in statuses_of(error):  # an empty object has no such range
                raise
            return b""

    def pieces(self, path: str) -> Iterator[bytes]:
        # by ranges of one generation, so that no two of them are of different objects
        about = self._json("GET", self._about(path))
        url, size = f"{self._url(path)}&generation={about['generation']}", int(about["size"])
        for start in range(0, size, _PIECE):
            wanted = f"bytes={start}-{min(start + _PIECE, size) - 1}"
            yield self._wait(self._ask("GET", url, headers={"Range": wanted}))[1]

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        bucket, key = split(path)
        if key:
            try:
                self._json("GET", self._about(path))
            except Exception as error:
                if not _absent(error):
                    raise
            else:
                return "file"
        page = self._page(bucket, f"{key}/" if key else "", maxResults=1)
        return "folder" if page.get("items") or page.get("prefixes") or not key else None

    def children(self, path: str) -> Iterator[Item]:
        if not path:
            for info in self._fs.ls("", detail=True):
                yield Item(str(info["name"]).strip("/"), None, folder=True)
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
        except Exception as error:
            if _TAKEN in statuses_of(error):
                return False
            raise
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        self._upload(path, data)

    def delete(self, path: str) -> None:
        try:
            self._wait(self._ask("DELETE", self._about(path)))
        except Exception as error:
            if not _absent(error):
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
        self._json("POST", url, uploadType="multipart", headers=headers, data=BytesIO(body), **condition)

    def _page(self, bucket: str, prefix: str, **more: Any) -> dict[str, Any]:
        fields = "nextPageToken,prefixes,items(name,size)"
        return self._json("GET", f"b/{quote(bucket)}/o", prefix=prefix, fields=fields, **more)

    def _pages(self, bucket: str, prefix: str, **more: Any) -> Iterator[dict[str, Any]]:
        while True:
            page = self._page(bucket, prefix, **more)
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


def _absent(error: Exception) -> bool:
    return isinstance(error, FileNotFoundError) or 404 in statuses_of(error)


def _items(bucket: str, page: dict[str, Any]) -> Iterator[Item]:
    for found in page.get("items", ()):
        yield Item(f"{bucket}/{found['name']}", int(found.get("size", 0)))
