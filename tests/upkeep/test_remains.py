"""What lies beside ``deleted.json`` is removed only if it is what that document speaks of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from closed import LATER, filled, finished, objects, said
from crashing import KilledError, Watched, objects_of
from journals import Journal, digest

from safepoint.core.digest import encode_record
from safepoint.store import Store, UnreachableError
from safepoint.store.layout import deleted_key, journal_key, recovery_key
from safepoint.upkeep.pack import pack
from safepoint.upkeep.prune import prune
from safepoint.upkeep.runs import Change

MARKER = deleted_key("run-1")


def pruned(store: Store) -> Change:
    [change] = prune(store, closed_before=LATER, now=LATER, by="ann")
    return change


def marked(store: Store) -> Store:
    """The store once ``deleted.json`` is in it, and nothing else is done."""

    def die(what: str, key: str) -> None:
        if (what, key) == ("after put", MARKER):
            raise KilledError

    with pytest.raises(KilledError):
        pruned(Watched(store, die))
    return store


def later_line() -> bytes:
    """Evidence behind the end of the run, as one line."""
    return encode_record(finished().add("evidence", 500, actionId="send").values[-1]) + b"\n"


def another(number: int, **members: Any) -> bytes:
    """Another record under the number of one that was there."""
    return encode_record({**finished().values[number - 1], **members})


def unnumbered() -> bytes:
    """A checkpoint of the run, as if nobody had numbered it."""
    left_out = {"sequence", "previousDigest", "nonce", "leaseEpoch"}
    checkpoint = next(value for value in finished().values if value["recordType"] == "checkpoint")
    return encode_record({name: member for name, member in checkpoint.items() if name not in left_out})


BESIDE: dict[str, tuple[Callable[[], dict[str, bytes]], str]] = {
    "a later line": (lambda: {"runs/run-1/late.jsonl": later_line()}, "late.jsonl "),
    "a later record in a loose file": (lambda: {"runs/run-1/late.json": later_line()}, "late.json "),
    "another record of a number": (
        lambda: {"runs/run-1/other.json": another(7, reason="another")},
        "runs/run-1/other.json holds another record 7 of the journal than deleted.json speaks of",
    ),
    "a record without a number": (
        lambda: {"runs/run-1/weak.json": unnumbered()},
        "runs/run-1/weak.json holds a record without a number",
    ),
    "what cannot be read": (
        lambda: {"runs/run-1/torn.json": b"{"},
        "runs/run-1/torn.json holds what cannot be read as a record (SP103)",
    ),
}


@pytest.mark.parametrize("what", BESIDE)
def test_what_is_not_of_the_deleted_run_is_kept_and_named(what: str, tmp_path: Path) -> None:
    make, named = BESIDE[what]
    store = marked(filled("memory", tmp_path, objects(finished())))
    for key, data in make().items():
        store.put_if_absent(key, data)
    before = objects_of(store)
    change = pruned(store)
    assert change.outcome == "left"
    assert named in change.message
    assert change.message.endswith("; nothing of it is removed")
    assert objects_of(store) == before


def test_a_line_that_was_appended_to_a_packed_run_is_kept(tmp_path: Path) -> None:
    store = filled("local", tmp_path, objects(finished()))
    list(pack(store, now=LATER))
    marked(store)
    with (next(tmp_path.iterdir()) / "runs/run-1/journal.jsonl").open("ab") as file:
        file.write(encode_record(record_behind_the_end()) + b"\n")
    before = objects_of(store)
    change = pruned(store)
    assert change.message == (
        "runs/run-1/journal.jsonl holds record 8 of the journal, which was written after it was marked as deleted; "
        "nothing of it is removed"
    )
    assert objects_of(store) == before


def record_behind_the_end() -> dict[str, Any]:
    return finished().add("retract", 500, targets=["cp-1"], reason="x", by="ann").values[-1]


def test_a_live_run_beside_the_word_about_another_life_of_its_id_is_kept(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished(), artifacts=False))
    pruned(store)
    marker = said(store.get(MARKER))
    marker["heads"] = {
        "journal": {"sequence": 12, "digest": digest("0")},
        "recovery": {"sequence": 0, "digest": None},
    }
    live = Journal().begin().checkpoint(2).ledger(3, "attempting")
    content = {**objects(live), MARKER: encode_record(marker)}
    other = filled("memory", tmp_path, content)
    change = pruned(other)
    assert change.outcome == "left"
    assert change.message == (
        "runs/run-1/journal/0000000001.json may be of another run than deleted.json speaks of: record 12 of the "
        "journal, which would go later, is not there; nothing of it is removed"
    )
    assert objects_of(other) == content


@pytest.mark.parametrize("gone", [{7}, {4}, {1, 2, 7}])
def test_a_gap_or_a_missing_head_is_no_unfinished_deletion(gone: set[int], tmp_path: Path) -> None:
    store = marked(filled("memory", tmp_path, objects(finished())))
    for number in gone:
        store.delete(journal_key("run-1", number))
    before = objects_of(store)
    assert pruned(store).outcome == "left"
    assert objects_of(store) == before


@pytest.mark.parametrize("first", range(1, 9))
def test_what_an_interrupted_deletion_left_of_the_journal_is_removed(first: int, tmp_path: Path) -> None:
    store = marked(filled("memory", tmp_path, objects(finished())))
    for number in range(1, first):
        store.delete(journal_key("run-1", number))
    assert pruned(store).outcome == "done"
    assert objects_of(store).keys() == {MARKER}


def test_a_mirror_that_holds_the_beginning_goes_first(tmp_path: Path) -> None:
    content = objects(finished())
    content["runs/run-1/journal.jsonl"] = b"".join(
        encode_record(value) + b"\n" for value in finished().values[:3]
    )
    gone: list[str] = []
    store = marked(filled("memory", tmp_path, content))
    pruned(Watched(store, lambda what, key: gone.append(key) if what == "before delete" else None))
    assert gone[:2] == ["runs/run-1/journal.jsonl", journal_key("run-1", 1)]
    assert objects_of(store).keys() == {MARKER}


def test_a_record_of_a_recovery_log_that_was_empty_is_kept(tmp_path: Path) -> None:
    journal = Journal().begin().add("run", 3, status="completed")
    store = marked(filled("memory", tmp_path, objects(journal, artifacts=False)))
    store.put_if_absent("runs/run-1/found.json", encode_record(finished().recovery[0]))
    assert "holds record 1 of the recovery, which was written after" in pruned(store).message
    assert recovery_key("run-1", 1) not in objects_of(store)


def test_what_is_not_answered_for_is_not_removed(tmp_path: Path) -> None:
    inner = marked(filled("memory", tmp_path, objects(finished())))
    before = objects_of(inner)

    def silent(what: str, key: str) -> None:
        if (what, key) == ("before get", journal_key("run-1", 5)):
            raise UnreachableError(inner.url, "no answer", key)

    with pytest.raises(UnreachableError):
        pruned(Watched(inner, silent))
    assert objects_of(inner) == before
