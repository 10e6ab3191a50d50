"""Azure Blob Storage through adlfs: its service client and credentials, and Azure's own calls.

Decided here: which calls are made. adlfs's own listings are kept in memory, and Azure's client would wait a quarter of
a minute before it asks again, so each call is asked for once: the store itself asks again.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

from safepoint.store.client import Item
from safepoint.store.generic import LoopClient, code_of, statuses_of
from safepoint.store.s3 import split

_ONCE: dict[str, Any] = {"retry_total": 0, "connection_timeout": 10, "read_timeout": 30}
_BLOCK = 1 << 20
_END = object()

# its client warns of each answer that was cut off, which is then asked for again
logging.getLogger("azure").addHandler(logging.NullHandler())


class AzureClient(LoopClient):
    """Azure Blob Storage."""

    def __init__(self, fs: Any) -> None:
        super().__init__(fs)
        # larger bodies in blocks, of which only their list makes the blob: sent at once, they would hold up all others
        config = fs.service_client._config  # noqa: SLF001 - adlfs has no option for it
        config.max_single_put_size = config.max_block_size = _BLOCK

    def _blob(self, path: str) -> Any:
        container, blob = split(path)
        return self._fs.service_client.get_blob_client(container=container, blob=blob)

    async def _fetch(self, path: str, limit: int | None) -> bytes:
        bounds = {} if limit is None else {"offset": 0, "length": limit + 1}
        try:
            return bytes(await (await self._blob(path).download_blob(**bounds, **_ONCE)).readall())
        except Exception as error:
            if 416 not in statuses_of(error):  # an empty blob has no such range
                raise
            return b""

    def pieces(self, path: str) -> Iterator[bytes]:
        async def begin() -> AsyncIterator[bytes]:
            chunks: AsyncIterator[bytes] = (await self._blob(path).download_blob(**_ONCE)).chunks()
            return chunks

        yield from self._each(self._wait(begin()))

    def _is_object(self, path: str) -> bool:
        try:
            found = self._wait(self._blob(path).get_blob_properties(**_ONCE))
        except Exception as error:
            if 404 not in statuses_of(error):
                raise
            return False
        return not _is_folder(found)

    def children(self, path: str) -> Iterator[Item]:
        if not path:
            for container in self._each(self._fs.service_client.list_containers(**_ONCE)):
                yield Item(container["name"], None, folder=True)
            return
        container, folder = split(path)
        prefix = f"{folder}/" if folder else None
        for found in self._each(
            self._container(container).walk_blobs(name_starts_with=prefix, include=["metadata"], **_ONCE)
        ):
            if _is_folder(found) or not hasattr(found, "size"):
                yield Item(f"{container}/{found.name.removesuffix('/')}", None, folder=True)
            else:
                yield Item(f"{container}/{found.name}", found.size)

    def below(self, path: str) -> Iterator[Item]:
        container, folder = split(path)
        prefix = f"{folder}/" if folder else None
        for found in self._each(
            self._container(container).list_blobs(name_starts_with=prefix, include=["metadata"], **_ONCE)
        ):
            if not _is_folder(found):
                yield Item(f"{container}/{found.name}", found.size)

    def create(self, path: str, data: bytes) -> bool:
        try:
            self._upload(path, data, overwrite=False)
        except Exception as error:
            # 409 with this code, or 412: somebody else's object bears the name
            if 412 in statuses_of(error) or code_of(error) == "BlobAlreadyExists":
                return False
            raise
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        self._upload(path, data, overwrite=True)

    def _upload(self, path: str, data: bytes, *, overwrite: bool) -> None:
        self._wait(self._blob(path).upload_blob(data, overwrite=overwrite, **_ONCE), len(data))

    def delete(self, path: str) -> None:
        try:
            self._wait(self._blob(path).delete_blob(**_ONCE))
        except Exception as error:
            if 404 not in statuses_of(error):
                raise

    def _container(self, container: str) -> Any:
        return self._fs.service_client.get_container_client(container)

    def _each(self, source: AsyncIterator[Any]) -> Iterator[Any]:
        async def page() -> list[Any]:
            # some hundred at once: each crossing to the other thread costs more than an item
            found: list[Any] = []
            while len(found) < 500 and (one := await anext(source, _END)) is not _END:
                found.append(one)
            return found

        source = aiter(source)
        while found := self._wait(page()):
            yield from found


def _is_folder(found: Any) -> bool:
    """A folder of an account with a hierarchical namespace is listed as a blob."""
    return (getattr(found, "metadata", None) or {}).get("hdi_isfolder") == "true"
