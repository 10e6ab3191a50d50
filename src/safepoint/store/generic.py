"""Any file system of fsspec: reading everywhere, writing where it is known how.

Decided here: how to ask so that a cache cannot answer, and which of the many errors means "absent". A backend is
believed only when it says so itself: several report an outage as a missing file, or swallow it in their ``walk``,
``find``, ``glob`` and ``exists``, which is why none of those is used. The clients of the large object stores build on
this one.
"""

# ruff: noqa: D102 - the interface is explained in client.py

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from threading import Lock
from typing import Any, Literal

from safepoint.store.client import Client, Item
from safepoint.store.errors import (
    AbsentError,
    ConflictError,
    DeniedError,
    NoBucketError,
    StoreError,
    ThrottledError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
)

_MEMORY = Lock()
"""fsspec's memory is one for the whole process, and so is this."""

_USUAL = 60.0
"""Seconds that one request may take."""

_LONG = 600.0
"""Seconds for an object of any size; that nothing comes at all is noticed sooner, by the libraries."""

_SLOWEST = 128 * 2**10
"""Bytes in a second of the slowest line that is waited for."""

_NOBODY = frozenset(
    {"EndpointConnectionError", "ClientConnectorError", "ClientConnectorDNSError", "ServiceRequestError"}
    | {"ConnectionRefusedError", "gaierror"}
)
"""Errors of botocore, aiohttp, Azure and the system where no connection came about."""

_BUSY = frozenset({"SlowDown", "ServerBusy", "TooManyRequests", "RequestLimitExceeded"})
"""Error codes of S3 and Azure that ask for patience."""


class FsspecClient(Client):
    """One fsspec file system."""

    driver = "fsspec"

    def __init__(self, fs: Any) -> None:
        self._fs = fs

    def fetch(self, path: str, limit: int | None = None) -> Future[bytes]:
        done: Future[bytes] = Future()
        try:
            if limit is not None and (size := self._fs.info(path).get("size")) and size > limit:
                done.set_result(b"\0" * (limit + 1))  # more than is wanted is all that is asked
            else:
                done.set_result(bytes(self._fs.cat_file(path)))
        except Exception as error:  # noqa: BLE001 - the future carries whatever a file system raises
            done.set_exception(error)
        return done

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        return "folder" if self._fs.info(path)["type"] == "directory" else "file"

    def children(self, path: str) -> Iterator[Item]:
        for info in self._fs.ls(path, detail=True):
            folder = info["type"] == "directory"
            yield Item(str(info["name"]).strip("/"), None if folder else info.get("size"), folder)

    def delete(self, path: str) -> None:
        try:
            self._fs.rm_file(path)
        except FileNotFoundError as error:
            if self.explain(error)[0] is not AbsentError:
                raise

    def overwrite(self, path: str, data: bytes) -> None:
        self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._fs.pipe_file(path, data)

    def explain(self, error: Exception) -> tuple[type[StoreError], str, str]:
        """As fsspec's file systems and their libraries speak; only classes and statuses are quoted."""
        causes = list(causes_of(error))
        what = type(causes[-1]).__name__
        statuses = [status for status in map(status_of, causes) if status]
        if isinstance(error, ImportError):
            # the one text that is quoted: it names a package, and is known to name nothing else
            return UnsupportedError, "this kind of storage needs another package", str(error)
        if what == "ProfileNotFound":
            return UnsupportedError, "there is no such profile on this machine", "check its name"
        if statuses:
            return kind_of(statuses[-1], {code_of(cause) for cause in causes} - {""})
        if any(
            isinstance(cause, PermissionError) or "Credential" in type(cause).__name__ for cause in causes
        ):
            return DeniedError, f"access denied ({what})", ""
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            # fsspec's HTTP file system reports any failure as a missing file; the cause tells
            if isinstance(causes[-1], FileNotFoundError | NotADirectoryError | KeyError):
                return AbsentError, "nothing is there", ""
            return UnreachableError, f"no usable answer ({what})", ""
        if isinstance(error, IsADirectoryError):
            return UnreadableError, "a folder, not a file", ""
        # how fsspec's file systems say that an address, an option or an operation is not theirs
        if isinstance(error, ValueError | TypeError | NotImplementedError):
            return (
                UnsupportedError,
                f"this kind of storage cannot do that ({what})",
                "check the address and the options",
            )
        if what in _NOBODY:
            return (
                UnreachableError,
                f"nothing answers at that address ({what})",
                "check the endpoint; or try again later",
            )
        return UnreachableError, f"no usable answer ({what})", ""


class MemoryClient(FsspecClient):
    """fsspec's memory file system, which all threads of a process share."""

    def create(self, path: str, data: bytes) -> bool:
        with _MEMORY:
            # its store is asked, and not `exists`: to that, a name that others lie below is taken as well
            if f"/{path}" in self._fs.store:
                return False
            self.overwrite(path, data)
        return True


class LoopClient(FsspecClient):
    """An object store by an asynchronous file system, whose requests run side by side on fsspec's own thread.

    Each is asked for once, as the store itself asks again, and ends after a time: the libraries have waits without one.
    """

    parallel = 48
    flat = True

    def fetch(self, path: str, limit: int | None = None) -> Future[bytes]:
        return self._begin(self._fetch(path, limit), _LONG)

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        if "/" not in path:
            next(self.below(path), None)  # raises where there is no such bucket
            return "folder"
        if self._is_object(path):
            return "file"
        return "folder" if next(self.below(path), None) else None

    @abstractmethod
    def _is_object(self, path: str) -> bool:
        """Whether an object bears exactly this name."""

    @abstractmethod
    async def _fetch(self, path: str, limit: int | None) -> bytes:
        """As `fetch`."""

    def _begin(self, coroutine: Coroutine[Any, Any, Any], seconds: float = _USUAL) -> Future[Any]:
        import asyncio

        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, seconds), self._fs.loop)

    def _wait(self, coroutine: Coroutine[Any, Any, Any], size: int = 0) -> Any:
        """What it comes to; `size` bytes that have to be sent give it more time."""
        return self._begin(coroutine, _USUAL + size / _SLOWEST).result()

    def explain(self, error: Exception) -> tuple[type[StoreError], str, str]:
        """As every file system; but absent is only what the backend has answered so.

        A file that is missing may as well be one of this machine, which its credentials were to come from.
        """
        kind, problem, remedy = super().explain(error)
        if issubclass(kind, AbsentError) and not statuses_of(error):
            remedy = "check the credentials, and the files and programs that they come from"
            return UnreachableError, "a file or program of this machine is missing", remedy
        return kind, problem, remedy


def kind_of(status: int, codes: set[str]) -> tuple[type[StoreError], str, str]:
    """What an answer of an object store means, by its HTTP status and the error codes in it."""
    if status in {401, 403}:
        said = ", ".join([f"status {status}", *sorted(code for code in codes if code.isalpha())])
        return DeniedError, f"access denied ({said})", ""
    if "NoSuchBucket" in codes or "ContainerNotFound" in codes:
        return NoBucketError, "there is no such bucket", "check its name"
    if status in {404, 410}:
        return AbsentError, "nothing is there", ""
    if status == 429 or codes & _BUSY:
        return ThrottledError, f"too many requests (status {status})", ""
    if status in {409, 412}:
        return ConflictError, f"another writer was there (status {status})", ""
    return UnreachableError, f"no usable answer (status {status})", ""


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """An error, and what each was raised from."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def status_of(error: BaseException) -> int:
    """The HTTP status behind an error of aiohttp, botocore, gcsfs or Azure; 0 if there is none."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    for name in ("status", "status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int | str) and str(value).isdigit():
            return int(value)
    return 0


def code_of(error: BaseException) -> str:
    """The error code that S3, GCS or Azure gives; empty if there is none."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        return str(response.get("Error", {}).get("Code", ""))
    return str(getattr(getattr(error, "error_code", ""), "value", getattr(error, "error_code", "")) or "")


def statuses_of(error: BaseException) -> set[int]:
    """Every HTTP status in an error and its causes."""
    return {status for status in map(status_of, causes_of(error)) if status}
