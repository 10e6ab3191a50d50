"""Sealing an original: when it may be, that it stands right behind what was copied, and that it is done once."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from journals import START, Journal
from questions import PROBED, dead, facts, started

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.timestamp import SECOND
from safepoint.reader import load_run
from safepoint.recorder.errors import IllegalRecord, StaleDecision
from safepoint.recorder.sealing import Seal, Sealing, seal_run
from safepoint.store import Store, open_store
from safepoint.store.layout import journal_key, recovery_key

COPY = "s3://agents/moved"
LATER = START + 10_000 * SECOND


def head_of(journal: Journal) -> tuple[int, str]:
    last = journal.values[-1]
    return last["sequence"], digest_stored(encode_record(last))


def stored(path: Path, journal: Journal) -> Store:
    journal.write(path)
    return open_store(str(path))


def seal(store: Store, after: tuple[int, str], *, now: int = LATER, **members: Any) -> Sealing:
    given = {"successor_uri": COPY, "successor_run_id": "run-1", "by": "ops", "nonce": lambda: "b" * 32}
    return seal_run(store, "run-1", clock=lambda: now, after=after, **{**given, **members})


def values(store: Store) -> list[dict[str, Any]]:
    run = load_run(store, "run-1").run
    assert run is not None
    return [dict(record.value) for record in run.records]


def test_a_run_whose_lease_has_lapsed_is_sealed_right_behind_what_was_copied(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    done = seal(store, after, reason="moved")
    claim, last = values(store)[-2:]
    assert (claim["sequence"], claim["purpose"], claim["holder"]) == (after[0] + 1, "resolution", "ops")
    assert last["successor"] == {"uri": COPY, "runId": "run-1", "sequence": after[0]}
    assert (last["status"], last["by"], last["reason"]) == ("sealed", "ops", "moved")
    run = load_run(store, "run-1").run
    assert run is not None
    assert done == Sealing(Seal.SEALED, (run.head.sequence, run.head.digest), after, written=done.written)
    assert run.status == "sealed"


@pytest.mark.parametrize(
    "journal",
    [
        started(),
        started().ledger(3, "attempting", declares=PROBED),
        started().add("run", 3, status="failed"),
        started().add("run", 3, status="cancelRequested"),
        started().ledger(3, "attempting").add("run", 4, status="completed"),
        started().add("lease", 3, event="released"),
        started().recover(3, "detected", trigger="operator").recover(4, "assessing"),
        started().claim(100, purpose="recovery", authorization=None).checkpoint(101, "cp-2"),
    ],
    ids=["running", "in doubt", "failed", "asked to stop", "open", "released", "deciding", "taken over"],
)
def test_a_seal_brings_no_finding_that_was_not_there(tmp_path: Path, journal: Journal) -> None:
    store = stored(tmp_path, journal)
    before = {(f.code, f.key, f.pointer) for f in safepoint.validate(str(tmp_path))}
    assert seal(store, head_of(journal)).status is Seal.SEALED
    assert {(f.code, f.key, f.pointer) for f in safepoint.validate(str(tmp_path))} <= before


def test_sealing_again_answers_the_same_and_writes_nothing(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    first = seal(store, after)
    count = len(values(store))
    again = seal(store, after, now=LATER + SECOND)
    assert (again.status, again.record, again.after) == (Seal.ALREADY_SEALED, first.record, after)
    assert len(values(store)) == count


def test_a_run_sealed_for_another_copy_says_which(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    seal(store, after)
    other = seal(store, after, successor_uri="s3://agents/elsewhere")
    assert other.status is Seal.SEALED_ELSEWHERE
    assert other.successor == {"uri": COPY, "runId": "run-1", "sequence": after[0]}


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    rehearsed = seal(store, after, dry_run=True)
    assert (rehearsed.status, rehearsed.record) == (Seal.SEALED, None)
    assert [record.kind for record in rehearsed.written] == ["lease", "run"]
    assert len(values(store)) == after[0]


def test_a_live_owner_keeps_its_authority_until_its_lease_lapses(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    early = seal(store, after, now=START + 30 * SECOND)
    assert early.status is Seal.LIVE
    assert early.until == START + (2 + 60 + 10) * SECOND
    assert [reason.code for reason in early.reasons] == ["SP721"]
    assert seal(store, after, now=START + 30 * SECOND, facts=facts(29, owners=[dead()])).status is Seal.SEALED


def test_a_recovery_that_is_deciding_is_waited_for(tmp_path: Path) -> None:
    journal = started().recover(190, "detected", trigger="operator")
    deciding = seal(stored(tmp_path, journal), head_of(journal), now=START + 200 * SECOND)
    assert (deciding.status, [reason.code for reason in deciding.reasons]) == (Seal.LIVE, ["SP722"])
    assert deciding.until is not None


def test_a_worker_that_no_lease_names_may_live_until_somebody_proves_its_death(tmp_path: Path) -> None:
    journal = Journal().add("run", 0, status="started", workflow="publish").checkpoint(1, epoch=1)
    store = stored(tmp_path, journal)
    unknown = seal(store, head_of(journal))
    assert (unknown.status, unknown.until) == (Seal.LIVE, None)
    proof = facts(29, owners=[dead()])
    assert seal(store, head_of(journal), facts=proof).status is Seal.SEALED


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_run_that_is_over_has_no_authority_to_give(tmp_path: Path, status: str) -> None:
    journal = started().add("run", 3, status=status)
    assert seal(stored(tmp_path, journal), head_of(journal)).status is Seal.ENDED


def test_records_without_numbers_and_lines_cannot_be_sealed(tmp_path: Path) -> None:
    journal = started()
    lines = b"".join(encode_record(value) + b"\n" for value in journal.values)
    (tmp_path / "runs/run-1").mkdir(parents=True)
    (tmp_path / "runs/run-1/journal.jsonl").write_bytes(lines)
    assert seal(open_store(str(tmp_path)), head_of(journal)).status is Seal.UNNUMBERED
    plain = {name: value for name, value in journal.values[0].items() if name not in JOURNAL_MEMBERS}
    (tmp_path / "runs/run-1/journal.jsonl").write_bytes(encode_record(plain) + b"\n")
    assert seal(open_store(str(tmp_path)), head_of(journal)).status is Seal.UNNUMBERED


JOURNAL_MEMBERS = {"sequence", "previousDigest", "nonce", "leaseEpoch"}


def test_a_damaged_journal_is_not_sealed(tmp_path: Path) -> None:
    journal = started()
    store = stored(tmp_path, journal)
    (tmp_path / journal_key("run-1", 2)).unlink()
    damaged = seal(store, head_of(journal))
    assert (damaged.status, [reason.code for reason in damaged.reasons]) == (Seal.REFUSED, ["SP301"])


@pytest.mark.parametrize("status", ["started", "completed"])
def test_a_run_that_went_on_since_it_was_copied_is_not_sealed(tmp_path: Path, status: str) -> None:
    journal = started()
    after = head_of(journal)
    journal.ledger(3, "attempting").ledger(4, "committed")
    if status == "completed":
        journal.add("run", 5, status="completed")
    store = stored(tmp_path, journal)
    with pytest.raises(StaleDecision, match=f"went on behind record {after[0]}"):
        seal(store, after)
    assert len(values(store)) == len(journal.values)


def test_another_record_at_the_copied_head_or_none_is_another_run(tmp_path: Path) -> None:
    store, (number, digest) = stored(tmp_path, started()), head_of(started())
    with pytest.raises(StaleDecision, match="is not the one that the copy ends with"):
        seal(store, (number, "sha256:" + "0" * 64))
    with pytest.raises(StaleDecision, match="before the record 9"):
        seal(store, (9, digest))


def test_whoever_appends_between_the_look_and_the_claim_makes_the_copy_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = started()
    store, after = stored(tmp_path, journal), head_of(journal)
    journal.claim(9_000, purpose="recovery")
    late = journal.values[-1]
    from safepoint.recorder import sealing

    def look(*args: Any, **options: Any) -> Any:
        seen = real(*args, **options)
        store.put_if_absent(journal_key("run-1", late["sequence"]), encode_record(late))
        return seen

    real = sealing.look
    monkeypatch.setattr(sealing, "look", look)
    with pytest.raises(StaleDecision):
        seal(store, after)
    assert values(store)[-1] == late


def test_a_claim_that_a_killed_sealing_left_is_taken_over_once_it_lapsed(tmp_path: Path) -> None:
    journal = started()
    after = head_of(journal)
    journal.claim(1000, purpose="resolution", holder="ops")
    store = stored(tmp_path, journal)
    soon = seal(store, after, now=START + 1010 * SECOND)
    assert (soon.status, soon.until) == (Seal.LIVE, START + 1070 * SECOND)
    done = seal(store, after)
    assert (done.status, done.after) == (Seal.SEALED, after)
    assert seal(store, after).record == done.record


@pytest.mark.parametrize(
    "more",
    [
        lambda journal: journal.claim(1000, purpose="resolution", holder="somebody else"),
        lambda journal: journal.claim(1000, purpose="recovery", holder="ops"),
        lambda journal: journal.claim(1000, purpose="resolution", holder="ops").add(
            "lease", 1001, event="released"
        ),
    ],
    ids=["another's", "another purpose", "something done under it"],
)
def test_any_other_claim_behind_the_copied_head_makes_the_copy_stale(tmp_path: Path, more: Any) -> None:
    journal = started()
    after = head_of(journal)
    with pytest.raises(StaleDecision, match="went on"):
        seal(stored(tmp_path, more(journal)), after)


def test_what_a_human_claimed_before_the_copy_was_made_is_part_of_it(tmp_path: Path) -> None:
    journal = started().claim(1000, purpose="resolution", holder="ops")
    store = stored(tmp_path, journal)
    assert seal(store, head_of(journal)).status is Seal.SEALED


def test_a_copy_whose_own_original_is_not_sealed_cannot_be_sealed(tmp_path: Path) -> None:
    from safepoint.moving.origin import Heads, origin_document

    store, after = stored(tmp_path, started()), head_of(started())
    heads = Heads()
    for value in started().values:
        heads.add(value["recordType"], value["sequence"], encode_record(value))
    origin = origin_document("run-1", source="/data/first", tool="test", before=heads, after=heads)
    store.put_if_absent("runs/run-1/origin.json", origin)
    copy = seal(store, after)
    assert (copy.status, [reason.code for reason in copy.reasons]) == (Seal.REFUSED, ["SP726"])


def test_the_run_itself_is_no_successor(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    for here in (str(tmp_path), f"file://{tmp_path}", f"{tmp_path}/runs/.."):
        with pytest.raises(ValueError, match="no copy of it"):
            seal(store, after, successor_uri=here)
    assert seal(store, after, successor_uri=str(tmp_path), successor_run_id="run-2").status is Seal.SEALED


def test_what_no_reader_would_accept_costs_no_epoch(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    with pytest.raises(IllegalRecord, match="SP227"):
        seal(store, after, successor_uri="s3://agents/a copy")
    with pytest.raises(ValueError, match="FILL IN"):
        seal(store, after, by="FILL IN: you")
    assert len(values(store)) == after[0]


def test_a_seal_for_another_copy_at_the_same_place_is_none_for_this_one(tmp_path: Path) -> None:
    store, after = stored(tmp_path, started()), head_of(started())
    first, second = ("sha256:" + digit * 64 for digit in "12")
    assert seal(store, after, successor_copy=first).status is Seal.SEALED
    assert values(store)[-1]["successor"]["copy"] == first
    assert seal(store, after, successor_copy=first, successor_uri="s3://moved").status is Seal.ALREADY_SEALED
    other = seal(store, after, successor_copy=second)
    assert (other.status, other.record) == (Seal.SEALED_ELSEWHERE, None)


def test_a_seal_behind_more_than_was_copied_is_not_believed(tmp_path: Path) -> None:
    journal = started()
    after = head_of(journal)
    journal.claim(100, purpose="recovery").checkpoint(101, "cp-9").claim(900, purpose="resolution")
    journal.add("run", 901, status="sealed", successor={"uri": COPY, "runId": "run-1", "sequence": after[0]})
    with pytest.raises(StaleDecision, match="went on"):
        seal(stored(tmp_path, journal), after)


def test_wherever_it_is_killed_the_next_call_seals_it_once_behind_the_same_record(world: ModuleType) -> None:
    journal, after = started(), head_of(started())
    crashes = 0
    for at in range(1, 200):
        memory = world.MemoryStore()
        for log, key_of in ((journal.values, journal_key), (journal.recovery, recovery_key)):
            for value in log:
                memory.put_if_absent(key_of("run-1", value["sequence"]), encode_record(value))

        def die() -> None:
            raise world.CrashError

        hook = world.Countdown(at, die)
        hooked = world.HookedStore(memory, hook)
        try:
            seal(hooked, after, nonce=lambda: "c" * 32)
        except world.CrashError:
            crashes += 1
        else:
            break
        done = seal(memory, after, now=LATER + 1000 * SECOND)
        assert done.status in {Seal.SEALED, Seal.ALREADY_SEALED}
        assert done.record is not None
        found = values(memory)
        assert [v["status"] for v in found if v["recordType"] == "run"] == ["started", "sealed"]
        run = load_run(memory, "run-1").run
        assert run is not None
        assert not run.faults
    assert crashes > 4
