"""A copy whose original is not sealed: no question gets leave in it that it would not get with the seal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from copied import heads_of, origin, seal
from journals import START, Journal
from questions import PAY, dead, facts, request, started

from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.fault import Place
from safepoint.core.kind import recognise
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.core.version import V3
from safepoint.guard import Decision, evaluate
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.store import open_store

ROOT = Path(__file__).parents[2] / "fixtures" / "guard"
CASES = sorted(folder.name for folder in ROOT.iterdir() if not folder.name.startswith("copy-"))
LEAVE = {"resume", "compensate"}


def document(objects: dict[str, bytes]) -> Record:
    [(key, data)] = objects.items()
    value = json.loads(data)
    identity, faults = recognise(value)
    assert identity is not None
    assert not faults
    return Record(identity.kind, V3, value, Place(f"store/{key}", key), digest_stored(data))


def as_copy(run: Run, *, sealed: bool) -> Run:
    """The run as a whole copy of what it is."""
    journal = Journal()
    journal.values, journal.recovery = (
        [dict(r.value) for r in run.records],
        [dict(r.value) for r in run.recovery],
    )
    heads = heads_of(journal)
    made = document(origin(journal))
    # the stored bytes decide, which a test's own encoding may not repeat
    numbered = [r for r in run.records if r.sequence is not None]
    value = dict(made.value)
    for where in ("from", "heads"):
        if numbered:
            value[where] = {"journal": {"sequence": numbered[-1].sequence, "digest": numbered[-1].digest}}
        else:
            value[where] = {}
    made = Record("origin", V3, value, made.place, made.digest)
    said = None
    if sealed and heads.journal is not None and numbered:
        said = document(seal(journal))
        said = Record("seal", V3, {**said.value, "after": value["from"]["journal"]}, said.place, said.digest)
    return fold(
        run.run_id,
        run.records,
        recovery=run.recovery,
        unread=run.unread,
        claimable=run.claimable,
        origin=made,
        seal=said,
    )


def decide(case: Path, run: Run) -> Decision:
    expect = json.loads((case / "expect.json").read_bytes())
    given: dict[str, Any] = {
        name: json.loads((case / expect[name]).read_bytes()) if name in expect else None
        for name in ("facts", "policy", "request")
    }
    store = open_store(str(case / expect["store"]))
    return evaluate(
        run,
        given["facts"],
        parse_policy(given["policy"], workflow=run.workflow),
        given["request"],
        parse_time(expect["now"]),
        artifacts=gather_artifacts(store, run),
        claims=expect.get("claims", "enforced"),
    )


@pytest.mark.parametrize("name", CASES)
def test_a_copy_gets_no_leave_without_its_seal_that_it_would_not_get_with_it(name: str) -> None:
    run = load_run(open_store(str(ROOT / name / "store")), "run-1").run
    assert run is not None
    if run.deleted is not None:
        return
    plain, sealed = decide(ROOT / name, run), decide(ROOT / name, as_copy(run, sealed=True))
    bare = decide(ROOT / name, as_copy(run, sealed=False))
    assert not any(text.startswith("original: ") for text in (*plain.not_checked, *sealed.not_checked))
    if bare.verdict in LEAVE:
        assert sealed.verdict == plain.verdict == bare.verdict
        # then somebody proved the owner dead, or nobody can claim the copy at all
        assert run.head.sequence is None or any(
            owner["state"] == "dead"
            for owner in json.loads((ROOT / name / "facts.json").read_bytes())["owners"]
        )
    if sealed.verdict in LEAVE:
        assert plain.verdict in LEAVE


def asked(run: Run, now: float = 200, known: Any = None, wish: Any = None) -> Decision:
    return evaluate(run, known, parse_policy({}, workflow="publish"), wish, START + int(now * SECOND))


def test_a_lapsed_lease_is_no_proof_but_a_death_is() -> None:
    copy = as_copy(started().fold(), sealed=False)
    assert asked(copy).verdict == "reconcile"
    assert asked(copy, known=facts(190, owners=[dead()])).verdict == "resume"
    assert asked(copy, known=facts(190, owners=[dead(state="alive")])).verdict == "reconcile"
    assert asked(copy, known=facts(190, owners=[dead(seen=1)])).verdict == "reconcile", "it wrote after that"


def test_what_goes_on_by_a_death_alone_says_so() -> None:
    known = facts(190, owners=[dead()])
    resting = "original: that nobody goes on with it in s3://agents/safepoint rests on the facts alone"
    copy = asked(as_copy(started().fold(), sealed=False), known=known)
    assert [text.partition(", ")[0] for text in copy.not_checked if "original" in text] == [resting]
    assert "(safepoint migrate SOURCE --output COPY --seal --by WHO)" in "".join(copy.not_checked)
    claimed = started().claim(100, purpose="recovery")
    since = fold("run-1", claimed.fold().records, claimable=True, origin=document(origin(started())))
    for settled in (asked(as_copy(started().fold(), sealed=True), known=known), asked(since, 400)):
        assert settled.verdict == "resume"
        assert "original" not in "".join(settled.not_checked)
    looking = asked(as_copy(started().fold(), sealed=False), known=known, wish=request("inspect"))
    assert "original" not in "".join(looking.not_checked)


def test_a_death_that_is_asked_for_already_is_not_asked_for_twice() -> None:
    live = asked(as_copy(started().fold(), sealed=False), 20)
    assert [need.message.count("dead") for need in live.missing_evidence if need.kind == "owner"] == [1, 0]


def test_what_is_missing_says_both_ways_out() -> None:
    decision = asked(as_copy(started().fold(), sealed=False))
    assert [(need.kind, need.subject) for need in decision.missing_evidence] == [
        ("human", "the original"),
        ("owner", "epoch 1"),
    ]
    [reason] = decision.reasons
    assert (reason.code, reason.key, reason.pointer) == ("SP726", "runs/run-1/origin.json", "/source")
    assert "s3://agents/safepoint" in reason.message


def test_nothing_is_undone_in_a_copy_that_has_no_authority() -> None:
    paid = started().ledger(3, "attempting", declares=PAY).ledger(4, "committed").fold()
    assert asked(as_copy(paid, sealed=True), wish=request("unwind")).verdict == "compensate"
    assert asked(as_copy(paid, sealed=False), wish=request("unwind")).verdict == "reconcile"


def test_lines_of_a_copy_ask_for_the_seal_as_well() -> None:
    journal = started()
    records = journal.fold().records
    run = fold("run-1", records, claimable=False, origin=document(origin(journal)))
    assert {reason.code for reason in asked(run).reasons} == {"SP707", "SP726"}


def test_the_origin_is_of_the_very_bytes() -> None:
    journal = started()
    assert heads_of(journal).journal == (3, digest_stored(encode_record(journal.values[-1])))
