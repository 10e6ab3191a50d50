"""The checkpoint chain: parents, forks, the newest one, and whether it agrees with the ledger (SPEC.md#checkpoints)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from safepoint.core.fault import Fault
from safepoint.model.action import Action
from safepoint.model.record import Record


def chain(
    records: Sequence[Record], branches: Mapping[str, str], faults: list[Fault], *, whole: bool
) -> tuple[Record, ...]:
    """The run's checkpoints in order, each id once.

    Args:
        records: checkpoint records in journal order, or as their times suggest.
        branches: declared branch name to the checkpoint it forked from.
        faults: what is wrong is appended here.
        whole: nothing of the run is missing or unreadable, so that what is not here was never written.
    """
    by_id: dict[str, Record] = {}
    for record in records:
        first = by_id.setdefault(str(record.value["checkpointId"]), record)
        if first is not record and first.digest != record.digest:
            message = f"this checkpointId is used twice with different content (also in {first.place.url})"
            faults.append(Fault("SP311", message, "/checkpointId", place=record.place))
    faults.extend(_parents(by_id, whole=whole))
    faults.extend(_forks(by_id, branches))
    return tuple(by_id.values())


def _parents(by_id: Mapping[str, Record], *, whole: bool) -> Iterator[Fault]:
    for name, record in by_id.items():
        parent = record.value.get("parentCheckpointId")
        if parent is not None and parent not in by_id:
            if not whole:
                continue
            yield Fault(
                "SP308", "the parent checkpoint was never written", "/parentCheckpointId", place=record.place
            )
            continue
        seen = {name}
        while parent is not None and parent in by_id and parent not in seen:
            seen.add(parent)
            parent = by_id[parent].value.get("parentCheckpointId")
        if parent == name:
            yield Fault(
                "SP309",
                "this checkpoint is among its own ancestors",
                "/parentCheckpointId",
                place=record.place,
            )


def _forks(by_id: Mapping[str, Record], branches: Mapping[str, str]) -> Iterator[Fault]:
    children: dict[tuple[str | None, str], Record] = {}
    for record in by_id.values():
        if "parentCheckpointId" not in record.value:
            continue
        parent, branch = record.value["parentCheckpointId"], str(record.value.get("branch") or "")
        first = children.setdefault((parent, branch), record)
        if branches.get(branch) == parent and first is record:
            continue
        if first is not record:
            message = (
                f"an undeclared fork: this checkpoint and the one in {first.place.url} have the same parent"
            )
            yield Fault("SP310", message, "/parentCheckpointId", place=record.place)


def disagreements(checkpoints: Sequence[Record], actions: Mapping[str, Action]) -> Iterator[Fault]:
    """Where a checkpoint of a journal says something that the journal's ledger records do not bear out."""
    ledger_numbers = {r.sequence for action in actions.values() for r in action.records if r.kind == "ledger"}
    for record in checkpoints:
        last = record.value.get("lastLedgerSequence")
        if last is not None and (last >= (record.sequence or 0) or (last > 0 and last not in ledger_numbers)):
            message = f"lastLedgerSequence is {last}, but the journal holds no ledger record of that number before it"
            yield Fault("SP501", message, "/lastLedgerSequence", place=record.place)
            continue
        yield from _denied_effects(record, actions)


def _denied_effects(checkpoint: Record, actions: Mapping[str, Action]) -> Iterator[Fault]:
    said = checkpoint.value.get("sideEffectStatus") or {}
    written, sent = [], []
    for action in actions.values():
        committed = any(
            a.status == "committed" and (a.record.sequence or 0) < (checkpoint.sequence or 0)
            for a in action.attempts
        )
        if committed and action.declares.effect == "message":
            sent.append(action)
        elif committed and action.declares.declared and action.declares.effect != "read":
            written.append(action)
    for member, effects in (("writePerformed", written), ("externalMessageSent", sent)):
        if said.get(member) is False and effects:
            message = f"{member} is false, but the ledger holds an effect committed before this checkpoint"
            yield Fault("SP502", message, f"/sideEffectStatus/{member}", place=checkpoint.place)
