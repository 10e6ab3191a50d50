"""From a URL and its options to the client that speaks to its backend.

Decided here: which library is used, which options are ours, and which URLs cannot be trusted. Credentials, endpoints
and profiles are found where fsspec's users expect them: in the URL, the options, fsspec's own configuration (files
and ``FSSPEC_…`` variables) and the environment of the backend's library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.store.capabilities import capabilities_of
from safepoint.store.client import Client, Connection
from safepoint.store.errors import UnsupportedError
from safepoint.store.generic import FsspecClient, MemoryClient
from safepoint.store.remote import RemoteStore
from safepoint.store.urls import split_chain

_LOCAL = ("file", "local")
_WRAPPERS = {"simplecache", "filecache", "blockcache", "cached", "dir"}

_LIBRARIES = {
    "s3": ("s3fs", "s3"),
    "s3a": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
    "gcs": ("gcsfs", "gcs"),
    "az": ("adlfs", "azure"),
    "abfs": ("adlfs", "azure"),
    "abfss": ("adlfs", "azure"),
}
"""Protocol to the library behind it, and to the extra that installs that."""

_PROVEN = _LIBRARIES.keys() - {"gs", "gcs"}
"""Protocols that obstore is used for by itself: of GCS there is no server in the tests that takes its writes."""

DRIVERS = ("auto", "fsspec", "obstore")


def connect(url: str, options: Mapping[str, Any]) -> RemoteStore:
    """The store at `url`; see `open_store`."""
    _require_configuration(url)
    given = dict(options)
    driver, assumed = given.pop("driver", "auto"), given.pop("assume_one_writer", False)
    if driver not in DRIVERS:
        raise UnsupportedError(url, f"no such driver, {driver!a}", remedy=f"use one of {', '.join(DRIVERS)}")
    if not isinstance(assumed, bool):
        raise UnsupportedError(
            url, "assume_one_writer is neither true nor false", remedy="write true or false"
        )
    before, main, after = split_chain(url)
    # the query of an HTTP address, often a signature, belongs behind every key and into no report
    main, mark, query = main.partition("?") if main.startswith(("http:", "https:")) else (main, "", "")
    protocol = main.partition("://")[0].lower()
    chained = bool(before or after)
    capabilities = capabilities_of(
        f"{protocol} through another" if chained else protocol, assume_one_writer=assumed
    )

    def make() -> tuple[Client, str]:
        found = None
        if driver == "obstore" or (driver == "auto" and not chained and protocol in _PROVEN):
            found = _fast(url, protocol, main, given, strict=driver == "obstore")
        return found or _usual(url, protocol, given, chained=chained)

    connection = Connection(make)
    root = connection.root.removesuffix(mark + query)
    return RemoteStore(connection, root, before + main + after, capabilities, mark + query)


def _fast(
    url: str, protocol: str, main: str, options: Mapping[str, Any], *, strict: bool
) -> tuple[Client, str] | None:
    """The client of obstore, and the path in it, where that is installed, knows all of `options` and may be used."""
    if protocol in _LIBRARIES:
        from safepoint.store.obstores import ObstoreClient

        authority, _, rest = main.partition("://")[2].partition("/")
        client = ObstoreClient.open(protocol, authority, _of_protocol(protocol, options), strict=strict)
        return None if client is None else (client, "/".join((authority.partition("@")[0], rest)))
    if strict:
        problem = f"obstore knows no {protocol} storage"
        raise UnsupportedError(url, problem, remedy="leave driver=obstore out")
    return None


def _usual(url: str, protocol: str, options: Mapping[str, Any], *, chained: bool) -> tuple[Client, str]:
    """The file system that fsspec has for the URL, and the path in it."""
    from fsspec.core import url_to_fs

    _require_known(url)
    if protocol in {"gs", "gcs"}:
        from safepoint.store.gcs import prepare

        prepare()
    try:
        fs, root = url_to_fs(url, **_arguments(url, protocol, options, chained=chained))
    except Exception as error:  # noqa: BLE001 - whatever a file system makes of a URL and its options
        kind, problem, remedy = FsspecClient(None).explain(error)
        if isinstance(error, TypeError | ValueError | AttributeError):
            given = f" {', '.join(sorted(options))}" if options else ""
            kind, problem = (
                UnsupportedError,
                f"the storage options are not understood ({type(error).__name__})",
            )
            remedy = f"check the names and values of the options{given}, fsspec's configuration and the environment"
        # without its cause: its text may hold credentials
        raise kind(url, problem, remedy=remedy) from None
    return _client(fs, protocol, chained=chained), root


def _client(fs: Any, protocol: str, *, chained: bool) -> Client:
    """The client for a file system, none of whose listings is ever kept."""
    # set afterwards: as an argument, some file systems would hand it on to their library, which refuses it
    link = fs
    while link is not None:
        if hasattr(link, "dircache"):
            link.dircache.use_listings_cache = False
        link = getattr(link, "fs", None)
    if chained:
        return FsspecClient(fs)
    match _LIBRARIES.get(protocol, ("", protocol))[1]:
        case "s3":
            from safepoint.store.s3 import S3Client

            return S3Client(fs)
        case "gcs":
            from safepoint.store.gcs import GcsClient

            return GcsClient(fs)
        case "azure":
            from safepoint.store.azure import AzureClient

            return AzureClient(fs)
        case "memory":
            return MemoryClient(fs)
        case _:
            return FsspecClient(fs)


def _arguments(url: str, protocol: str, options: Mapping[str, Any], *, chained: bool) -> dict[str, Any]:
    # an instance of our own, so that nobody else's listings answer, and ours are kept by nobody
    fresh = {"skip_instance_cache": True}
    if chained:
        protocols = [part.partition("://")[0] for part in url.split("::")]
        inner = {name: fresh | dict(options.get(name, {})) for name in protocols[1:]}
        return {**options, **inner, **fresh}
    mine = _of_protocol(protocol, options)
    if _LIBRARIES.get(protocol, ("",))[0] == "s3fs":
        from safepoint.store.s3 import options_of

        mine = options_of(mine)
    if protocol in {"http", "https"}:
        mine["client_kwargs"] = {"timeout": _patience(), **mine.get("client_kwargs", {})}
    return {**mine, **fresh}


def _patience() -> Any:
    """How long the web may be silent; without this, for ever."""
    from aiohttp import ClientTimeout

    return ClientTimeout(sock_connect=10, sock_read=30)


def _of_protocol(protocol: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for one protocol: those under its name, or another name of it, win over those for all."""
    from fsspec.registry import known_implementations

    named = {
        name: value
        for name, value in options.items()
        if isinstance(value, Mapping) and name in known_implementations
    }
    mine = {protocol, *(name for name, library in _LIBRARIES.items() if library == _LIBRARIES.get(protocol))}
    own = {name: value for known in named.keys() & mine for name, value in named[known].items()}
    return {**{name: value for name, value in options.items() if name not in named}, **own}


def _require_configuration(url: str) -> None:
    """What fsspec reads of its own when it is imported can be used; what is wrong with it may hold a secret."""
    try:
        from fsspec.config import conf

        known = all(isinstance(options, Mapping) for options in conf.values())
    except Exception as error:  # noqa: BLE001 - whatever its parsers say of a file
        problem = f"fsspec's own configuration cannot be read ({type(error).__name__})"
    else:
        if known:
            return
        problem = "fsspec's own configuration is not options by protocol"
    remedy = "check the files in FSSPEC_CONFIG_DIR, or in ~/.config/fsspec, and the variables FSSPEC_…"
    raise UnsupportedError(url, problem, remedy=remedy) from None


def _require_known(url: str) -> None:
    from fsspec import get_filesystem_class

    protocols = [part.partition("://")[0] for part in url.split("::")]
    for protocol in (part.partition("://")[0] for part in url.split("::") if "://" in part):
        try:
            get_filesystem_class(protocol)
        except ValueError:
            problem = f"storage of an unknown kind, {protocol!a}"
            raise UnsupportedError(url, problem, remedy="check the address") from None
        except ImportError as error:
            library, extra = _LIBRARIES.get(protocol, ("", ""))
            remedy = f"install {library}: pip install 'safepoint[{extra}]'" if library else str(error)
            raise UnsupportedError(url, "this kind of storage needs another package", remedy=remedy) from None
    outer = next((protocol for protocol in protocols if protocol not in _WRAPPERS), "")
    if outer in _LOCAL and len(protocols) > 1:
        raise UnsupportedError(
            url, "a chain around a local folder follows its links anywhere", remedy="name the folder"
        )
