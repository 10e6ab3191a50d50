"""Storage outside of a run's own store, asked for the artifacts that lie there: only where the caller names its scheme.

Decided here: with which options it is opened, and that no web server sends us on to another place. Not decided here:
which URIs name an object elsewhere (``core.uri``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from threading import Lock
from typing import Any

from safepoint.core.uri import ON_THIS_MACHINE, WEB, Address
from safepoint.store.base import Store
from safepoint.store.errors import UnsupportedError
from safepoint.store.opening import open_store

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


def parse_schemes(names: Collection[str]) -> frozenset[str]:
    """The schemes of URLs that artifacts may be read from.

    Raises:
        ValueError: one of them is no scheme, or one that is never read from; the message says which and why.
    """
    if isinstance(names, str):
        raise ValueError(f"got the text {names!r}, expected a list of schemes such as ['s3']")  # noqa: TRY004 - as for the names in it
    return frozenset(map(_scheme, names))


def _scheme(name: str) -> str:
    scheme = name.lower().removesuffix("://")
    if not _SCHEME.fullmatch(scheme):
        raise ValueError(f"got {name!r}, expected the scheme of a URL, such as s3, gs, az or https")
    if scheme in ON_THIS_MACHINE:
        raise ValueError(f"{scheme}: a record that names a file of its reader's machine is refused (SP006)")
    from fsspec import available_protocols

    if scheme not in available_protocols():
        raise ValueError(f"{scheme}: no storage of this kind is known; expected such as s3, gs, az or https")
    return scheme


class Elsewhere:
    """What other storage may be asked; each is opened once, whichever threads ask."""

    def __init__(self, schemes: Collection[str] = (), options: Mapping[str, Any] | None = None) -> None:
        """With these schemes, and the caller's storage options.

        Args:
            schemes: of URLs that may be asked; none: nothing is.
            options: as in `open_store` for the run's own store, and under the name of a scheme those for that scheme.

        Raises:
            ValueError: as in `parse_schemes`.
        """
        self.schemes = parse_schemes(schemes) if schemes else frozenset()
        self._options = dict(options or {})
        self._lock = Lock()
        self._opened: dict[tuple[int, str, str], Store] = {}

    @property
    def own_options(self) -> dict[str, Any]:
        """The options without those that are for other storage."""
        return {k: v for k, v in self._options.items() if not (k in self.schemes and isinstance(v, Mapping))}

    def store_of(self, address: Address, own: Store) -> Store:
        """The storage that holds `address`.

        Args:
            address: the object, of one of `schemes`.
            own: the run's own store, whose options also open what lies in the same kind of storage.

        Raises:
            StoreError: it cannot be opened.
        """
        # a client that was opened before a fork hangs behind it
        name = (os.getpid(), address.root, own.url)
        with self._lock:
            found = self._opened.get(name)
            if found is None:
                found = self._opened[name] = open_store(address.root, **self._options_for(address, own))
        return found

    def _options_for(self, address: Address, own: Store) -> dict[str, Any]:
        given = self._options.get(address.scheme)
        scheme, _, rest = own.url.partition("://")
        if isinstance(given, Mapping):
            options = dict(given)
        elif scheme.lower() != address.scheme:
            options = {}
        elif address.scheme in WEB and rest.partition("/")[0].partition("?")[0] != address.authority:
            options = {}  # headers and cookies are for the one host that they were meant for
        else:
            options = self.own_options
        options.pop("assume_one_writer", None)
        return _staying(options) if address.scheme in WEB else options


def _staying(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for a web server, of which no answer leads to another scheme, host or port."""
    from aiohttp import TraceConfig

    async def stay(_session: Any, _context: Any, asked: Any) -> None:
        target = asked.url.join(type(asked.url)(asked.response.headers.get("Location", "")))
        if target.origin() != asked.url.origin():
            problem = "the server sends us on to another place, which was not followed"
            raise UnsupportedError(str(asked.url), problem, remedy="let the record name that place itself")

    trace = TraceConfig()
    trace.on_request_redirect.append(stay)
    client = dict(options.get("client_kwargs") or {})
    client["trace_configs"] = [*client.get("trace_configs", ()), trace]
    # obstore follows every redirect, and offers no way to say that it must not
    return {**options, "client_kwargs": client, "driver": "fsspec"}
