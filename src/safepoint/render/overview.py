"""A run in one line: its state at a moment, and its counts (SPEC.md#runs).

Decided here: what a run's records say of its state. Not decided here: whether it may go on (``guard``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from safepoint.core.timestamp import SECOND, format_time, parse_time
from safepoint.model.approvals import Approval
from safepoint.model.run import Run
from safepoint.render.terminal import Cell, Screen, ago, count, plain, to_json

STATE_STYLES = {
    "running": "green",
    "interrupted": "bold yellow",
    "waiting": "cyan",
    "unknown": "yellow",
    "completed": "green",
    "failed": "red",
    "cancelled": "dim",
    "sealed": "dim",
    "deleted": "dim",
    "unreadable": "bold red",
}
"""Every state that a run can be in, and how it is painted."""


def pending(run: Run, now: int) -> tuple[Approval, ...]:
    """The approvals that were asked for and are neither answered nor past their expiry at `now`."""
    asked = (a for a in run.approvals.values() if a.event == "requested")
    return tuple(a for a in asked if a.expires is None or now < a.expires)


def state_of(run: Run, now: int, skew: int) -> str:
    """What the records alone say of `run` at `now`; first match.

    ``unreadable``: nothing of it could be read. ``completed``, ``failed``, ``cancelled``, ``sealed``: it says
    so. ``waiting``: a human was asked and has not answered. ``running``: its owner's last sign of life is younger
    than the lease. ``interrupted``: the lease lapsed or was given back, and the run did not end. ``unknown``: it
    did not end, and it has no lease, so that no record can say whether anybody still works on it. ``deleted``: it was
    deleted on purpose, and its records are gone.

    Args:
        run: the folded run.
        now: nanoseconds since the Unix epoch.
        skew: largest difference between two clocks, in nanoseconds.
    """
    if run.deleted is not None:
        return "deleted"
    if not run.records:
        return "unreadable"
    if run.status != "started":
        return run.status
    if pending(run, now):
        return "waiting"
    if run.ownership is None:
        return "unknown"
    lapsed = run.ownership.released or now >= run.ownership.lapses_at(now, skew)
    return "interrupted" if lapsed else "running"


def overview(run: Run, faults: int, now: int, skew: int) -> dict[str, Any]:
    """One entry of ``runs[]``.

    Args:
        run: the folded run.
        faults: how many findings of any severity it has.
        now: nanoseconds since the Unix epoch.
        skew: nanoseconds.
    """
    times = [record.created for record in run.records if record.created is not None]
    return {
        "runId": run.run_id,
        "state": state_of(run, now, skew),
        "level": None if run.deleted else str(run.level),
        "counts": {
            "records": len(run.records) + len(run.recovery),
            "checkpoints": len(run.checkpoints),
            "actions": len(run.actions),
            "openActions": len(run.open_actions),
            "faults": faults,
        },
        "headSequence": run.head.sequence,
        "lastRecordAt": format_time(max(times)) if times else None,
        **_deletion(run),
        **_copied(run),
    }


def _deletion(run: Run) -> dict[str, Any]:
    """What the run's ``deleted.json`` says of it."""
    if run.deleted is None:
        return {}
    names = ("deletedAt", "by", "reason", "status", "endedAt", "heads", "counts")
    return {"deleted": {name: run.deleted.value.get(name) for name in names}}


def _copied(run: Run) -> dict[str, Any]:
    """What the run was copied from, and whether its original has given its authority away."""
    if run.origin is None:
        return {}
    seal = run.seal.value if run.seal else None
    sealed = None if seal is None else {"sequence": seal["sequence"], "digest": seal["digest"]}
    return {"copiedFrom": {"source": run.origin.value["source"], "sealedBy": sealed}}


def copied_text(run: Mapping[str, Any]) -> str:
    """Where a run was copied from, in words, and whether it waits for a seal; empty where it is no copy."""
    copied = run.get("copiedFrom")
    if not copied:
        return ""
    said = f"copied from {plain(copied['source'])}"
    if copied["sealedBy"]:
        return f"{said}, original sealed"
    over = run["state"] in _CLOSED and not run["counts"]["openActions"]
    return f"{said}; ended, no seal needed" if over else f"{said}, original not sealed"


_CLOSED = frozenset({"completed", "cancelled", "sealed", "deleted"})
"""States in which nobody goes on with a run that left nothing open."""


def runs_text(
    store: str,
    runs: Sequence[Mapping[str, Any]],
    now: int,
    screen: Screen,
    *,
    options: Sequence[str] = (),
) -> str:
    """A table of runs, and the commands that look closer.

    Args:
        store: the store as the user named it.
        runs: entries made by `overview`.
        now: nanoseconds since the Unix epoch, for "how long ago".
        screen: where it goes.
        options: further words of those commands: how the store is opened.
    """
    headings = ("run", "state", "level", "records", "checkpoints", "actions", "open", "faults", "last record")
    text = screen.table(headings, [_row(run, now) for run in runs], indent="")
    states = [run["state"] for run in runs]
    said = ", ".join(f"{states.count(state)} {state}" for state in STATE_STYLES if state in states)
    text += f"\n{count(len(runs), 'run')}: {said}\n"
    copies = [said for run in runs if (said := copied_text(run))]
    for said in dict.fromkeys(copies):
        text += f"{count(copies.count(said), 'run')} {said}\n"
    if any(run["counts"]["faults"] for run in runs):
        text += f"what is wrong:  safepoint validate {' '.join(map(quote, (store, *options)))}\n"
    look = next((run for run in runs if run["state"] in {"interrupted", "unknown", "unreadable"}), None)
    if look:
        words = " ".join(map(quote, (store, "--run", look["runId"], *options)))
        text += f"look closer:  safepoint show {words}\n"
    return text


def _row(run: Mapping[str, Any], now: int) -> list[Cell]:
    counts, state, last = run["counts"], run["state"], run["lastRecordAt"]
    return [
        run["runId"],
        (state, STATE_STYLES[state]),
        run["level"] or "-",
        str(counts["records"]),
        str(counts["checkpoints"]),
        str(counts["actions"]),
        (str(counts["openActions"]), "bold yellow" if counts["openActions"] else ""),
        (str(counts["faults"]), "bold red" if counts["faults"] else ""),
        f"{short(last)} ({when(last, now)})" if last else _gone(run, now),
    ]


def _gone(run: Mapping[str, Any], now: int) -> str:
    """Why no last record is known."""
    deletion = run.get("deleted")
    if not deletion:
        return "not recorded"
    return f"deleted {short(deletion['deletedAt'])} ({when(deletion['deletedAt'], now)})"


def runs_json(runs: Iterable[Mapping[str, Any]]) -> bytes:
    """The document that ``safepoint runs --format json`` prints."""
    return to_json({"runs": list(runs)})


def when(time: str, now: int) -> str:
    """How far the RFC 3339 `time` lies from `now` (nanoseconds): ``3 h 12 min ago``."""
    distance = now - parse_time(time)
    if distance >= 0:
        return f"{ago(distance)} ago"
    # rounded up: whoever waits for so long has waited long enough
    return f"in {ago(-(distance // SECOND) * SECOND)}"


def short(time: str, *, up: bool = False) -> str:
    """The RFC 3339 `time` to the millisecond, which is what a human reads: cut off, or rounded up."""
    nanoseconds = parse_time(time)
    return format_time((-(-nanoseconds // 1_000_000) if up else nanoseconds // 1_000_000) * 1_000_000)


def quote(argument: str) -> str:
    """`argument` as a POSIX shell takes it, so that a printed command can be copied."""
    safe = plain(argument)
    if safe and all(character.isalnum() or character in "@%+=:,./-_…" for character in safe):
        return safe
    return "'" + safe.replace("'", "'\"'\"'") + "'"
