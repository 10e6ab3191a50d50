"""S3 through s3fs: one request an object, pages for listings, and ``If-None-Match`` to claim a name.

Decided here: which calls of the S3 API are made. s3fs's own methods are not used for them: it asks for an object's size
before each read, keeps whole listings in memory, and takes a lost race for an I/O error.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from safepoint.store.client import Item
from safepoint.store.errors import UnsupportedError
from safepoint.store.generic import LoopClient, statuses_of
from safepoint.version import __version__

_PIECE = 1 << 20
_CONNECTIONS = 48
_TAKEN = 412
"""Precondition Failed: what `If-None-Match: *` answers where something bears the name."""


def options_of(options: dict[str, Any]) -> dict[str, Any]:
    """`options` for s3fs, with more connections, and with one try: the store itself asks again."""
    config = {
        "max_pool_connections": _CONNECTIONS,
        "retries": {"total_max_attempts": 1},  # the first one counted
        "user_agent": f"safepoint/{__version__}",  # botocore puts its own together anew for each request
    }
    return {**options, "config_kwargs": {**config, **options.get("config_kwargs", {})}}


class S3Client(LoopClient):
    """S3, and what speaks its language."""

    parallel = _CONNECTIONS

    def __init__(self, fs: Any) -> None:
        super().__init__(fs)
        fs.retries = 1

    async def _fetch(self, path: str, limit: int | None) -> bytes:
        bucket, key = split(path)
        answer = await self._fs._call_s3("get_object", Bucket=bucket, Key=key, **self._fs.req_kw)  # noqa: SLF001 - its one public form blocks
        body = answer["Body"]
        try:
            if limit is not None and answer["ContentLength"] > limit:
                return b"\0" * (limit + 1)
            return bytes(await body.read())
        finally:
            body.close()

    def _call(self, method: str, size: int = 0, **arguments: Any) -> dict[str, Any]:
        call = self._fs._call_s3(method, **arguments, **self._fs.req_kw)  # noqa: SLF001 - its public form waits for ever
        answer: dict[str, Any] = self._wait(call, size)
        return answer

    def pieces(self, path: str) -> Iterator[bytes]:
        bucket, key = split(path)
        body = self._call("get_object", Bucket=bucket, Key=key)["Body"]
        try:
            while piece := self._wait(body.read(_PIECE)):
                yield piece
        finally:
            body.close()

    def _is_object(self, path: str) -> bool:
        bucket, key = split(path)
        try:
            self._call("head_object", Bucket=bucket, Key=key)
        except OSError as error:
            # its answer has no body, so it cannot say whether the bucket is there; the listing can
            if 404 not in statuses_of(error):
                raise
            return False
        return True

    def children(self, path: str) -> Iterator[Item]:
        if not path:
            for bucket in self._call("list_buckets")["Buckets"]:
                yield Item(bucket["Name"], None, folder=True)
            return
        bucket, prefix = _folder(path)
        for page in self._pages(bucket, prefix, Delimiter="/"):
            for common in page.get("CommonPrefixes", ()):
                yield Item(f"{bucket}/{common['Prefix'].removesuffix('/')}", None, folder=True)
            yield from _items(bucket, page)

    def below(self, path: str) -> Iterator[Item]:
        bucket, prefix = _folder(path)
        for page in self._pages(bucket, prefix):
            yield from _items(bucket, page)

    def create(self, path: str, data: bytes) -> bool:
        self._require_condition()
        bucket, key = split(path)
        try:
            self._call("put_object", len(data), Bucket=bucket, Key=key, Body=data, IfNoneMatch="*")
        except OSError as error:
            if _TAKEN in statuses_of(error):
                return False
            raise
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        bucket, key = split(path)
        self._call("put_object", len(data), Bucket=bucket, Key=key, Body=data)

    def delete(self, path: str) -> None:
        bucket, key = split(path)
        self._call("delete_object", Bucket=bucket, Key=key)

    def _pages(self, bucket: str, prefix: str, **more: Any) -> Iterator[dict[str, Any]]:
        while True:
            page = self._call("list_objects_v2", Bucket=bucket, Prefix=prefix, **more)
            yield page
            if not page.get("IsTruncated"):
                return
            more["ContinuationToken"] = page["NextContinuationToken"]

    def _require_condition(self) -> None:
        """s3fs leaves out what its botocore does not know, and what is left is an overwrite."""
        put = self._fs.s3.meta.service_model.operation_model("PutObject")
        if "IfNoneMatch" not in put.input_shape.members:
            problem = "the installed botocore cannot write under a condition"
            raise UnsupportedError("s3://", problem, remedy="install aiobotocore 2.16 or later")


def split(path: str) -> tuple[str, str]:
    """Bucket and key."""
    bucket, _, key = path.partition("/")
    return bucket, key


def _folder(path: str) -> tuple[str, str]:
    bucket, key = split(path)
    return bucket, f"{key}/" if key else ""


def _items(bucket: str, page: dict[str, Any]) -> Iterator[Item]:
    for found in page.get("Contents", ()):
        yield Item(f"{bucket}/{found['Key']}", found["Size"])
