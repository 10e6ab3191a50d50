"""Stores in which all versions and layouts lie beside each other, as years of use leave them, for tests that move them.

Decided here: what such a store holds. A store without `payloads` migrates to v3; one with them holds v3 journals whose
checkpoints a project's own step brings from ``agent/state@1`` to ``agent/state@2``, as `write_steps` configures it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from journals import Journal, at, nonce
from questions import PROBED

from safepoint.core.digest import encode_record
from safepoint.store.layout import journal_key, recovery_key

Objects = Mapping[str, bytes]
"""By key, all that a store holds."""

OPEN = frozenset({"interrupted", "doubtful", "recovered"})
"""Kinds of runs at level Fenced that nobody ended: only they can be sealed."""

PAYLOAD = "agent/state@2"


def mixed(runs: int, *, payloads: bool = False) -> dict[str, bytes]:
    """A store of `runs` runs, one kind after the other, with loose files, documents, and what others keep there."""
    found = dict(_beside())
    if not payloads:
        found |= _loose()
    for number in range(runs):
        kind = tuple(_KINDS)[number % len(_KINDS)]
        if payloads and kind in _OLD:
            kind = "interrupted"
        found |= _KINDS[kind](f"{kind}-{number:03}", payloads)
    return found


def small() -> dict[str, bytes]:
    """One run of v2, one that was interrupted at level Fenced, and one of loose files."""
    checkpoint, attempt = _checkpoint("loose", "cp_1"), _ledger("loose", "pending")
    loose = {"loose-1.json": _encoded(checkpoint), "loose-2.json": _encoded(attempt)}
    return {**loose, **_v2_objects("old"), **_interrupted("run-1")}


def write_steps(folder: Path) -> Path:
    """The settings of a project that has one step for its payloads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "state.json").write_text('{"type": "object"}')
    (folder / "state-2.json").write_text('{"type": "object", "required": ["channel"]}')
    patch = [{"op": "add", "path": "/channel", "value": "mail"}]
    (folder / "step.json").write_text(json.dumps(patch))
    settings = folder / "safepoint.toml"
    settings.write_text(
        '[payload-schemas]\n"agent/state@1" = "state.json"\n"agent/state@2" = "state-2.json"\n\n'
        '[[payload-migrations]]\nfrom = "agent/state@1"\nto = "agent/state@2"\npatch = "step.json"\n'
    )
    return settings


def lay_down(folder: Path, objects: Objects) -> Path:
    """The store on disk."""
    for key, data in objects.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All that lies in a store on disk; none where there is no folder. What a killed write left does not count."""
    found: dict[str, bytes] = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.startswith(".tmp-"):
                file = Path(path, name)
                found[file.relative_to(folder).as_posix()] = file.read_bytes()
    return found


def _encoded(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode()


def _checkpoint(run_id: str, checkpoint_id: str, **members: Any) -> dict[str, Any]:
    return {
        "checkpointId": checkpoint_id,
        "runId": run_id,
        "state": "waiting",
        "stepName": "fetch",
        "schemaVersion": "v2",
        "artifactRefs": [],
        "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
        "createdAt": at(1),
        **members,
    }


def _ledger(run_id: str, status: str, **members: Any) -> dict[str, Any]:
    return {
        "actionId": "send",
        "runId": run_id,
        "stepName": "notify",
        "idempotencyKey": f"{run_id}_send",
        "status": status,
        **members,
    }


def _beside() -> Objects:
    return {
        "README.md": b"kept by hand\n",
        "notes/others.json": b'{"foreign": [1,\n2]}',
        "policy.json": encode_record({"recordType": "policy", "schemaVersion": "v3"}),
        "safepoint.json": encode_record({"recordType": "store", "schemaVersion": "v3", "layout": 1}),
    }


def _loose() -> Objects:
    old = _checkpoint("loose", "cp_1")
    lines = [_ledger("loose-lines", "pending"), _ledger("loose-lines", "committed", externalRef="mail-1")]
    return {
        "loose/cp_1.json": _encoded(old),
        "loose/cp_2.json": _encoded(old | {"checkpointId": "cp_2", "createdAt": at(2)}),
        "loose/ledger.jsonl": b"".join(_encoded(line) + b"\n" for line in lines),
    }


def _v2_objects(run: str, _payloads: bool = False) -> Objects:
    return {
        f"runs/{run}/cp_1.json": _encoded(_checkpoint(run, "cp_1")),
        f"runs/{run}/cp_2.json": _encoded(_checkpoint(run, "cp_2", createdAt=at(2))),
        f"runs/{run}/ledger_1.json": _encoded(_ledger(run, "committed", externalRef="mail-1")),
    }


def _v2_lines(run: str, _payloads: bool) -> Objects:
    checkpoints = [_checkpoint(run, f"cp_{number}", createdAt=at(number)) for number in range(1, 6)]
    ledger = [_ledger(run, "pending"), _ledger(run, "committed", externalRef="mail-1")]
    return {
        f"runs/{run}/checkpoints.jsonl": b"".join(_encoded(value) + b"\n" for value in checkpoints),
        f"runs/{run}/ledger.jsonl": b"".join(_encoded(value) + b"\n" for value in ledger),
    }


def _v1(run: str, _payloads: bool) -> Objects:
    checkpoint = {
        "checkpointId": "cp_1",
        "runId": run,
        "schemaVersion": "v1",
        "state": "waiting",
        "stepName": "fetch",
        "createdAt": "2026-05-07T12:00:00+02:00",
    }
    ledger = {
        "actionId": "send",
        "runId": run,
        "schemaVersion": "v1",
        "stepName": "notify",
        "status": "pending",
    }
    return {f"runs/{run}/cp_1.json": _encoded(checkpoint), f"runs/{run}/ledger.json": _encoded(ledger)}


def _begun(run: str, payloads: bool, **members: Any) -> Journal:
    known = {"stateSnapshot": {"turn": 1}, "payloadSchema": "agent/state@1"} if payloads else {}
    return Journal(run).begin().checkpoint(2, **known, **members)


def _objects(journal: Journal) -> dict[str, bytes]:
    logs = ((journal.values, journal_key), (journal.recovery, recovery_key))
    return {
        key_of(journal.run_id, value["sequence"]): encode_record(value)
        for values, key_of in logs
        for value in values
    }


def _completed(run: str, payloads: bool) -> Objects:
    return _objects(_begun(run, payloads).add("run", 3, status="completed"))


def _interrupted(run: str, payloads: bool = False) -> Objects:
    file = f"the plan of {run}".encode()
    name = hashlib.sha256(file).hexdigest()
    reference = {
        "artifactId": "plan",
        "digest": f"sha256:{name}",
        "size": len(file),
        "mediaType": "text/plain",
        "uri": f"artifacts/sha256/{name}",
    }
    found = _objects(_begun(run, payloads, artifactRefs=[reference]))
    beat = {"recordType": "heartbeat", "schemaVersion": "v3", "runId": run, "leaseEpoch": 1}
    beat |= {"nonce": nonce(1), "beatAt": at(9)}
    return {
        **found,
        f"runs/{run}/artifacts/sha256/{name}": file,
        f"runs/{run}/heartbeat/0000000001.json": encode_record(beat),
    }


def _doubtful(run: str, payloads: bool) -> Objects:
    return _objects(_begun(run, payloads).ledger(3, "attempting", declares=PROBED))


def _recovered(run: str, payloads: bool) -> Objects:
    journal = _begun(run, payloads)
    for second, state in enumerate(("detected", "assessing", "authorized"), start=100):
        decided = {"decisionDigest": "sha256:" + "d" * 64} if state == "authorized" else {}
        journal.recover(second, state, trigger="leaseLapsed", attemptNumber=1, **decided)
    journal.claim(104, purpose="recovery", authorization="sha256:" + "d" * 64, episodeId="ep-1")
    return _objects(journal.checkpoint(105, "cp-2"))


_KINDS = {
    "v2": _v2_objects,
    "interrupted": _interrupted,
    "lines": _v2_lines,
    "completed": _completed,
    "v1": _v1,
    "doubtful": _doubtful,
    "recovered": _recovered,
}
_OLD = frozenset({"v2", "lines", "v1"})
