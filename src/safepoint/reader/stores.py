"""One store and its runs, for whoever names a store and not merely something to check.

Decided here: that a folder of stores is no store, and what is said of a run that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from safepoint.core.ident import encode_segment
from safepoint.reader.grouping import Scan
from safepoint.reader.scan import load_run, scan
from safepoint.store import AbsentError, Store
from safepoint.store.inputs import Input
from safepoint.store.layout import run_ids, stores_below


class SeveralStoresError(LookupError):
    """A folder of stores where one store is wanted: their runs may bear the same ids, and would melt into one."""

    def __init__(self, url: str, stores: Iterable[str]) -> None:
        self.url = url
        self.stores = tuple(stores)
        """The stores in it, each as the caller may name it."""
        super().__init__(
            f"{url} is no store, it holds at least {len(self.stores)}: {', '.join(self.stores)}; name one of them"
        )


class UnknownRunError(LookupError):
    """The store can be read, and holds no readable record of the run."""

    def __init__(self, store: str, run_id: str, near: Iterable[str] = ()) -> None:
        self.near = tuple(near)
        """Run ids of the store that look like it, the nearest first."""
        hint = f"; did you mean {' or '.join(map(repr, self.near))}?" if self.near else ""
        super().__init__(f"{store}: no record of run {run_id!r}{hint}")


def load(store: Store, run_id: str) -> Scan:
    """The run `run_id` of `store`, read and folded: the scan's ``run`` is never None.

    Raises:
        UnknownRunError: nothing of it is there.
        SeveralStoresError: `store` is a folder of stores.
        StoreError: the store cannot be read.
    """
    from difflib import get_close_matches

    require_one(store)
    try:
        encode_segment(run_id)
    except ValueError as error:
        raise UnknownRunError(store.url, run_id) from error
    try:
        found = load_run(store, run_id)
    except AbsentError as error:
        names = list(run_ids(store))
        if not names:
            names = [s.run_id for s in scan_store(store) if s.run_id is not None]
        near = get_close_matches(run_id, names, n=3, cutoff=0.4)
        raise UnknownRunError(store.url, run_id, near) from error
    if found.run is None:
        raise UnknownRunError(store.url, run_id)
    return found


def scan_store(store: Store) -> Iterator[Scan]:
    """Every run of `store`, in whatever layout it lies.

    Raises:
        SeveralStoresError: `store` is a folder of stores.
        StoreError: the store cannot be read.
    """
    require_one(store)
    return scan(Input(store, None, named=False))


def require_one(store: Store) -> None:
    """Refuse a folder of stores.

    Raises:
        SeveralStoresError: it is one.
        StoreError: it cannot be listed.
    """
    if below := stores_below(store):
        raise SeveralStoresError(store.url, map(store.url_of, below))
