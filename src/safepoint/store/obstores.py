"""S3, Google Cloud Storage and Azure through obstore's own calls: the fast driver.

Decided here: which calls are made, and what each of obstore's errors means. Its text holds addresses, signatures and
the backend's words, so it is looked at and never quoted. obstore's adaptor for fsspec is not used: it takes the
condition of a write, and forgets it. Not decided here: where and as whom (``obstore_options``).

obstore reads keys as plain paths: ``runs/`` and ``runs`` are one to it, and ``a//b`` is none. So what is empty in a
listing is asked for again before it is believed to be an object, and a listing that meets such a name ends in an error.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from datetime import timedelta
from threading import Lock
from typing import Any, Literal, Self, TypeVar

from safepoint.store import obstore_azure, obstore_gcs, obstore_s3
from safepoint.store.client import Client, Item
from safepoint.store.errors import (
    DeniedError,
    NoBucketError,
    StoreError,
    UnreachableError,
    UnsupportedError,
)
from safepoint.store.generic import kind_of
from safepoint.store.obstore_forks import ForkedError, orphaned
from safepoint.store.obstore_options import NotUnderstoodError, Plan
from safepoint.store.obstore_threads import Threads

_T = TypeVar("_T")

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
_PARALLEL = 32
"""Each waits for one answer, outside of Python. On loopback 16 are as fast; far away, each costs what the way costs."""
_THREADS = 2 * _PARALLEL
"""So that a reader who left with all of his still under way does not hold up the next one."""
_PIECE = 1 << 20
_PAGE = 1000
_RETRIES = {"max_retries": 0}
"""The store asks again, and knows what that means after a write; each of its tries is one request here."""
_PATIENCE = {
    "connect_timeout": timedelta(seconds=5),
    "read_timeout": timedelta(seconds=15),  # without a byte, as s3fs has it
    "timeout": timedelta(minutes=10),  # for a whole answer
}
_ENDLESS = timedelta(days=1)
"""For an answer or a request of any size; that nothing comes at all is noticed sooner."""
_LARGE = 1 << 20
"""Bytes from which a write has more time: while it is sent nothing comes back, and `read_timeout` runs."""
_START = 30
_SLOWEST = 128 << 10
"""A large write has `_START` seconds, and one more for each so many bytes of the next power of two."""

_REFUSED = "obstore is not used where this could mean something else to it"
_OTHERWISE = "leave the storage option 'driver' out"

_STATUS = re.compile(r"(?:status code: |\(code: )(\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_PROVIDER = re.compile(r"credential provider: (?:[\w<>]+\.)*(\w+)")
_NO_ANSWER = re.compile(r"Connect|Timeout|Transport|ServiceRequest|Retrieval")
"""In the names of errors of those who find credentials: they did not get to ask."""
_BAD_NAME = "InvalidPathError"
_UNABLE = frozenset({"NotSupportedError", "UnknownConfigurationKeyError"})
_ELSEWHERE = "redirect without LOCATION"
_TAKEN = "BlobAlreadyExists"
"""What Azure calls by the status that S3 has for two writers at the same moment."""


class ObstoreClient(Client):
    """One bucket or container; what a path names before its first slash is taken to be this one."""

    driver = "obstore"
    parallel = _PARALLEL
    flat = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = Lock()
        self._opened: _ObjectStore | None = None
        self._slow: dict[timedelta, _ObjectStore] = {}
        self._threads = Threads(_THREADS)

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
                remedy = "leave driver=obstore out, or install it: pip install 'safepoint[fast]'"
                raise UnsupportedError(url, "obstore is not installed", remedy=remedy) from None
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
        if orphaned():  # whoever asks for many looks for errors in the answers
            return _failed(ForkedError())
        return self._threads.begin(lambda: self._fetch(_key(path), limit))

    def _fetch(self, key: str, limit: int | None) -> bytes:
        answer = self._store().get(key)
        if limit is not None and answer.range[1] > limit:
            return b"\0" * (limit + 1)  # more than is wanted is all that is asked
        whole: bytes = answer.bytes().to_bytes()
        return whole

    def pieces(self, path: str) -> Iterator[bytes]:
        silence = {**_PATIENCE, **self._plan.client}["read_timeout"]
        pieces = self._ask(lambda: self._slowly(silence).get(_key(path)).stream(_PIECE))
        while (piece := self._ask(lambda: next(pieces, None))) is not None:
            yield bytes(piece)

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        key = _key(path)
        if key:
            try:
                answer = self._head(key)
            except FileNotFoundError:
                pass  # its answer has no body, so it cannot say more than this; the listing can
            else:
                return "folder" if _stands_for_folder(answer.attributes) else "file"
        try:
            found = self._ask(lambda: next(self._store().list(key or None, chunk_size=1), None))
        except Exception as error:
            if type(error).__name__ != _BAD_NAME:
                raise
            return "folder"  # what it could not name lies in there
        return "folder" if found or not key else None

    def children(self, path: str) -> Iterator[Item]:
        # at once, and not page by page: obstore has no stream with a delimiter
        found = self._ask(lambda: self._store().list_with_delimiter(_key(path) or None))
        bucket = path.partition("/")[0]
        for prefix in found["common_prefixes"]:
            yield Item(f"{bucket}/{prefix}", None, folder=True)
        yield from self._items(bucket, found["objects"])

    def below(self, path: str) -> Iterator[Item]:
        bucket = path.partition("/")[0]
        pages = self._ask(lambda: self._store().list(_key(path) or None, chunk_size=_PAGE))
        while (page := self._ask(lambda: next(pages, None))) is not None:
            yield from self._items(bucket, page)

    def _items(self, bucket: str, page: Any) -> Iterator[Item]:
        for meta in page:
            if meta["size"] or self._is_empty(meta["path"]):
                yield Item(f"{bucket}/{meta['path']}", meta["size"])

    def _is_empty(self, key: str) -> bool:
        """Whether there is an object of this name without bytes, and not one that stands for a folder."""
        try:
            answer = self._head(key)
        except FileNotFoundError:
            return False  # its name ends in a slash
        return not answer.range[1] and not _stands_for_folder(answer.attributes)

    def _head(self, key: str) -> Any:
        return self._ask(lambda: self._store().get(key, options={"head": True}))

    # Writing

    def create(self, path: str, data: bytes) -> bool:
        try:
            self._put(path, data, "create")
        except Exception as error:
            status, code = _answered(error)
            if type(error).__name__ != "AlreadyExistsError" or (status == 409 and code != _TAKEN):
                raise
            return False
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        self._put(path, data, "overwrite")

    def _put(self, path: str, data: bytes, mode: Literal["create", "overwrite"]) -> None:
        self._ask(lambda: self._writer(len(data)).put(_key(path), data, mode=mode, use_multipart=False))

    def delete(self, path: str) -> None:
        try:
            self._ask(lambda: self._store().delete(_key(path)))
        except FileNotFoundError as error:
            if self.explain(error)[0] is NoBucketError:
                raise

    # Opening

    def _ask(self, work: Callable[[], _T]) -> _T:
        """What `work` comes to; asked in another thread, so that this one can be interrupted."""
        if orphaned():
            raise ForkedError
        return self._threads.begin(work, at_once=True).result()

    def _store(self) -> _ObjectStore:
        if self._opened is None:
            with self._lock:
                if self._opened is None:
                    self._open(self._located(self._plan))
        assert self._opened is not None
        return self._opened

    def _writer(self, size: int) -> _ObjectStore:
        if size < _LARGE:
            return self._store()
        return self._slowly(timedelta(seconds=_START + (1 << (size - 1).bit_length()) / _SLOWEST))

    def _slowly(self, patience: timedelta) -> _ObjectStore:
        """The same, with its own connections, where silence ends after `patience`, and what goes on may go on."""
        self._store()  # says in which region
        with self._lock:
            if patience not in self._slow:
                silence = max(patience, self._plan.client.get("read_timeout", patience))
                self._slow[patience] = _made(self._plan, {"read_timeout": silence, "timeout": _ENDLESS})
            return self._slow[patience]

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
            problem = "this process was forked from one that had obstore loaded, which cannot go on in it"
            remedy = "open the store in the process that uses it, or start that with 'spawn'"
            return UnsupportedError, problem, remedy
        if isinstance(error, NotUnderstoodError):
            return UnsupportedError, f"{_REFUSED}: {text}", _OTHERWISE
        if name in {"UnauthenticatedError", "PermissionDeniedError"}:
            provider = _PROVIDER.search(text)
            if provider and _NO_ANSWER.search(provider[1]):
                return UnreachableError, f"no credentials could be fetched ({provider[1]})", ""
            if provider:
                return DeniedError, f"access denied ({provider[1]})", ""
            return kind_of(status or 403, {code} - {""})
        if _ELSEWHERE in text:
            remedy = "name its region in the storage options"
            return UnsupportedError, "the bucket is in another region", remedy
        if status:
            return kind_of(status, {code} - {""})
        if name == _BAD_NAME or isinstance(error, ValueError):
            problem = "a name in it is none that obstore can handle: a part of it is empty, '.' or '..', or unprintable"
            remedy = "remove or rename it, or choose the storage option driver=fsspec"
            return UnsupportedError, problem, remedy
        if name in _UNABLE or isinstance(error, NotImplementedError):
            problem = f"this kind of storage cannot do that ({name})"
            return UnsupportedError, problem, "check the storage options"
        if "dns error" in text or "tcp connect error" in text:
            return (
                UnreachableError,
                "nothing answers at that address",
                "check the endpoint; or try again later",
            )
        return UnreachableError, f"no usable answer ({name})", ""


def _planned(protocol: str, bucket: str, options: Mapping[str, Any]) -> Plan:
    if protocol not in _PLANS:
        raise NotUnderstoodError("this kind of storage")
    if orphaned():
        raise NotUnderstoodError("a process forked from one that had obstore loaded")
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


def _failed(error: Exception) -> Future[bytes]:
    future: Future[bytes] = Future()
    future.set_exception(error)
    return future


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
