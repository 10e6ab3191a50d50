"""The two documents that lie beside a copied run: what it was copied from, and that its original was sealed.

Decided here: the bytes of both (SPEC.md#copies). They hold nothing from a clock and nothing random, so that a copy that
was interrupted and is begun again writes the same once more. Not decided here: when they are written (the rest of this
room), and what they mean to a reader (``model.origin``) and to the guard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.version import CURRENT
from safepoint.model.origin import digest_together

MOST_LISTED = 100_000
"""Digests of records without sequence that one origin lists; more of them would not fit into a text that is read."""

_LOGS = ("journal", "recovery")
RECORDS = frozenset({"run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery"})
"""Kinds of records that a run has in its logs."""


@dataclass(slots=True)
class Heads:
    """The heads of one run, gathered while its records go by, in whatever order and however often each is met."""

    logs: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By log, the newest record: its sequence and the digest of its stored bytes."""
    records: set[str] = field(default_factory=set)
    """Digests of records without a sequence."""
    unread: int = 0
    """Texts of the run that are no readable records, and are copied as they are."""

    def add(self, kind: str, sequence: int | None, data: bytes, *, digest: str | None = None) -> None:
        """One record, as it is stored.

        Args:
            kind: what `recognise` calls it: ``run``, ``checkpoint``, ``ledger``, …; kinds that have no place in a log
                (heartbeats, documents) are passed over.
            sequence: its own ``sequence`` as these bytes say it; None: they say none.
            data: the object's bytes, or those of its line without the line feed.
            digest: of `data`, where it is at hand (`digest_stored`); else it is made here.
        """
        if kind not in RECORDS:
            return
        found = digest or digest_stored(data)
        if sequence is None:
            self.records.add(found)
            return
        log = "recovery" if kind == "recovery" else "journal"
        known = self.logs.get(log)
        # of one number used twice the same one is always named, in whatever order they come
        if known is None or sequence > known[0] or (sequence == known[0] and found < known[1]):
            self.logs[log] = sequence, found

    def add_unread(self) -> None:
        """One text that is there, and is no readable record."""
        self.unread += 1

    @property
    def journal(self) -> tuple[int, str] | None:
        """The journal's head: sequence and digest; None: no record of it has a number."""
        return self.logs.get("journal")

    def member(self, *, listed: bool) -> dict[str, Any]:
        """The heads as a document says them.

        Args:
            listed: name each record without a sequence, and not only how many there are and one digest for all of them.
        """
        found: dict[str, Any] = {
            log: {"sequence": head[0], "digest": head[1]} for log in _LOGS if (head := self.logs.get(log))
        }
        if listed and 0 < len(self.records) <= MOST_LISTED:
            found["records"] = sorted(self.records)
        elif self.records:
            found["counted"] = {"count": len(self.records), "digest": digest_together(self.records)}
        if self.unread:
            found["unread"] = self.unread
        return found


def origin_document(run_id: str, *, source: str, tool: str, before: Heads, after: Heads) -> bytes:
    """The bytes of ``runs/RUN/origin.json``: the first object of a copied run that is written.

    Args:
        run_id: the run.
        source: URL of the store that it is copied from, as `store.copying.absolute` spells it; without credentials.
        tool: what copies it, such as ``safepoint 0.6.0``.
        before: the run's heads in the source.
        after: its heads in the whole copy.

    Raises:
        ValueError: a text is none that a record can hold.
    """
    return encode_record(
        {
            "recordType": "origin",
            "schemaVersion": str(CURRENT),
            "runId": run_id,
            "source": source,
            "tool": tool,
            "from": before.member(listed=False),
            "heads": after.member(listed=True),
        }
    )


def seal_document(run_id: str, *, source: str, sealed: tuple[int, str], after: tuple[int, str]) -> bytes:
    """The bytes of ``runs/RUN/seal.json``, written once the original is sealed.

    Args:
        run_id: the run.
        source: as in its origin.
        sealed: sequence and digest of the record that sealed the original.
        after: the head of the original that the copy was made from: `journal` of the `before` that its origin names.

    Raises:
        ValueError: a text is none that a record can hold.
    """
    return encode_record(
        {
            "recordType": "seal",
            "schemaVersion": str(CURRENT),
            "runId": run_id,
            "source": source,
            "sequence": sealed[0],
            "digest": sealed[1],
            "after": {"sequence": after[0], "digest": after[1]},
        }
    )
