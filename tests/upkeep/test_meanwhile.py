"""Two who do something to one run at once, at every moment of the first: nothing is lost, nor made unsound."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from closed import LATER, filled, finished, objects
from crashing import Watched, moments_of, objects_of

from safepoint import api
from safepoint.core.digest import encode_record
from safepoint.recorder import PutAway, RecorderError
from safepoint.recorder.approvals import open_unowned
from safepoint.store import Store, StoreError
from safepoint.store.layout import deleted_key, journal_key
from safepoint.upkeep.pack import pack, unpack
from safepoint.upkeep.prune import prune
from safepoint.upkeep.retract import NotRetractedError, retract

Work = Callable[[Store], object]


def packed(store: Store) -> None:
    list(pack(store, now=LATER))


def unpacked(store: Store) -> None:
    list(unpack(store, ["run-1"], now=LATER))


def deleted(store: Store) -> None:
    list(prune(store, closed_before=LATER, now=LATER, by="ann"))


def retracted(store: Store) -> None:
    retract(store, "run-1", checkpoints=["cp-1"], by="ann", reason="erasure", clock=lambda: LATER)


PAIRS: list[tuple[Work, Work, int]] = [
    (retracted, packed, 1),
    (retracted, deleted, 1),
    (packed, retracted, 4),
    (deleted, retracted, 6),
    (packed, deleted, 4),
    (deleted, packed, 6),
    (packed, unpacked, 4),
]
"""Who is overtaken, who overtakes, and of the moments every so-manieth."""


@pytest.mark.parametrize(
    ("slow", "fast", "every"), PAIRS, ids=[f"{a.__name__}-while-{b.__name__}" for a, b, _ in PAIRS]
)
def test_nothing_is_lost_whenever_one_overtakes_the_other(
    slow: Work, fast: Work, every: int, tmp_path: Path
) -> None:
    content = objects(finished(), artifacts=False)
    records = {encode_record(value) for value in (*finished().values, *finished().recovery)}
    for moment in range(1, moments_of(filled("memory", tmp_path, content), slow) + 1, every):
        store = filled("memory", tmp_path, content)
        seen = iter(range(1, 1000))

        def meanwhile(what: str, key: str, at: int = moment, store: Store = store, seen: Any = seen) -> None:
            if next(seen) == at:
                with suppress(RecorderError, StoreError, NotRetractedError):
                    fast(store)

        told = "done"
        try:
            slow(Watched(store, meanwhile))
        except (RecorderError, StoreError, NotRetractedError) as error:
            told = type(error).__name__
        found = [finding for scan in api.scan_store(store) for finding in api.findings_of(scan)]
        assert not [f.code for f in found if f.severity == "error"], (moment, told)
        left = objects_of(store)
        if deleted_key("run-1") not in left:
            assert records <= {line for data in left.values() for line in data.split(b"\n")}, (moment, told)
        if slow is retracted and told == "done":
            assert b'"retract"' in b"".join(left.values()) or deleted_key("run-1") in left, moment


def test_whoever_is_overtaken_while_it_reads_upwards_writes_nothing(tmp_path: Path) -> None:
    for overtake, left in ((packed, "runs/run-1/journal.jsonl"), (deleted, deleted_key("run-1"))):
        inner = filled("memory", tmp_path, objects(finished()))
        asked: list[str] = []

        def meanwhile(
            what: str, key: str, asked: list[str] = asked, inner: Store = inner, overtake: Work = overtake
        ) -> None:
            if (what, key) == ("before get", journal_key("run-1", 4)) and not asked:
                asked.append(key)
                overtake(inner)

        journal = None
        with pytest.raises(PutAway, match="nothing was written"):
            journal = open_unowned(Watched(inner, meanwhile), "run-1", lambda: LATER)
        assert journal is None
        assert left in objects_of(inner)
        assert journal_key("run-1", 4) not in objects_of(inner)


def test_late_evidence_that_meets_a_deletion_is_never_called_recorded(tmp_path: Path) -> None:
    evidence = {
        "recordType": "evidence",
        "actionId": "send",
        "attemptNumber": 1,
        "kind": "human",
        "observedAt": "2026-05-07T10:00:05Z",
        "result": "applied",
        "ref": "bank-77",
        "by": "ann",
    }

    def work(store: Store) -> None:
        open_unowned(store, "run-1", lambda: LATER).append_unowned(evidence)

    told: set[int] = set()
    content = objects(finished(), artifacts=False)
    for moment in range(1, moments_of(filled("memory", tmp_path, content), work) + 1):
        inner = filled("memory", tmp_path, content)
        seen = iter(range(1, 1000))

        def meanwhile(what: str, key: str, at: int = moment, inner: Store = inner, seen: Any = seen) -> None:
            if next(seen) == at:
                deleted(inner)

        with suppress(RecorderError):
            work(Watched(inner, meanwhile))
            told.add(moment)
        there = {key for key, data in objects_of(inner).items() if b"bank-77" in data}
        # either it is there, or whoever deleted the run knew of it
        assert moment not in told or there or b'"sequence":8' in inner.get(deleted_key("run-1")), moment
        deleted(inner)
        assert there <= objects_of(inner).keys(), moment
    assert told
