"""A human's answer, as it was recorded or would be: for people and for programs.

Decided here: the words. Not decided here: what may be answered (``recorder``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.core.digest import encode_record
from safepoint.model.record import Record
from safepoint.render.terminal import Screen, plain, to_json


def answer_text(records: Sequence[Record], then: Sequence[str], screen: Screen, *, dry_run: bool) -> str:
    """Each record in a line, or of a dry run as it would be stored; then what to do next.

    Args:
        records: what was written, or would be.
        then: lines that say what to do next.
        screen: where it goes.
        dry_run: whether nothing was written.
    """
    if dry_run:
        # a record that was drafted is the encoding of its value: these are the bytes to the letter
        return "".join(f"{plain(encode_record(record.value).decode().rstrip())}\n" for record in records)
    lines = [
        f"{screen.paint('recorded', 'green')}  record {record.sequence}, {_epoch(record)}: {plain(_said(record.value))}"
        for record in records
    ]
    return "\n".join([*lines, *then]) + "\n"


def answer_json(
    command: str, run_id: str, records: Sequence[Record], again: str, *, dry_run: bool, **more: Any
) -> bytes:
    """The same for a program.

    Args:
        command: its name.
        run_id: the run.
        records: what was written, or would be.
        again: the command that asks the guard.
        dry_run: whether nothing was written.
        more: further members.
    """
    document = {
        "command": command,
        "runId": run_id,
        "dryRun": dry_run,
        **more,
        "records": [record.value for record in records],
        "askAgain": again,
    }
    return to_json(document)


def _epoch(record: Record) -> str:
    return f"epoch {record.epoch}" if record.epoch else "no epoch needed"


def _said(value: Mapping[str, Any]) -> str:
    kind = value["recordType"]
    return " ".join(_WORDS.get(kind, _other)(value))


def _evidence(value: Mapping[str, Any]) -> Iterator[str]:
    yield f"{value['actionId']} was applied, as {value['by']} says"


def _ledger(value: Mapping[str, Any]) -> Iterator[str]:
    attempt = value.get("attempt")
    which = f"attempt {attempt['number']} of {value['actionId']}" if attempt else value["actionId"]
    yield f"{which} is {value['status']}, as {(value.get('evidence') or {}).get('by')} says"


def _lease(value: Mapping[str, Any]) -> Iterator[str]:
    if value["event"] == "claimed":
        yield "claimed, so that no earlier worker can contradict"
    else:
        yield "given back"


def _approval(value: Mapping[str, Any]) -> Iterator[str]:
    what = (
        f"action {value['actionId']}" if value.get("actionId") else f"checkpoint {value.get('checkpointId')}"
    )
    yield f"approval {value['approvalId']} of {what}, {value['event']}"
    who = value.get("actor")
    if who is not None:
        yield f"{'of' if value['event'] == 'requested' else 'by'} {who}"
    if value.get("expiresAt"):
        yield f"until {value['expiresAt']}"


def _run(value: Mapping[str, Any]) -> Iterator[str]:
    words = {"cancelRequested": "the run is asked to stop", "cancelled": "the run is cancelled"}
    yield f"{words[value['status']]}, by {value['by']}"


def _other(value: Mapping[str, Any]) -> Iterator[str]:
    yield str(value["recordType"])


_WORDS = {"evidence": _evidence, "ledger": _ledger, "lease": _lease, "approval": _approval, "run": _run}
