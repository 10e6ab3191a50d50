"""Which runs of a store need another one: children that are not closed, and whatever may be such a child.

Decided here: that a run which does not show how it began may be anybody's child. Not decided here: what a closed run is
(``ended``), and which runs are to go (``prune``).
"""

from __future__ import annotations

from collections import defaultdict

from safepoint import rules
from safepoint.core.ident import decode_segment
from safepoint.model.run import Run
from safepoint.reader import Scan
from safepoint.reader.scan import scan_loose
from safepoint.store import Store
from safepoint.store.layout import parse_key, run_prefix
from safepoint.upkeep.ended import why_open, why_unsound
from safepoint.upkeep.runs import load


class Children:
    """What the runs of a store say of their parents. Each is read once, and only this is kept of it."""

    def __init__(self, store: Store, now: int) -> None:
        """Nothing is read yet.

        Args:
            store: where the runs are.
            now: nanoseconds since the Unix epoch.
        """
        self._store, self._now = store, now
        self._seen: set[str] = set()
        """Runs whose folders were looked into."""
        self._open: defaultdict[str, list[str]] = defaultdict(list)
        """Of each parent the children that are not closed."""
        self._doubts: list[tuple[str | None, str]] = []
        """What may be a child of any run, each with the run that it is, where that is known."""

    def add(self, found: Scan) -> None:
        """Take in one run, or what belongs to none."""
        run = found.run
        if found.in_store and found.run_id is not None:
            self._seen.add(found.run_id)
        if run is None:
            self._add_nameless(found)
        elif run.deleted is None:
            self._add_run(found, run)

    def _add_run(self, found: Scan, run: Run) -> None:
        told = [record.value for record in run.records if record.kind == "run"]
        if not any(value["status"] == "started" for value in told):
            why = f"{run.unread[0].name} cannot be read" if run.unread else "its beginning is not there"
            self._doubts.append((run.run_id, f"run {run.run_id} may be a child of it: {why}"))
        named = dict.fromkeys(str(value["parentRunId"]) for value in told if value.get("parentRunId"))
        if named and (why_unsound(found) or why_open(run, self._now)):
            for parent in named:
                self._open[parent].append(run.run_id)

    def _add_nameless(self, found: Scan) -> None:
        grave = next((fault for fault in found.faults if rules.severity(fault.code) == "error"), None)
        if grave is not None:
            key = grave.place.key if grave.place else "a text"
            self._doubts.append(
                (found.run_id, f"{key} may hold a child of it: it cannot be read ({grave.code})")
            )
        elif found.in_store and found.run_id is not None:
            entries = self._store.list(run_prefix(found.run_id))
            if any(parse_key(entry.key) is not None for entry in entries):
                why = f"run {found.run_id} may be a child of it: none of its records is there"
                self._doubts.append((found.run_id, why))

    def look_at_the_rest(self) -> None:
        """Read all of the store that was not added yet, also what lies in no run's folder.

        Raises:
            StoreError: not all of it could be read.
        """
        for segment in self._store.folders("runs"):
            try:
                run_id = decode_segment(segment)
            except ValueError:
                self._doubts.append((None, f"runs/{segment} may hold a child of it: it is named like no run"))
                continue
            if run_id not in self._seen:
                self.add(load(self._store, run_id))
        for found in scan_loose(self._store, self._store.files()):
            self.add(found)

    def why_needed(self, run_id: str) -> str:
        """Why a run must stay for the sake of others; empty where it need not."""
        if children := self._open.get(run_id):
            return f"its child {', '.join(children)} is not closed, and names it as its parent"
        doubts = [doubt for whose, doubt in self._doubts if whose != run_id]
        if not doubts:
            return ""
        return doubts[0] + (f"; and {len(doubts) - 1} more" if len(doubts) > 1 else "")
