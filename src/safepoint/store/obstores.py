"""S3, Google Cloud Storage and Azure through obstore's own calls: the fast driver.

Decided here: which calls are made, and what each of obstore's errors means. Its text holds addresses, signatures and
the backend's words, so it is looked at and never quoted. obstore's adaptor for fsspec is not used: it takes the
condition of a write, and forgets it. Not decided here: where and as whom (``obstore_options``).

obstore reads keys as plain paths: ``runs/`` and ``runs`` are one to it, and ``a//b`` is none. So what is empty in a
listing is asked for again before it is believed to be an object, and a listing that meets such a name ends in an error.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from threading import Lock
from typing import Any, Literal, Self

from safepoint.store import obstore_azure, obstore_gcs, obstore_s3
from safepoint.store.client import Client, Item
from safepoint.store.errors import (
    AbsentError,
    ConflictError,
    DeniedError,
    StoreError,
    ThrottledError,
    UnreachableError,
    UnsupportedError,
)
from safepoint.store.obstore_options import NotUnderstoodError, Plan

_ObjectStore = Any
"""One of obstore's three stores; named nowhere else, because importing it costs time."""

_PLANS = {
    "s3": obstore_s3.plan,
    "s3a": obstore_s3.plan,
    "gs": obstore_gcs.plan,
    "gcs": obstore_gcs.plan,
    "az": obstore_azure.plan,
    "abfs": obstore_azure.plan,
    "abfss": obstore_azure.plan,
}
_THREADS = 32
"""Each waits for one answer, outside of Python. On loopback 16 are as fast; far away, each costs what the way costs."""
_PIECE = 1 << 20
_PAGE = 1000
_RETRIES = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=2),
        "base": 4,
    },
}
"""As the store would ask again; with the patience below, a read that nobody answers ends after about 30 seconds."""
_PATIENCE = {
    "connect_timeout": timedelta(seconds=5),
    "read_timeout": timedelta(seconds=15),  # without a byte, as s3fs has it
    "timeout": timedelta(days=1),  # of the whole answer, which a huge object may well take
}
_LARGE = 1 << 20
"""Bytes from which a write gets as long as `_SLOWLY` allows: while it is sent, nothing comes back."""
_SLOWLY = 64 << 10
"""Bytes a second."""

_REFUSED = "obstore is not used where this could mean something else to it"
_OTHERWISE = "leave the storage option 'driver' out"

_STATUS = re.compile(r"(?:status code: |\(code: )(\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_PROVIDER = re.compile(r"credential provider: (?:[\w<>]+\.)*(\w+)")
_NO_ANSWER = re.compile(r"Connect|Timeout|Transport|ServiceRequest|Retrieval")
"""In the names of errors of those who find credentials: they did not get to ask."""
_BAD_NAME = "InvalidPathError"
_ELSEWHERE = "redirect without LOCATION"
_NO_BUCKET = frozenset({"NoSuchBucket", "ContainerNotFound"})
_BUSY = frozenset({"SlowDown", "ServerBusy", "TooManyRequests", "RequestLimitExceeded"})
_TAKEN = "BlobAlreadyExists"
"""What Azure calls by the status that S3 has for two writers at the same moment."""


class _Forks:
    """Whether this process came, by a fork, out of one that used obstore: whose threads are not in it."""

    used = False
    orphaned = False

    @classmethod
    def after(cls) -> None:
        cls.orphaned = cls.orphaned or cls.used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Forks.after)


class ForkedError(Exception):
    """obstore would wait for ever in a process that was forked from one that used it."""


class ObstoreClient(Client):
    """One bucket or container; what a path names before its first slash is taken to be this one."""

    driver = "obstore"
    parallel = _THREADS
    patient = True
    flat = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = Lock()
        self._opened: _ObjectStore | None = None
        self._threads: ThreadPoolExecutor | None = None

    @classmethod
    def open(
        cls, protocol: str, bucket: str, options: Mapping[str, Any], *, strict: bool = False
    ) -> Self | None:
        """The client for a bucket, or None where fsspec's file system might do anything else with these options.

        Args:
            protocol: as in the URL.
            bucket: the bucket or container; for Azure also as ``container@account.dfs.core.windows.net``.
            options: as given for fsspec.
            strict: say why instead of None.

        Raises:
            UnsupportedError: `strict`, and it cannot be opened.
        """
        url = f"{protocol}://{bucket}"
        try:
            import obstore  # noqa: F401 - whether it is there
        except ImportError:
            if strict:
                raise UnsupportedError(url, "obstore is not installed", remedy="install it") from None
            return None
        try:
            client = cls(_planned(protocol, bucket, options))
            if client._plan.moved is None:
                client._open(client._plan)  # so that what obstore refuses is found out now
        except NotUnderstoodError as why:
            if strict:
                raise UnsupportedError(url, f"{_REFUSED}: {why}", remedy=_OTHERWISE) from None
            return None
        return client

    # Reading

    def fetch(self, path: str, limit: int | None = None) -> Future[bytes]:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="safepoint-obstore")
        return self._threads.submit(self._fetch, _key(path), limit)

    def _fetch(self, key: str, limit: int | None) -> bytes:
        answer = self._store().get(key)
        if limit is not None and answer.range[1] > limit:
            return b"\0" * (limit + 1)  # more than is wanted is all that is asked
        whole: bytes = answer.bytes().to_bytes()
        return whole

    def pieces(self, path: str) -> Iterator[bytes]:
        for piece in self._store().get(_key(path)).stream(_PIECE):
            yield bytes(piece)

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        key = _key(path)
        if key:
            try:
                answer = self._store().get(key, options={"head": True})
            except FileNotFoundError:
                pass  # its answer has no body, so it cannot say more than this; the listing can
            else:
                return "folder" if _stands_for_folder(answer.attributes) else "file"
        try:
            found = next(iter(self._store().list(key or None, chunk_size=1)), None)
        except Exception as error:
            if type(error).__name__ != _BAD_NAME:
                raise
            return "folder"  # what it could not name lies in there
        return "folder" if found or not key else None

    def children(self, path: str) -> Iterator[Item]:
        # at once, and not page by page: obstore has no stream with a delimiter
        found = self._store().list_with_delimiter(_key(path) or None)
        bucket = path.partition("/")[0]
        for prefix in found["common_prefixes"]:
            yield Item(f"{bucket}/{prefix}", None, folder=True)
        yield from self._items(bucket, found["objects"])

    def below(self, path: str) -> Iterator[Item]:
        bucket = path.partition("/")[0]
        for page in self._store().list(_key(path) or None, chunk_size=_PAGE):
            yield from self._items(bucket, page)

    def _items(self, bucket: str, page: Any) -> Iterator[Item]:
        for meta in page:
            if meta["size"] or self._is_empty(meta["path"]):
                yield Item(f"{bucket}/{meta['path']}", meta["size"])

    def _is_empty(self, key: str) -> bool:
        """Whether there is an object of this name without bytes, and not one that stands for a folder."""
        try:
            answer = self._store().get(key, options={"head": True})
        except FileNotFoundError:
            return False  # its name ends in a slash
        return not answer.range[1] and not _stands_for_folder(answer.attributes)

    # Writing

    def create(self, path: str, data: bytes) -> bool:
        try:
            self._writer(data).put(_key(path), data, mode="create", use_multipart=False)
        except Exception as error:
            status, code = _answered(error)
            if type(error).__name__ != "AlreadyExistsError" or (status == 409 and code != _TAKEN):
                raise
            return False
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        self._writer(data).put(_key(path), data, mode="overwrite", use_multipart=False)

    def delete(self, path: str) -> None:
        try:
            self._store().delete(_key(path))
        except FileNotFoundError as error:
            if _answered(error)[1] in _NO_BUCKET:
                raise

    # Opening

    def _store(self) -> _ObjectStore:
        if _Forks.orphaned:
            raise ForkedError
        _Forks.used = True
        if self._opened is None:
            with self._lock:
                if self._opened is None:
                    self._open(self._located(self._plan))
        assert self._opened is not None
        return self._opened

    def _writer(self, data: bytes) -> _ObjectStore:
        store = self._store()
        if len(data) < _LARGE:
            return store
        patience = _PATIENCE["read_timeout"] + timedelta(seconds=len(data) / _SLOWLY)
        return _made(self._plan, {"read_timeout": patience})

    def _located(self, plan: Plan) -> Plan:
        """AWS alone knows in which region a bucket is, and obstore, other than botocore, cannot be sent on."""
        if plan.moved is None:
            return plan
        region = obstore_s3.region_of(plan.config["endpoint"])
        return plan.moved(region) if region and region != plan.config["region"] else plan

    def _open(self, plan: Plan) -> None:
        try:
            self._opened, self._plan = _made(plan, {}), plan
        except Exception as error:  # noqa: BLE001 - what obstore refuses, for whatever reason, fsspec may take
            raise NotUnderstoodError(f"settings that obstore refuses ({type(error).__name__})") from None

    # Errors

    def explain(self, error: Exception) -> tuple[type[StoreError], str, str]:
        """As obstore speaks: by class where it has one, else by the status in its text, which is quoted nowhere."""
        name = type(error).__name__
        status, code = _answered(error)
        text = str(error)
        if isinstance(error, ForkedError):
            problem = "this process was forked from one that used obstore, which cannot go on in it"
            return (
                UnsupportedError,
                problem,
                "open the store in the process that uses it, or start that with 'spawn'",
            )
        if isinstance(error, NotUnderstoodError):
            return UnsupportedError, f"{_REFUSED}: {text}", _OTHERWISE
        if name in {"UnauthenticatedError", "PermissionDeniedError"}:
            provider = _PROVIDER.search(text)
            if provider and _NO_ANSWER.search(provider[1]):
                return UnreachableError, f"no credentials could be fetched ({provider[1]})", ""
            said = provider[1] if provider else f"status {status or 403}"
            return DeniedError, f"access denied ({said})", ""
        if code in _NO_BUCKET:
            return AbsentError, "there is no such bucket", "check its name"
        if isinstance(error, FileNotFoundError) or status in {404, 410}:
            return AbsentError, "nothing is there", ""
        if status in {401, 403}:
            return DeniedError, f"access denied (status {status})", ""
        if status == 429 or code in _BUSY:
            return ThrottledError, f"too many requests (status {status})", ""
        if name in {"AlreadyExistsError", "PreconditionError", "NotModifiedError"} or status in {409, 412}:
            return ConflictError, f"another writer was there (status {status or 409})", ""
        if _ELSEWHERE in text:
            return (
                UnsupportedError,
                "the bucket is in another region",
                "name its region in the storage options",
            )
        if name == _BAD_NAME or isinstance(error, ValueError):
            problem = "a name in it is none that obstore can handle: a part of it is empty, '.' or '..', or unprintable"
            return (
                UnsupportedError,
                problem,
                "remove or rename it, or choose the storage option driver=fsspec",
            )
        if name in {"NotSupportedError", "UnknownConfigurationKeyError"} or isinstance(
            error, NotImplementedError
        ):
            return (
                UnsupportedError,
                f"this kind of storage cannot do that ({name})",
                "check the storage options",
            )
        return UnreachableError, f"no usable answer ({f'status {status}' if status else name})", ""


def _planned(protocol: str, bucket: str, options: Mapping[str, Any]) -> Plan:
    if protocol not in _PLANS:
        raise NotUnderstoodError("this kind of storage")
    if _Forks.orphaned:
        raise NotUnderstoodError("a process forked from one that used obstore")
    try:
        return _PLANS[protocol](bucket, options)
    except (TypeError, ValueError, AttributeError) as error:
        # an option that is not even of its kind: whose it is has a better word for that
        raise NotUnderstoodError(f"an option of an unexpected kind ({type(error).__name__})") from None


def _made(plan: Plan, patience: Mapping[str, Any]) -> _ObjectStore:
    from obstore import store

    kinds: dict[str, Any] = {"s3": store.S3Store, "gs": store.GCSStore, "az": store.AzureStore}
    return kinds[plan.kind](
        config=dict(plan.config),
        client_options={**_PATIENCE, **plan.client, **patience},
        retry_config=_RETRIES,
        credential_provider=plan.credentials,
    )


def _key(path: str) -> str:
    return path.partition("/")[2]


def _stands_for_folder(attributes: Mapping[str, Any]) -> bool:
    """Whether Azure's tools made it in place of a folder."""
    return any(name.lower() == "hdi_isfolder" for name in attributes)


def _answered(error: Exception) -> tuple[int, str]:
    """The HTTP status and the backend's error code behind an error; 0 and nothing if there are none."""
    text = str(error)
    status, code = _STATUS.search(text), _CODE.search(text)
    return int(status[1]) if status else 0, code[1] if code else ""
