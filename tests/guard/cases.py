"""The guard's conformance cases as they are made: ``python tests/guard/cases.py`` writes ``fixtures/guard/``.

Each case says beforehand which verdict and which codes must come out; the stored decision is only written when they do.
The cases themselves lie in ``conformance/``, one or two modules for each layer of the guard.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance import (
    approvals,
    artifacts,
    budget,
    compatibility,
    compensation,
    copies,
    doubts,
    effects,
    field,
    integrity,
    lost,
    ownership,
    preconditions,
    rows,
    terminal,
    weak,
)
from conformance.case import Case, anchor
from journals import START, at

from safepoint.core.digest import encode_record
from safepoint.core.timestamp import SECOND
from safepoint.guard import EXIT_CODES, evaluate
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.comparing import load_anchored
from safepoint.store import open_store

ROOT = Path(__file__).parents[2] / "fixtures" / "guard"

LAYERS = (
    integrity,
    terminal,
    ownership,
    copies,
    compatibility,
    compensation,
    budget,
    effects,
    doubts,
    approvals,
    preconditions,
    artifacts,
    lost,
    weak,
    rows,
    field,
)
"""The modules of cases, in the guard's order."""


def cases() -> Iterator[Case]:
    for layer in LAYERS:
        yield from layer.cases()


def write(case: Case, folder: Path) -> None:
    """Lay the case down, judge it, and keep the decision if it is the one that the case promises."""
    shutil.rmtree(folder, ignore_errors=True)
    store = folder / "store"
    store.mkdir(parents=True)
    case.journal.write(store)
    for key in case.without:
        (store / key).unlink()
    for key, data in case.files.items():
        (store / key).parent.mkdir(parents=True, exist_ok=True)
        (store / key).write_bytes(data)
    expect: dict[str, Any] = {"command": "guard", "summary": case.summary}
    expect["source"] = case.source or "SPEC.md#guard"
    expect |= {"store": "store", "run": "run-1", "now": at(case.now)}
    if case.claims != "enforced":
        expect["claims"] = case.claims
    for name in ("facts", "policy", "request"):
        document = getattr(case, name)
        if document is not None:
            expect[name] = f"{name}.json"
            _dump(folder / f"{name}.json", document)
    if case.anchor is not None:
        expect["anchor"] = "place"
        (folder / "place/anchors").mkdir(parents=True)
        (folder / "place/anchors/0000000001.json").write_bytes(
            encode_record(anchor(case.anchor, case.anchored_document))
        )
    opened, anchored = open_store(str(store)), None
    if case.anchor is not None:
        anchored = load_anchored(str(folder / "place"), {}, "run-1", opened)
    run = load_run(opened, "run-1").run
    assert run is not None
    decision = evaluate(
        run,
        case.facts,
        parse_policy(case.policy, workflow="publish"),
        case.request,
        START + int(case.now * SECOND),
        artifacts=gather_artifacts(opened, run),
        claims=case.claims,
        anchored=anchored,
    )
    got = (decision.verdict, [reason.code for reason in decision.reasons])
    if got != (case.verdict, list(case.codes)):
        sys.exit(
            f"{case.name}: expected {(case.verdict, list(case.codes))}, got {got}\n{decision.document()}"
        )
    _dump(folder / "decision.json", decision.document())
    expect |= {"exit": EXIT_CODES[case.verdict], "decision": "decision.json"}
    _dump(folder / "expect.json", expect)


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    shutil.rmtree(ROOT, ignore_errors=True)
    for each in cases():
        write(each, ROOT / each.name)
