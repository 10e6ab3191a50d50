"""The checkpoint chain: parents, forks, which one is the newest, and whether they agree with the ledger.

Decided here: what SPEC.md#checkpoints says. Not decided here: from which checkpoint a run goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from safepoint.core.fault import Fault
from safepoint.model.action import Action
from safepoint.model.record import Record


def chain(records: Sequence[Record], faults: list[Fault], *, whole: bool) -> tuple[Record, ...]:
    """The run's checkpoints in order, each id once.

    Args:
        records: checkpoint records in journal order, or as their times suggest.
        faults: what is wrong is appended here.
        whole: nothing of the run is missing or unreadable, so that what is not here was never written.
    """
    by_id: dict[str, Record] = {}
    for record in records:
        first = by_id.setdefault(str(record.value["checkpointId"]), record)
        if first is not record and first.digest != record.digest:
            message = f"this checkpointId is used twice with different content (also in {first.place.url})"
            faults.append(Fault("SP311", message, "/checkpointId", place=record.place))
    if whole:
        faults.extend(orphans(by_id))
    faults.extend(_cycles(by_id))
    faults.extend(_second_children(by_id.values()))
    return tuple(by_id.values())


def orphans(by_id: Mapping[str, Record]) -> Iterator[Fault]:
    """Checkpoints whose parent is not there."""
    for record in by_id.values():
        parent = record.value.get("parentCheckpointId")
        if parent is not None and parent not in by_id:
            message = "the parent checkpoint was never written"
            yield Fault("SP308", message, "/parentCheckpointId", place=record.place)


def _cycles(by_id: Mapping[str, Record]) -> Iterator[Fault]:
    grounded: set[str] = set()
    """Checkpoints whose ancestry is known to end."""
    for name in by_id:
        path: list[str] = []
        on_path: set[str] = set()
        at: str | None = name
        while at is not None and at in by_id and at not in grounded and at not in on_path:
            path.append(at)
            on_path.add(at)
            at = by_id[at].value.get("parentCheckpointId")
        if at in on_path:
            for member in path[path.index(str(at)) :]:
                message = "this checkpoint is among its own ancestors"
                yield Fault("SP309", message, "/parentCheckpointId", place=by_id[member].place)
        grounded.update(path)


def _second_children(records: Iterable[Record]) -> Iterator[Fault]:
    children: dict[tuple[str | None, str], Record] = {}
    for record in records:
        if "parentCheckpointId" not in record.value:
            continue
        parent, branch = record.value["parentCheckpointId"], str(record.value.get("branch") or "")
        first = children.setdefault((parent, branch), record)
        if first is not record:
            message = (
                f"an undeclared fork: this checkpoint and the one in {first.place.url} have the same parent"
            )
            yield Fault("SP310", message, "/parentCheckpointId", place=record.place)


def undeclared_branches(journal: Sequence[Record]) -> Iterator[Fault]:
    """Leases and checkpoints on a branch that no lease declared before, and forks from where nothing was."""
    declared: dict[str, str] = {}
    written: set[str] = set()
    for record in journal:
        if record.kind not in {"lease", "checkpoint"}:
            continue
        value = record.value
        branch = value.get("branch")
        if record.kind == "lease" and value.get("forkFrom"):
            origin = str(value["forkFrom"]["checkpointId"])
            if origin not in written:
                message = "the fork begins at a checkpoint that was never written"
                yield Fault("SP308", message, "/forkFrom/checkpointId", place=record.place)
            if declared.setdefault(str(branch), origin) != origin:
                message = "this branch already forked from another checkpoint"
                yield Fault("SP310", message, "/branch", place=record.place)
        elif branch is not None and branch not in declared:
            yield Fault("SP310", "no lease declared this branch with forkFrom", "/branch", place=record.place)
        if record.kind == "checkpoint":
            written.add(str(value["checkpointId"]))


def disagreements(checkpoints: Sequence[Record], actions: Mapping[str, Action]) -> Iterator[Fault]:
    """Where a checkpoint of a journal says something that the journal's ledger records do not bear out."""
    numbers = {r.sequence for action in actions.values() for r in action.records if r.kind == "ledger"}
    begun, committed = _firsts(actions.values())
    for record in checkpoints:
        last = record.value.get("lastLedgerSequence")
        if last is not None and (last >= (record.sequence or 0) or (last > 0 and last not in numbers)):
            message = f"lastLedgerSequence is {last}, but the journal holds no ledger record of that number before it"
            yield Fault("SP501", message, "/lastLedgerSequence", place=record.place)
        else:
            yield from _contradictions(record, begun, committed)


def claims_without_effect(record: Record, actions: Mapping[str, Action]) -> bool:
    """Whether a checkpoint says that something was done, and no action of the ledger can have been it."""
    begun, _ = _firsts(actions.values())
    said = record.value.get("sideEffectStatus") or {}
    return any(said.get(member) is True and member not in begun for member in _MEMBERS)


_MEMBERS = ("writePerformed", "externalMessageSent")
_EITHER = "either"


def _proves(action: Action) -> str | None:
    """Which member of ``sideEffectStatus`` must not be false once the effect is committed; of some, one of the two."""
    effect = action.declares.effect
    if effect == "read":
        return None
    return {"message": "externalMessageSent", "write": "writePerformed", "payment": "writePerformed"}.get(
        effect, _EITHER
    )


def _firsts(actions: Iterable[Action]) -> tuple[dict[str, int], dict[str, int]]:
    """For each member the first sequence at which an effect was begun that can make it true, and that forbids false."""
    begun: dict[str, int] = {}
    committed: dict[str, int] = {}

    def note(firsts: dict[str, int], member: str, number: int | None) -> None:
        firsts[member] = min(firsts.get(member, number or 0), number or 0)

    for action in actions:
        proves = _proves(action)
        if proves is None:
            continue
        for attempt in action.attempts:
            # Some call a message a write as well; a write is never a message.
            for member in _MEMBERS if proves != "writePerformed" else _MEMBERS[:1]:
                note(begun, member, attempt.opened.sequence)
            if attempt.status == "committed":
                note(committed, proves, attempt.record.sequence)
    return begun, committed


def _contradictions(
    record: Record, begun: Mapping[str, int], committed: Mapping[str, int]
) -> Iterator[Fault]:
    said = record.value.get("sideEffectStatus") or {}
    here = record.sequence or 0
    for member in _MEMBERS:
        pointer = f"/sideEffectStatus/{member}"
        if said.get(member) is False and committed.get(member, here) < here:
            message = f"{member} is false, but the ledger holds an effect committed before this checkpoint"
            yield Fault("SP502", message, pointer, place=record.place)
        if said.get(member) is True and begun.get(member, here) >= here:
            message = f"{member} is true, but the ledger holds no such effect before this checkpoint"
            yield Fault("SP502", message, pointer, place=record.place)
    if all(said.get(member) is False for member in _MEMBERS) and committed.get(_EITHER, here) < here:
        message = "nothing was done, it says, but the ledger holds an effect committed before this checkpoint"
        yield Fault("SP502", message, "/sideEffectStatus", place=record.place)


def newest(checkpoints: Sequence[Record], *, ordered: bool) -> tuple[Record, ...]:
    """The newest checkpoint; more than one where nothing tells which it is.

    In a journal it is the last. Without an order it is the one that is nobody's parent, or of several the latest.
    """
    if ordered or len(checkpoints) < 2:
        return tuple(checkpoints[-1:])
    parents = {record.value.get("parentCheckpointId") for record in checkpoints}
    leaves = [record for record in checkpoints if record.value["checkpointId"] not in parents] or list(
        checkpoints
    )
    if any(record.created is None for record in leaves):
        return tuple(leaves)
    latest = max(record.created or 0 for record in leaves)
    return tuple(record for record in leaves if record.created == latest)
