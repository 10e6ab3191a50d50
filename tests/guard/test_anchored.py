"""An anchor never makes the guard laxer, whichever state of the store it has seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import anchor

from safepoint.core.digest import encode_record
from safepoint.core.strictjson import parse
from safepoint.core.timestamp import parse_time
from safepoint.guard import Decision, evaluate
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.comparing import load_anchored
from safepoint.store import AbsentError, open_store

ROOT = Path(__file__).parents[2] / "fixtures/guard"
CASES = sorted(folder.name for folder in ROOT.iterdir() if folder.name != "copy-not-begun")
"""All but the one without a record, to which nothing can be added and from which nothing taken."""

RUN = "runs/run-1"


def decide(case: Path, place: Path | None) -> Decision:
    """The decision that a case of the conformance suite asks for, with the anchors of a place or without any."""
    expect = load(case / "expect.json")
    documents = {name: load(case / expect[name]) if name in expect else None for name in DOCUMENTS}
    opened = open_store(str(case / expect["store"]))
    anchored = load_anchored(place, {}, expect["run"], opened) if place else None
    run = load_run(opened, expect["run"]).run
    assert run is not None
    return evaluate(
        run,
        documents["facts"],
        parse_policy(documents["policy"], workflow=run.workflow),
        documents["request"],
        parse_time(expect["now"]),
        artifacts=gather_artifacts(opened, run),
        claims=expect.get("claims", "enforced"),
        anchored=anchored,
    )


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


DOCUMENTS = ("facts", "policy", "request")


def texts(store: Path) -> tuple[Path, list[bytes]]:
    """Where the journal of the run lies, or its ledger, and its records in order."""
    folder, lines = store / RUN / "journal", store / RUN / "journal.jsonl"
    if folder.is_dir():
        return folder, [file.read_bytes() for file in sorted(folder.iterdir())]
    file = lines if lines.exists() else next(store.glob(f"{RUN}/*.jsonl"))
    return file, file.read_bytes().splitlines()


def grown(store: Path) -> None:
    """One record more at the end."""
    place, before = texts(store)
    value = next(value for text in before if not (found := parse(text))[1] and (value := found[0]))
    if "sequence" in value:
        value |= {"sequence": len(before) + 1}
    more = encode_record({**value, "createdAt": "2026-05-07T23:59:59Z"})
    if place.is_dir():
        (place / f"{len(before) + 1:010}.json").write_bytes(more)
    else:
        place.write_bytes(b"\n".join([*before, more, b""]))


def cut(store: Path) -> None:
    """One record less."""
    place, before = texts(store)
    if place.is_dir():
        max(place.iterdir()).unlink()
    else:
        place.write_bytes(b"\n".join([*before[:-1], b""]))


def of_now(store: Path) -> None:
    pass


def never(store: Path) -> None:
    """Another run, and nothing of this one."""
    (store / RUN).rename(store / "runs/run-2")
    for file in (store / "runs/run-2").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b'"run-1"', b'"run-2"'))


@pytest.mark.parametrize("change", [of_now, cut, grown, never])
@pytest.mark.parametrize("name", CASES)
def test_an_anchor_of_whatever_state_only_ever_makes_a_human_decide(
    name: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    case = tmp_path / "case"
    shutil.copytree(ROOT / name, case)
    without = decide(case, None)
    assert without.anchor_digest is None
    expect = load(case / "expect.json")
    seen = tmp_path / "seen"
    shutil.copytree(case / expect["store"], seen)
    change(seen)
    try:
        anchor(seen, tmp_path / "place")
    except AbsentError:
        return  # nothing was left that is a record, so that there is no anchor
    found = decide(case, tmp_path / "place")
    assert found.anchor_digest is not None
    looked = expect.get("request") and without.goal == "inspect"
    if change is grown and not looked:
        assert found.verdict == "hand_over"
    elif change in {of_now, never} or looked:
        assert found.verdict == without.verdict
    else:
        assert found.verdict in {without.verdict, "hand_over"}
