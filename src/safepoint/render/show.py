"""The history of a run on a terminal (SPEC.md has no say in this)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.core.timestamp import parse_time
from safepoint.render.findings import STYLES
from safepoint.render.history import compact
from safepoint.render.overview import STATE_STYLES, copied_text, quote, short, when
from safepoint.render.rounds import rounds_text
from safepoint.render.terminal import Cell, Screen, count, plain

_LEDGER = {
    "committed": "green",
    "planned": "",
    "attempting": "bold yellow",
    "inDoubt": "bold yellow",
    "prepared": "yellow",
    "failed": "red",
    "compensating": "yellow",
    "compensated": "green",
    "compensationFailed": "bold red",
    "cancelled": "dim",
    "abandoned": "dim",
}

_OVER = frozenset({"completed", "cancelled", "sealed", "deleted"})
"""States in which there is nothing to ask the guard."""

_SAYS = {
    "running": "its owner showed a sign of life within the lease",
    "interrupted": "nobody holds its lease any more, and the run did not end",
    "waiting": "a human was asked and has not answered",
    "unknown": "it did not end, and without a lease no record says whether anybody works on it",
    "completed": "it came to its end",
    "failed": "it says of itself that it failed",
    "cancelled": "it was stopped on purpose",
    "sealed": "it goes on elsewhere",
    "deleted": "it had ended, and its records were deleted on purpose",
    "unreadable": "none of its records can be read",
}


def show_text(
    document: Mapping[str, Any], store: str, now: int, screen: Screen, *, options: Sequence[str] = ()
) -> str:
    """What happened, for a human at night.

    Args:
        document: made by `history.history`.
        store: the store as the user named it, for the command to copy.
        now: nanoseconds since the Unix epoch, for "how long ago".
        screen: where it goes.
        options: further words of that command: how the store is opened.
    """
    parts = [_head(document, now, screen), _timeline(document, screen), _ledger(document, screen)]
    parts += [_artifacts(document, screen)]
    parts += [
        _approvals(document, now, screen),
        rounds_text(document, now, screen),
        _findings(document, screen),
    ]
    if document["state"] not in _OVER:
        follow = (
            f"next:  safepoint guard {' '.join(map(quote, (store, '--run', document['runId'], *options)))}"
        )
        parts.append(screen.paint(follow, "bold") + "\n")
    return "\n".join(part for part in parts if part)


def _head(document: Mapping[str, Any], now: int, screen: Screen) -> str:
    state = document["state"]
    workflow = f", workflow {plain(document['workflow'])}" if document["workflow"] else ""
    lines = [
        f"run {screen.paint(plain(document['runId']), 'bold')}{workflow}",
        f"state   {screen.paint(state, STATE_STYLES[state])}: {_SAYS[state]}",
    ]
    if deletion := document.get("deleted"):
        return "\n".join([*lines, *_deletion(deletion, now)]) + "\n"
    lines += [
        f"level   {document['level']}, {count(document['counts']['records'], 'record')}",
    ]
    if said := copied_text(document):
        lines.append(said.replace("copied from", "copied  from", 1))
    if owner := document["owner"]:
        left = "given back" if owner["released"] else _lapse(owner, now)
        lines.append(f"lease   epoch {owner['leaseEpoch']}, holder {plain(owner['holder']) or '?'}, {left}")
        lines.append(
            f"alive   last sign of life {short(owner['lastSignOfLife'])} ({when(owner['lastSignOfLife'], now)})"
        )
    elif last := document["lastRecordAt"]:
        lines.append(f"alive   last record {short(last)} ({when(last, now)}); nobody ever claimed a lease")
    if asked := document["cancelRequestedAt"]:
        lines.append(
            screen.paint(f"stop    somebody asked it to stop {short(asked)} ({when(asked, now)})", "yellow")
        )
    return "\n".join(lines) + "\n"


def _deletion(deletion: Mapping[str, Any], now: int) -> Iterator[str]:
    counts, head = deletion["counts"], deletion["heads"]["journal"]
    yield f"ended   {deletion['status']} {short(deletion['endedAt'])} ({when(deletion['endedAt'], now)})"
    why = f": {plain(deletion['reason'])}" if deletion["reason"] else ""
    yield f"deleted {short(deletion['deletedAt'])} ({when(deletion['deletedAt'], now)}) by {plain(deletion['by'])}{why}"
    nouns = {
        name: count(counts[name], name[:-1]) for name in ("records", "checkpoints", "actions", "artifacts")
    }
    yield f"it held {', '.join(nouns.values())}; its journal's head was {head['sequence']}, {head['digest']}"


def _lapse(owner: Mapping[str, Any], now: int) -> str:
    time = owner["lapsesAt"]
    word = "lapsed" if parse_time(time) <= now else "holds until"
    slack = owner["clockAllowanceSeconds"]
    after = f": {owner['ttlSeconds']} s after the last sign of life" + (
        f", and {slack} s more because clocks differ" if slack else ""
    )
    return f"{word} {short(time, up=True)} ({when(time, now)}){after}"


def _timeline(document: Mapping[str, Any], screen: Screen) -> str:
    events = document["timeline"]
    if not events:
        return ""
    rows: list[list[Cell]] = []
    for event in events:
        number = "-" if event["sequence"] is None else str(event["sequence"])
        epoch = "-" if not event["leaseEpoch"] else str(event["leaseEpoch"])
        text = event["text"]
        if event.get("values"):
            text += f"  {compact(event['values'])}"
        rows.append(
            [
                number,
                short(event["createdAt"]) if event["createdAt"] else "not recorded",
                epoch,
                event["kind"],
                text,
            ]
        )
    table = screen.table(("#", "time", "epoch", "kind", "what happened"), rows)
    end = ""
    if document["state"] in {"interrupted", "unknown"}:
        end = "  " + screen.paint("here the records end; nothing says that the run did", "bold yellow") + "\n"
    return f"{screen.paint('journal', 'bold')}\n{table}{end}"


def _ledger(document: Mapping[str, Any], screen: Screen) -> str:
    if not document["actions"]:
        return ""
    rows: list[list[Cell]] = [
        [
            action["actionId"],
            action["stepName"],
            (action["status"], _LEDGER[action["status"]]),
            str(action["attempts"]),
            "yes" if action["keyed"] else "no",
            action["known"],
        ]
        for action in document["actions"]
    ]
    headings = ("action", "step", "status", "attempts", "key", "what is known")
    return f"{screen.paint('effects on the world', 'bold')}\n{screen.table(headings, rows)}"


def _artifacts(document: Mapping[str, Any], screen: Screen) -> str:
    if not document["artifacts"]:
        return ""
    rows: list[list[Cell]] = [
        [
            artifact["artifactId"],
            "-" if artifact["size"] is None else f"{artifact['size']:,}",
            artifact["mediaType"] or "-",
            ", ".join(artifact["namedBy"]),
            ("retracted", "dim") if artifact["retracted"] else "",
        ]
        for artifact in document["artifacts"]
    ]
    headings = ("artifact", "bytes", "media type", "named by", "")
    return f"{screen.paint('artifacts', 'bold')}\n{screen.table(headings, rows)}"


def _approvals(document: Mapping[str, Any], now: int, screen: Screen) -> str:
    rows: list[list[Cell]] = [
        [
            approval["approvalId"],
            approval["actionId"] or approval["checkpointId"] or "-",
            f"{short(approval['expiresAt'])} ({when(approval['expiresAt'], now)})"
            if approval["expiresAt"]
            else "never",
        ]
        for approval in document["pendingApprovals"]
    ]
    if not rows:
        return ""
    table = screen.table(("approval", "of", "expires"), rows)
    return f"{screen.paint('waiting for a human', 'bold')}\n{table}"


def _findings(document: Mapping[str, Any], screen: Screen) -> str:
    if not document["findings"]:
        return ""
    lines = list(_finding_lines(document, screen))
    return f"{screen.paint('what is wrong with the records', 'bold')}\n" + "".join(
        f"  {line}\n" for line in lines
    )


def _finding_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    for finding in document["findings"][:20]:
        code = screen.paint(f"{finding['code']} {finding['name']}", STYLES[finding["severity"]])
        yield f"{code}: {plain(finding['message'])}  {screen.paint(plain(finding['key']), 'dim')}"
    more = len(document["findings"]) - 20
    if more > 0:
        yield f"and {more} more: safepoint validate lists all"
