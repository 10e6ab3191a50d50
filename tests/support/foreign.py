"""Other people's tools: they write, delete and read in a store's place without asking us, and know none of our rules.

Decided here: how to get past our own code to what is really there, on every backend, also under names that no store of
ours would use.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import fsspec
from servers import ADMIN, HOST, Server, az_options

_AT_ONCE = 10
"""Requests; as many as Azure's client keeps connections for."""


class Foreign(Protocol):
    """What lies below one prefix, as another tool sees it; keys are relative to the prefix."""

    def put(self, key: str, data: bytes) -> None:
        """Writes, whatever is there."""

    def delete(self, key: str) -> None:
        """Removes."""

    def everything(self) -> dict[str, bytes]:
        """All that is there, under every name."""


def foreign_to(server: Server, url: str) -> Foreign:
    """The view from outside on a prefix in a server."""
    bucket, _, prefix = url.partition("://")[2].partition("/")
    return {"s3": _S3, "gs": _Gcs, "az": _Azure}[server.backend](server, bucket, prefix)


def put_all(place: Foreign, objects: Mapping[str, bytes]) -> None:
    """Writes many objects side by side."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda item: place.put(*item), objects.items()):
            pass


class Folder:
    """A folder on disk."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, key: str, data: bytes) -> None:
        """As an editor does it."""
        path = self._root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def delete(self, key: str) -> None:
        """As `rm` does it."""
        (self._root / key).unlink()

    def everything(self) -> dict[str, bytes]:
        """Every file."""
        paths = (path for path in self._root.rglob("*") if path.is_file())
        return {path.relative_to(self._root).as_posix(): path.read_bytes() for path in paths}


class Memory:
    """fsspec's memory, seen without its paths."""

    def __init__(self, root: str) -> None:
        self._fs = fsspec.filesystem("memory")
        self._root = f"/{root}/"

    def put(self, key: str, data: bytes) -> None:
        """As any code of this process."""
        self._fs.pipe_file(self._root + key, data)

    def delete(self, key: str) -> None:
        """As any code of this process."""
        self._fs.rm_file(self._root + key)

    def everything(self) -> dict[str, bytes]:
        """Every object."""
        mine = {path: file for path, file in self._fs.store.items() if path.startswith(self._root)}
        return {path.removeprefix(self._root): file.getvalue() for path, file in mine.items()}


class _S3:
    def __init__(self, server: Server, bucket: str, prefix: str) -> None:
        self._client = _s3_client(server.address)
        self._bucket, self._prefix = bucket, prefix + "/"

    def put(self, key: str, data: bytes) -> None:
        self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=data)

    def delete(self, key: str) -> None:
        self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)

    def everything(self) -> dict[str, bytes]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix
        )
        keys = [found["Key"] for page in pages for found in page.get("Contents", ())]
        return dict(_read_all(self._prefix, keys, self._read))

    def _read(self, key: str) -> bytes:
        return bytes(self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read())


@functools.cache
def _s3_client(address: str) -> Any:
    from botocore.config import Config
    from botocore.session import Session

    return Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=address,
        aws_access_key_id=ADMIN[0],
        aws_secret_access_key=ADMIN[1],
        config=Config(max_pool_connections=_AT_ONCE),
    )


class _Gcs:
    """The JSON API, by hand."""

    def __init__(self, server: Server, bucket: str, prefix: str) -> None:
        self._port, self._bucket, self._prefix = server.port, bucket, prefix + "/"

    def put(self, key: str, data: bytes) -> None:
        name = quote(self._prefix + key, safe="")
        self._ask("POST", f"/upload/storage/v1/b/{self._bucket}/o?uploadType=media&name={name}", data)

    def delete(self, key: str) -> None:
        self._ask("DELETE", f"/storage/v1/b/{self._bucket}/o/{quote(self._prefix + key, safe='')}")

    def everything(self) -> dict[str, bytes]:
        keys: list[str] = []
        query = f"prefix={quote(self._prefix, safe='')}"
        token = ""
        while True:
            page = json.loads(self._ask("GET", f"/storage/v1/b/{self._bucket}/o?{query}{token}"))
            keys += [found["name"] for found in page.get("items", ())]
            if not page.get("nextPageToken"):
                break
            token = f"&pageToken={quote(page['nextPageToken'], safe='')}"
        return dict(_read_all(self._prefix, keys, self._read))

    def _read(self, key: str) -> bytes:
        return self._ask("GET", f"/storage/v1/b/{self._bucket}/o/{quote(key, safe='')}?alt=media")

    def _ask(self, method: str, target: str, body: bytes | None = None) -> bytes:
        connection = HTTPConnection(HOST, self._port, timeout=60)
        try:
            connection.request(method, target, body, {"Content-Type": "application/octet-stream"})
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        assert answer.status < 300, (method, target, answer.status, data[:200])
        return data


class _Azure:
    def __init__(self, server: Server, container: str, prefix: str) -> None:
        self._client = _az_client(server.address, container)
        self._prefix = prefix + "/"

    def put(self, key: str, data: bytes) -> None:
        self._client.upload_blob(self._prefix + key, data, overwrite=True)

    def delete(self, key: str) -> None:
        self._client.delete_blob(self._prefix + key)

    def everything(self) -> dict[str, bytes]:
        keys = [found["name"] for found in self._client.list_blobs(name_starts_with=self._prefix)]
        return dict(_read_all(self._prefix, keys, self._read))

    def _read(self, key: str) -> bytes:
        return bytes(self._client.download_blob(key).readall())


@functools.cache
def _az_client(address: str, container: str) -> Any:
    from azure.storage.blob import ContainerClient

    return ContainerClient.from_connection_string(az_options(address)["connection_string"], container)


def _read_all(prefix: str, keys: Iterable[str], read: Any) -> Iterable[tuple[str, bytes]]:
    def one(key: str) -> tuple[str, bytes]:
        return key.removeprefix(prefix), read(key)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, keys))
