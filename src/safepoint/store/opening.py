"""Which backend a path or URL gets.

Decided here: what counts as local. fsspec is imported for nothing else: it costs more than a small job.
"""

from __future__ import annotations

import os
from typing import Any

from safepoint.store import obstore_forks  # noqa: F401 - watches for forks from before obstore is loaded
from safepoint.store.base import Store
from safepoint.store.errors import AbsentError, UnsupportedError
from safepoint.store.local import LocalStore


def open_store(url: str, **storage_options: Any) -> Store:
    """The store at a path, a ``file://`` URL or any fsspec URL; nothing is read or written yet.

    Args:
        url: where it is; chained URLs (``zip://::s3://…``) can be read.
        storage_options: as fsspec knows them; those under a protocol's name (``s3={...}``) for that protocol alone. Two
            are ours: ``driver`` (``auto``, ``fsspec``, ``obstore``) says which library speaks to S3, GCS and Azure;
            ``assume_one_writer=True`` allows to write where no way is known to keep two writers apart, and whoever
            gives it promises that there is one.

    Raises:
        UnsupportedError: no such kind of storage, or its package is not installed.
        StoreError: the storage cannot be opened.
    """
    path = local_path(url)
    if path is not None:
        return LocalStore(path, url)
    from safepoint.store.connecting import connect

    return connect(url, storage_options)


def local_path(url: str) -> str | None:
    """The path on this machine that `url` names, or None where it names something elsewhere.

    Raises:
        AbsentError: it names nothing.
        UnsupportedError: a ``file://`` URL that names another host.
    """
    if not url or "\0" in url:
        raise AbsentError(url, "an empty name" if not url else "the name contains a NUL")
    scheme, is_url, rest = url.partition("://")
    if not is_url:
        return url if "::" not in url or os.path.lexists(url) else None
    if scheme.lower() not in {"file", "local"} or "::" in url:
        return None
    host, slash, path = rest.partition("/")
    if not slash and host in {"", "localhost"}:
        # not the root: whoever left the path out did not mean to have the whole machine read
        raise AbsentError(url, "a file URL without a path", remedy="write file:///path, or the path alone")
    if host not in {"", "localhost"}:
        raise UnsupportedError(
            url, "a file URL of another host", remedy="write file:///path, or the path alone"
        )
    from urllib.request import url2pathname

    return url2pathname("/" + path)
