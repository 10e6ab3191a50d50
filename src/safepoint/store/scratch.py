"""A folder in a store for trials: no reader takes what lies in it for records, and it is gone afterwards.

Decided here: its name, which begins with ``.tmp-`` so that every reader passes over it with all that is in it
(SPEC.md#promises), and how it is removed whatever became of the trial.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Any

from safepoint.store.base import TEMPORARY, Outcome, Store
from safepoint.store.errors import AbsentError, StoreError
from safepoint.store.opening import local_path, open_store


class Scratch:
    """The folder, not yet made; it is a store of its own in the one at `url`."""

    def __init__(self, outer: Store, url: str, options: Mapping[str, Any]) -> None:
        self._outer = outer
        self._folder = f"{TEMPORARY}doctor-{secrets.token_hex(8)}"
        self.place = f"{url if url.endswith('/') else url + '/'}{self._folder}"
        """As other processes open it; may hold secrets."""
        self._options = options
        self._made: dict[str, None] = {}

    @property
    def url(self) -> str:
        """Where it is, to be shown."""
        return self._outer.url_of(self._folder)

    @cached_property
    def store(self) -> Store:
        """The folder as a store."""
        return open_store(self.place, **self._options)

    def announce(self, keys: Iterable[str]) -> None:
        """Remembers that objects of these names may be made by anybody who takes part."""
        self._made |= dict.fromkeys(keys)

    def put(self, key: str, data: bytes) -> Outcome:
        """As `Store.put_if_absent`."""
        known = key in self._made
        self.announce([key])
        try:
            return self.store.put_if_absent(key, data)
        except StoreError:
            if not known:
                del self._made[key]  # it says that nothing was written
            raise

    def look(self, key: str) -> bytes | StoreError | None:
        """The object that is there now, why that cannot be told, or None for nothing."""
        try:
            return self.store.get(key)
        except AbsentError:
            return None
        except StoreError as error:
            return error

    def delete(self, key: str) -> None:
        """As `Store.delete`."""
        self._outer.delete(f"{self._folder}/{key}")

    def remove(self) -> tuple[str, ...]:
        """Removes all of it.

        Returns:
            The URLs of what may still be there.
        """
        path = local_path(self.place)
        if path is not None:
            return self._remove_folder(path)
        if not self._made:
            return ()
        keys = dict.fromkeys(f"{self._folder}/{key}" for key in self._made)
        with suppress(StoreError):
            keys |= dict.fromkeys(entry.key for entry in self._outer.list(self._folder))
        with ThreadPoolExecutor(8) as pool:
            return tuple(filter(None, pool.map(self._remove_one, keys)))

    def _remove_one(self, key: str) -> str:
        try:
            self._outer.delete(key)
        except StoreError:
            return self._outer.url_of(key)
        return ""

    def _remove_folder(self, path: str) -> tuple[str, ...]:
        # also with the temporary files of a writer that was killed, which no listing shows
        import shutil

        shutil.rmtree(path, ignore_errors=True)
        return (self.url,) if os.path.lexists(path) else ()
