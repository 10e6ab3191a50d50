"""What is found when somebody tampers with a store: carelessly, and with every public digest made anew.

Each attack is done to stores that the recorder wrote, as objects and as JSON Lines, by somebody who only changes what
he wants to change, and by somebody who then numbers and chains all records again. The table says what must come out:
what the store shows by itself, and what it shows beside an anchor that was kept elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded import anchor, record_run, work

import safepoint
from safepoint.core.digest import digest_stored, encode_record

Records = list[dict[str, Any]]
Runs = dict[str, Records]

OBJECTS, LINES, LOOSE = "objects", "lines", "loose lines"
CARELESS, CAREFUL = "careless", "careful"


def read(store: Path) -> Runs:
    """The journals of a store of objects."""
    found: Runs = {}
    for folder in sorted((store / "runs").iterdir()):
        files = sorted((folder / "journal").glob("*.json"))
        found[folder.name] = [json.loads(file.read_bytes()) for file in files]
    return found


def write(store: Path, runs: Runs, layout: str) -> None:
    """The same journals in another layout, and nothing else of them."""
    shutil.rmtree(store / "runs", ignore_errors=True)
    (store / "all.jsonl").unlink(missing_ok=True)
    texts = {run_id: [encode_record(record) for record in records] for run_id, records in runs.items()}
    for run_id, lines in texts.items():
        folder = store / "runs" / run_id
        if layout == OBJECTS:
            (folder / "journal").mkdir(parents=True)
            for number, line in zip(names(runs[run_id]), lines, strict=True):
                (folder / "journal" / f"{number:010}.json").write_bytes(line)
        elif layout == LINES:
            folder.mkdir(parents=True)
            (folder / "journal.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    if layout == LOOSE:
        everything = b"".join(line + b"\n" for lines in texts.values() for line in lines)
        (store / "all.jsonl").write_bytes(everything)


def names(records: Records) -> list[int]:
    """The numbers in the records, as long as each can have a name; else their places."""
    said = [record["sequence"] for record in records]
    return said if said == sorted(set(said)) else list(range(1, len(said) + 1))


def chained(records: Records, run_id: str) -> Records:
    """`records` as if they had been written so: numbered and chained anew."""
    made: Records = []
    for number, record in enumerate(records, 1):
        previous = digest_stored(encode_record(made[-1])) if made else None
        made.append({**record, "runId": run_id, "sequence": number, "previousDigest": previous})
    return made


# The attacks. `run-1` and `run-2` have ended after two steps, `run-3` has done one step and is still at work.


def edit_a_member(runs: Runs) -> None:
    runs["run-1"][3]["evidence"]["ref"] = "receipt-of-somebody-else"


def edit_the_newest(runs: Runs) -> None:
    runs["run-3"][-1]["state"] = "done"


def cut_the_tail(runs: Runs) -> None:
    del runs["run-1"][6:]


def cut_the_middle(runs: Runs) -> None:
    del runs["run-1"][5:8]


def reorder(runs: Runs) -> None:
    runs["run-1"][4:6] = reversed(runs["run-1"][4:6])


def forge_in_the_middle(runs: Runs) -> None:
    runs["run-1"].insert(4, forged(runs["run-1"]))


def forge_at_the_end(runs: Runs) -> None:
    last = runs["run-1"][-1]
    runs["run-1"].append({**forged(runs["run-1"]), "sequence": last["sequence"] + 1})


def move_to_another_run(runs: Runs) -> None:
    runs["run-3"] += runs["run-1"][5:8]
    del runs["run-1"][5:8]


def replay_an_old_record(runs: Runs) -> None:
    runs["run-3"][-1] = runs["run-3"][-2]


def delete_a_run(runs: Runs) -> None:
    del runs["run-2"]


def write_a_run_anew(runs: Runs) -> None:
    runs["run-2"] = [{**record, "nonce": "b" * 32} for record in runs["run-2"]]


def forged(records: Records) -> dict[str, Any]:
    """A human's word that nobody gave."""
    kept = {name: records[0][name] for name in ("schemaVersion", "runId", "createdAt")}
    word = {"recordType": "evidence", "leaseEpoch": 0, "nonce": "c" * 32, "actionId": "pay-0"}
    proof = {"attemptNumber": None, "result": "applied", "kind": "human", "by": "nobody", "ref": "none"}
    chain = {"sequence": records[4]["sequence"], "previousDigest": records[4]["previousDigest"]}
    return {**kept, **word, **proof, **chain, "observedAt": records[0]["createdAt"]}


ATTACKS = (
    edit_a_member,
    edit_the_newest,
    cut_the_tail,
    cut_the_middle,
    reorder,
    forge_in_the_middle,
    forge_at_the_end,
    move_to_another_run,
    replay_an_old_record,
    delete_a_run,
    write_a_run_anew,
)
ATTACKED = {edit_the_newest: "run-3", replay_an_old_record: "run-3", write_a_run_anew: "run-2"}
"""The run that each attack is about; most are about `run-1`."""

TABLE = """
attack                | kind     | objects show      | the anchor adds | lines show        | the anchor adds
edit_a_member         | careless | SP303             |                 | SP303             |
edit_a_member         | careful  |                   | SP326           |                   | SP326
edit_the_newest       | careless |                   | SP326           |                   | SP326
edit_the_newest       | careful  |                   | SP326           |                   | SP326
cut_the_tail          | careless |                   | SP325           |                   | SP325
cut_the_tail          | careful  |                   | SP325           |                   | SP325
cut_the_middle        | careless | SP301             |                 | SP301             |
cut_the_middle        | careful  |                   | SP325           |                   | SP325
reorder               | careless | SP008             |                 |                   |
reorder               | careful  | SP510             | SP326           | SP510             | SP326
forge_in_the_middle   | careless | SP008             | SP326           | SP302 SP303 SP308 |
forge_in_the_middle   | careful  | SP510             | SP326           | SP510             | SP326
forge_at_the_end      | careless | SP303             |                 | SP303             |
forge_at_the_end      | careful  |                   |                 |                   |
move_to_another_run   | careless | SP007 SP301       |                 | SP007 SP301       |
move_to_another_run   | careful  |                   | SP325           |                   | SP325
replay_an_old_record  | careless | SP008             | SP326           |                   | SP325
replay_an_old_record  | careful  | SP401             | SP326           | SP401             | SP326
delete_a_run          | careless |                   | SP327           |                   | SP327
delete_a_run          | careful  |                   | SP327           |                   | SP327
write_a_run_anew      | careless | SP303             | SP326           | SP303             | SP326
write_a_run_anew      | careful  |                   | SP326           |                   | SP326
"""
"""Codes of errors: by the store alone, and what an anchor adds to them. Loose lines show what lines in folders do."""

NOT_FOUND = {
    ("reorder", CARELESS, LINES): "the order of lines means nothing",
    ("reorder", CARELESS, LOOSE): "the order of lines means nothing",
    ("move_to_another_run", CARELESS, LOOSE): "a loose line is of the run that it names, wherever it lies",
    ("forge_at_the_end", CAREFUL, OBJECTS): "an anchor vouches for what was there, not for what came later",
    ("forge_at_the_end", CAREFUL, LINES): "an anchor vouches for what was there, not for what came later",
    ("forge_at_the_end", CAREFUL, LOOSE): "an anchor vouches for what was there, not for what came later",
}
"""What even an anchor does not show, each with the reason."""


def cases() -> Iterator[Any]:
    for row in TABLE.strip().splitlines()[1:]:
        name, kind, *cells = (cell.strip() for cell in row.split("|"))
        shown = [set(cell.split()) for cell in cells]
        for layout in (OBJECTS, LINES, LOOSE):
            alone, more = shown[:2] if layout == OBJECTS else shown[2:]
            if (name, kind, layout) in NOT_FOUND:
                alone = more = set()
            yield pytest.param(name, kind, layout, alone, more, id=f"{name}-{kind}-{layout}")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three runs, as the recorder wrote it."""
    store = tmp_path_factory.mktemp("recorded") / "store"
    record_run(store, "run-1")
    record_run(store, "run-2")
    record_run(store, "run-3", 1, ends=False)
    return store


@pytest.fixture
def store(recorded: Path, tmp_path: Path) -> Path:
    """A copy of it, with another beside that nobody touches."""
    return shutil.copytree(recorded, tmp_path / "store")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the anchors lie."""
    return tmp_path / "elsewhere"


def tampered(store: Path, place: Path, name: str, kind: str, layout: str) -> None:
    """Lays the store out, anchors it, and does to it what the attack of that name does."""
    runs = read(store)
    write(store, runs, layout)
    assert not anchor(store, place).refused
    assert errors(store, place) == set()
    attack = next(attack for attack in ATTACKS if attack.__name__ == name)
    attack(runs)
    if kind == CAREFUL:
        runs = {run_id: chained(records, run_id) for run_id, records in runs.items()}
    write(store, runs, layout)


def errors(store: Path, place: Path | None = None, **options: Any) -> set[str]:
    found = safepoint.validate(str(store), anchor=place, **options)
    return {finding.code for finding in found if finding.severity == "error"}


@pytest.mark.parametrize(("name", "kind", "layout", "alone", "more"), list(cases()))
def test_an_attack_is_found_as_the_table_says(
    store: Path, place: Path, name: str, kind: str, layout: str, alone: set[str], more: set[str]
) -> None:
    tampered(store, place, name, kind, layout)
    assert errors(store) == alone
    assert errors(store, place) == alone | more
    assert errors(store, place, jobs=2) == alone | more


def test_beside_an_anchor_every_attack_is_found_or_named_with_its_reason() -> None:
    silent = {case.values[:3] for case in cases() if not case.values[3] | case.values[4]}
    assert silent == NOT_FOUND.keys()


def test_whoever_chains_anew_is_only_found_beside_an_anchor_or_by_the_meaning_of_records() -> None:
    # SP4xx and SP5xx are what a careful enough attacker would have thought of as well
    digests = {code for case in cases() if case.values[1] == CAREFUL for code in case.values[3]}
    assert all(code[2] in "45" for code in digests)


@pytest.mark.parametrize("layout", [OBJECTS, LINES])
@pytest.mark.parametrize("attack", [a for a in ATTACKS if a not in {delete_a_run, forge_at_the_end}])
def test_a_guard_that_knows_the_anchor_hands_over(
    store: Path, place: Path, attack: Callable[[Runs], None], layout: str
) -> None:
    tampered(store, place, attack.__name__, CAREFUL, layout)
    run_id = ATTACKED.get(attack, "run-1")
    decision = safepoint.guard(store, run_id, anchor=place, now=NOW)
    assert decision.verdict == "hand_over"
    assert {"SP708", "SP709"} & {reason.code for reason in decision.reasons}
    assert errors(store, place, run=run_id) & {"SP325", "SP326"}


def test_a_run_that_was_deleted_is_missed_also_where_it_alone_is_asked_for(store: Path, place: Path) -> None:
    tampered(store, place, "delete_a_run", CARELESS, OBJECTS)
    assert errors(store, place, run="run-2") == {"SP327"}
    assert errors(store, run="run-2") == {"SP001"}


def test_a_store_that_was_rolled_back_is_found_beside_an_anchor_only(store: Path, place: Path) -> None:
    shutil.copytree(store, store.with_name("yesterday"))
    record_run(store, "run-4")
    run = record_run(store, "run-5", ends=False)
    anchor(store, place)
    work(run, 7)  # what came after the anchor is not missed
    shutil.rmtree(store)
    store.with_name("yesterday").rename(store)
    assert errors(store) == set()
    assert errors(store, place) == {"SP327"}
    findings = [
        finding for finding in safepoint.validate(str(store), anchor=place) if finding.code == "SP327"
    ]
    assert [finding.key for finding in findings] == ["runs/run-4/", "runs/run-5/"]


def test_a_run_that_was_rolled_back_is_found_beside_an_anchor_only(store: Path, place: Path) -> None:
    run = record_run(store, "run-4", 1, ends=False)
    before = shutil.copytree(store / "runs/run-4", store.with_name("before"))
    work(run, 1)
    anchor(store, place)
    shutil.rmtree(store / "runs/run-4")
    before.rename(store / "runs/run-4")
    assert errors(store) == set()
    assert errors(store, place) == {"SP325"}


def test_a_store_of_which_all_is_gone_is_found(store: Path, place: Path) -> None:
    anchor(store, place)
    shutil.rmtree(store / "runs")
    assert errors(store, place) == {"SP327"}


def test_heartbeats_times_modes_and_unknown_neighbours_are_nobodys_business(store: Path, place: Path) -> None:
    run = record_run(store, "run-4", 1, ends=False)
    run.beat()
    anchor(store, place)
    beat = store / "runs/run-4/heartbeat/0000000001.json"
    value = json.loads(beat.read_bytes())
    beat.write_bytes(encode_record({**value, "beatAt": "2026-05-07T11:00:00Z"}))
    for file in store.rglob("*.json"):
        os.utime(file, (0, 0))
        file.chmod(0o600)
    (store / "notes.txt").write_text("nothing")
    assert errors(store, place) == set()
    assert not anchor(store, place).refused


def test_a_run_that_goes_on_contradicts_nothing(store: Path, place: Path) -> None:
    run = record_run(store, "run-4", 1, ends=False)
    anchor(store, place)
    work(run, 1)
    record_run(store, "run-5")
    assert errors(store, place) == set()


def test_the_description_of_the_store_is_anchored(store: Path, place: Path) -> None:
    anchor(store, place)
    description = store / "safepoint.json"
    description.write_bytes(description.read_bytes() + b" ")
    assert errors(store) == set()
    assert errors(store, place) == {"SP329"}
    description.unlink()
    assert errors(store) == set()
    assert errors(store, place) == {"SP329"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda lines: lines[:-1], "SP325"),
        (lambda lines: [lines[0].replace(b"drafting", b"finished"), *lines[1:]], "SP326"),
        (lambda lines: [], "SP327"),
        (lambda lines: [*reversed(lines), lines[0].replace(b"cp-1", b"cp-9")], None),
    ],
)
def test_records_without_a_sequence_are_anchored_one_by_one(
    tmp_path: Path, place: Path, change: Callable[[list[bytes]], list[bytes]], code: str | None
) -> None:
    store = tmp_path / "folder"
    store.mkdir()
    lines = [encode_record({**OLD, "checkpointId": f"cp-{number}"}) for number in range(1, 4)]
    other = encode_record({**OLD, "runId": "run-2"})
    (store / "all.jsonl").write_bytes(b"\n".join([*lines, other]) + b"\n")
    anchor(store, place)
    (store / "all.jsonl").write_bytes(b"\n".join([*change(lines), other]) + b"\n")
    assert errors(store) == set()
    assert errors(store, place) == ({code} if code else set())


NOW = "2026-05-07T10:05:00Z"
OLD = {
    "checkpointId": "cp-1",
    "runId": "run-1",
    "schemaVersion": "v2",
    "state": "drafting",
    "stepName": "draft",
    "createdAt": "2026-05-07T10:00:00Z",
    "inputSnapshot": {},
    "artifactRefs": [],
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
}
