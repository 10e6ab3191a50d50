"""A whole store to another place, in another version: nothing is overwritten, and an interruption does no harm.

Decided here: what a program says to migrate one. Not decided here: how that is done (``migration``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from safepoint.core.version import Version
from safepoint.migrate import Migrator
from safepoint.store import Store, open_store

if TYPE_CHECKING:
    from safepoint.moving.migration import Report
    from safepoint.payloads.migrations import PayloadChange


def migrate_store(
    source: str | os.PathLike[str] | Store,
    target: str | os.PathLike[str] | Store,
    to: str | None = "v3",
    *,
    payloads: PayloadChange | None = None,
    allow_loss: bool = False,
    keep_going: bool = False,
    sealed_by: str | None = None,
    dry_run: bool = False,
    jobs: int = 1,
    storage_options: Mapping[str, Any] | None = None,
) -> Report:
    """A copy of a store in another version of the format, or with other payloads; what was begun goes on.

    Args:
        source: path, fsspec URL, or an open store; never changed but by `sealed_by`.
        target: the same: an empty place, or a part of this very migration.
        to: ``v1``, ``v2`` or ``v3``; None: each record keeps its version.
        payloads: what `PayloadMigrations.toward` returned; None: payloads are carried as they are.
        allow_loss: leave out what the version cannot hold.
        keep_going: copy what cannot be migrated as it is.
        sealed_by: who ends the authority of each original, once the copy is whole; None: nobody, and the guard lets no
            copy go on without proof that its old owner is dead.
        dry_run: only say what would be done.
        jobs: processes that share the runs, where both places are on a local disk.
        storage_options: handed to fsspec for both places.

    Returns:
        What became of it: ``outcome`` is ``done``, ``nothingToDo``, ``refused`` or ``planned``, ``tally`` has counts
        and faults, ``digest`` stands for the whole copy, ``seals`` say what became of each original.

    Raises:
        ValueError: `to` is no version, or originals are to be sealed whose copies lose their journals.
        ConflictError: another process is at work on it, or something was in the way when it was to be written.
        RecorderError: no progress can be recorded there.
        StoreError: one of the two cannot be read, or the target cannot be written to safely.
    """
    from safepoint.moving import migration

    version = None if to is None else Version.parse(to)
    if to is not None and version is None:
        raise ValueError(f"got {to!r}, expected a format version such as v3")
    options = dict(storage_options or {})
    stores = [s if isinstance(s, Store) else open_store(os.fspath(s), **options) for s in (source, target)]
    migrator = Migrator(version, allow_loss=allow_loss, payloads=payloads, keep_going=keep_going)
    if dry_run:
        return migration.plan_store(stores[0], migrator, stores[1], jobs=jobs)
    return migration.migrate_store(stores[0], stores[1], migrator, sealed_by=sealed_by, jobs=jobs)
