"""Every backend through every library that speaks to it: where the contract of a store must hold.

Decided here: which combinations there are, and how a fresh place in each is had.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import servers
from foreign import Folder, Foreign, Memory, foreign_to
from servers import Server

from safepoint.store import Store, open_store


@dataclass(frozen=True, slots=True)
class Place:
    """A fresh place for one store, as its user and as everybody else sees it."""

    name: str
    backend: str
    driver: str
    """Empty where there is no choice."""
    url: str
    options: Mapping[str, Any]
    foreign: Foreign
    server: Server | None = None

    def open(self, **other: Any) -> Store:
        """A store there; `other` options replace its own."""
        return open_store(self.url, **{**self.options, **other})


SERVERS: Mapping[str, Callable[[], Server]] = {
    "seaweedfs": servers.seaweedfs,
    "ministack": servers.ministack,
    "fake-gcs-server": servers.fake_gcs_server,
    "azurite": servers.azurite,
}
"""Those that keep what they promise."""

DRIVERS = ("fsspec", "obstore")
_UNTRIED = "fake-gcs-server-obstore"
"""obstore writes to GCS by its XML API, which no emulator has: it is only ever used at Google's own address."""
REMOTE = tuple(name for server in SERVERS for driver in DRIVERS if (name := f"{server}-{driver}") != _UNTRIED)
EVERYWHERE = ("local", "memory", *REMOTE)
SHARED = ("local", *REMOTE)
"""What more than one process can reach."""


def place_at(name: str, folder: Path | None = None) -> Place:
    """A fresh place in `name`, one of `EVERYWHERE`; on disk, and there only, it is made below `folder`."""
    fresh = uuid.uuid4().hex[:12]
    if name == "local":
        assert folder is not None
        root = folder / fresh
        return Place(name, "local", "", str(root), {}, Folder(root))
    if name == "memory":
        return Place(name, "memory", "", f"memory://{fresh}", {}, Memory(fresh))
    server_name, _, driver = name.rpartition("-")
    server = SERVERS[server_name]()
    spot = server.spot(driver)
    return Place(name, server.backend, driver, spot.url, spot.options, foreign_to(server, spot.url), server)
