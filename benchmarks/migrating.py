"""What migrating costs without its command, and what writing costs without migrating; a process each.

``python -m benchmarks.migrating memory STORE`` does what the floor does, and migrates each text to v3 besides; nothing
is written. ``… one-by-one STORE TARGET`` and ``… together STORE TARGET`` put every object of a store that was migrated
before into a new one, by the single put or by the put of many: the floor of writing as durably as a store does.
"""

from __future__ import annotations

import shutil
import sys
from itertools import groupby
from pathlib import Path

from benchmarks.floor import texts
from safepoint.core.version import V3
from safepoint.migrate import migrate_record
from safepoint.store import Outcome, open_store


def memory(store: str) -> str:
    """Migrate every text and keep nothing."""
    migrated = refused = 0
    for text in texts(store):
        if migrate_record(text, V3).data is None:
            refused += 1
        else:
            migrated += 1
    return f"{migrated} migrated, {refused} refused"


def put(source: str, target: str, *, together: bool) -> str:
    """Read every object and put it, a run's folder at a time."""
    there, here = open_store(source), open_store(target)
    won = 0
    for _, entries in groupby(there.list(), lambda entry: entry.key.rpartition("/")[0]):
        items = [(entry.key, there.get(entry.key)) for entry in entries]
        outcomes = here.put_many(items) if together else [here.put_if_absent(*item) for item in items]
        won += sum(outcome is Outcome.WON for outcome in outcomes)
    return f"{won} put"


def clear(folder: Path) -> None:
    """Remove what an earlier round has written, so that each begins with nothing."""
    if folder.exists():
        shutil.rmtree(folder)


def main(what: str, store: str, target: str = "") -> None:
    """The command."""
    said = memory(store) if what == "memory" else put(store, target, together=what == "together")
    sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
