"""What a human can do about what the guard hands over: commands to copy, with gaps that only the reader can fill.

Decided here: which command answers which reason. No gap is taken as it stands. Not decided here: whether an answer is
accepted (``recorder``), and which setting of the policy or which fact would do (``settings``, ``template``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from safepoint.render.asked import YOU, Asked
from safepoint.render.overview import quote
from safepoint.render.template import FILL_IN, facts_to_fill_in, has_gaps
from safepoint.render.terminal import plain

_MEANINGS: Mapping[str, str] = {
    "committed": "it happened",
    "failed": "it did not, and never will",
    "abandoned": "nobody will know",
    "cancelled": "it is given up",
}

_UNCLAIMABLE = "These records cannot be claimed: nothing keeps a second worker out."

_NOT_WRITABLE = "Nothing can be recorded in this run, as its records are not kept as one object each"


def plain_lines(text: str) -> list[str]:
    """`text` line by line, each made `plain`."""
    return [plain(line) for line in text.split("\n")]


# what one piece of missing evidence needs


def resolution(document: Mapping[str, Any], action: str, asked: Asked, printed: set[str]) -> Iterator[str]:
    """How a human says what became of an effect; `printed` are the facts documents that stand above."""
    answer = asked.answer(action)
    if answer is not None:
        yield f"The facts say {answer}. That settles nothing: no probe can prove it here, so a human takes the risk."
    if not asked.writable:
        yield f"{_NOT_WRITABLE}: facts are all that can be added. If it did not happen, begin a new run."
        return
    possible = asked.possible(action)
    if not possible:
        return
    yield "Record the answer:"
    yield f"  {asked.resolve(document['runId'], action)}"
    yield f"{'; '.join(f'{name}: {_MEANINGS[name]}' for name in possible)}."
    if "failed" in possible and (epochs := asked.silent.get(action)):
        yield from _deaths(document, epochs, asked, printed)


def _deaths(
    document: Mapping[str, Any], epochs: Sequence[int], asked: Asked, printed: set[str]
) -> Iterator[str]:
    """What ``failed`` needs: a call may outlast its lease, so that a lapsed one proves no end."""
    named = f"epoch {epochs[0]}" if len(epochs) == 1 else f"epochs {', '.join(map(str, epochs))}"
    yield f"failed is taken only with --facts that prove the worker of {named} dead; a lapsed lease is no proof."
    needs = [
        {"kind": "owner", "subject": f"epoch {epoch}"} for epoch in epochs if not asked.proves_dead(epoch)
    ]
    if needs:
        file = asked.facts_file or "facts.json"
        verb = "add this to" if asked.facts else "write this into"
        more = "" if asked.facts_file else f" and give the command --facts {quote(file)}"
        text = json.dumps(facts_to_fill_in(document, needs, asked.facts), indent=2, ensure_ascii=False)
        lines = plain_lines(text)
        if "\n".join(lines) in printed:
            yield f"What to write into {plain(file)} for that stands above{more}."
            return
        printed.add("\n".join(lines))
        yield f"Only for failed, {verb} {plain(file)}{more}:"
        yield from (f"  {line}" for line in lines)


def approval(document: Mapping[str, Any], subject: str, asked: Asked) -> Iterator[str]:
    """How a human answers a question, or is asked anew and answers at once."""
    run_id, question = document["runId"], asked.questions.get(subject)
    if not asked.writable:
        yield f"{_NOT_WRITABLE}: begin a new run, or go on from a checkpoint that needs no approval."
    elif question is not None and question.pending:
        yield "Say yes or no:"
        yield f"  {asked.command('approve', run_id, '--approval', subject, '--by', YOU)}"
        yield f"  {asked.command('reject', run_id, '--approval', subject, '--by', YOU, '--reason', f'{FILL_IN}: why')}"
    elif question is not None and asked.elsewhere:
        start = str(document["checkpointId"])
        words = (question.option, question.subject, "--roll-back-to", start, "--by", YOU)
        yield "To say yes for the branch that begins there, which asks anew and answers at once:"
        yield f"  {asked.command('approve', run_id, *words)}"
        yield "Or go on where the run stands instead:"
        yield f"  {asked.asking(run_id)}"
        yield from _give_up(document, question.subject, asked)
    elif question is not None:
        yield "To say yes all the same, which asks anew and answers at once:"
        yield f"  {asked.command('approve', run_id, question.option, question.subject, '--by', YOU)}"
        yield from _give_up(document, question.subject, asked)
    elif any(reason["code"] == "SP784" for reason in document["reasons"]):
        yield "To let it pass the gate, which asks and answers at once:"
        yield f"  {asked.command('approve', run_id, '--checkpoint', subject, '--by', YOU)}"


def _give_up(document: Mapping[str, Any], action: str, asked: Asked) -> Iterator[str]:
    if "cancelled" in asked.outcomes.get(action, ()):
        yield "Or let the run go on without it:"
        yield f"  {asked.resolve(document['runId'], action, 'cancelled')}"


def seal(asked: Asked) -> Iterator[str]:
    """How a copy is given the authority of its original."""
    words = (_source(asked), "--output", asked.store, "--seal", "--by", YOU, *asked.storage_words)
    yield f"  {' '.join(['safepoint', 'migrate', *map(quote, words)])}"


# what else a reason leaves to do


def ways(document: Mapping[str, Any], asked: Asked) -> Iterator[list[str]]:
    """Steps for the reasons that hand the run over; each once."""
    said: set[tuple[str, ...]] = set()
    for reason in document["reasons"]:
        if not document["verdict"] == reason["verdict"] == "hand_over":
            continue
        way = _WAYS.get(reason["code"]) or (_mend if reason["layer"] == "integrity" else None)
        step = list(way(document, reason, asked)) if way else []
        if step and tuple(step) not in said:
            said.add(tuple(step))
            yield step


Reason = Mapping[str, Any]


def _without_it(document: Mapping[str, Any], reason: Reason, asked: Asked) -> Iterator[str]:
    """The effects that failed for good, or whose key is of no use any more."""
    for item in document["plan"]:
        action = str(item.get("actionId"))
        if item["do"] != "handOver" or item["reason"] != reason["code"] or not asked.writable:
            continue
        possible = asked.outcomes.get(action, ())
        if "cancelled" in possible:
            yield f"Let the run go on without {plain(action)}; whatever replaces it is a new action:"
            yield f"  {asked.resolve(document['runId'], action, 'cancelled')}"
        elif "failed" in possible and not _asks_for(document, action):
            yield f"Record that {plain(action)} never happened; after that it can be given up (--as cancelled):"
            yield f"  {asked.resolve(document['runId'], action, 'failed')}"


def _asks_for(document: Mapping[str, Any], action: str) -> bool:
    return any(n["kind"] == "outcome" and n["subject"] == action for n in document["missingEvidence"])


def _abandoned_undo(document: Mapping[str, Any], reason: Reason, asked: Asked) -> Iterator[str]:
    for item in document["plan"]:
        action = str(item.get("actionId"))
        possible = asked.outcomes.get(action, ()) if asked.writable else ()
        if item["reason"] == reason["code"] and "abandoned" in possible:
            yield f"When {plain(action)} was undone by hand, or shall stay as it is, say so:"
            yield f"  {asked.resolve(document['runId'], action, 'abandoned')}"


def _learnt(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    for item in document["plan"]:
        action = str(item.get("actionId"))
        if item["reason"] == "SP771" and "committed" in asked.outcomes.get(action, ()) and asked.writable:
            yield f"If somebody learns after all that {plain(action)} happened, say so:"
            yield f"  {asked.resolve(document['runId'], action, 'committed')}"


def _leave_done(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    if document["goal"] == "unwind":
        yield "Undo it by hand, or leave it as it is and ask whether the run may go on:"
        yield f"  {asked.asking(document['runId'])}"


def _other_checkpoint(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    """Going on from where the trouble was not yet."""
    if not asked.checkpoints:
        return
    yield "Or go back to an earlier checkpoint, and on from there in a new branch:"
    yield f"  {asked.asking(document['runId'], '--goal', 'roll_back', '--checkpoint', _one_of(asked.checkpoints))}"


def _name_checkpoint(document: Mapping[str, Any], reason: Reason, asked: Asked) -> Iterator[str]:
    start = document["checkpointId"]
    named = asked.checkpoints if start is None else (start, *asked.checkpoints)
    if not named:
        return
    goal = ("--goal", "roll_back") if reason["code"] == "SP718" else ()
    yield "Name the checkpoint to go on from:"
    yield f"  {asked.asking(document['runId'], *goal, '--checkpoint', _one_of(named))}"


def _one_of(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _LISTED else ""
    return f"{FILL_IN}: one of {', '.join(names[:_LISTED])}{more}" if len(names) > 1 else names[0]


_LISTED = 5


def _new_payloads(_document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    known = sorted((asked.facts or {}).get("knownPayloadSchemas") or ())
    if known:
        yield "Migrate the payloads to what the code reads, by the steps that your settings name, and go on from there:"
        words = ("--payload", _one_of(known), "--output", f"{FILL_IN}: a new place", "--seal", "--by", YOU)
        yield f"  {asked.line('migrate', *words)}"


def _name_step(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    if asked.steps:
        yield "Name a step that comes next here:"
        words = ("--goal", "retry_step", "--step", _one_of(asked.steps))
        yield f"  {asked.asking(document['runId'], *words)}"


def _as_nobody(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    yield "Ask without an epoch, if the caller only took a wrong one:"
    yield f"  {asked.asking(document['runId'])}"


def _open_otherwise(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    where = f"{FILL_IN}: the path, s3://, gs:// or az:// that the worker writes to"
    yield "Open the store as its worker does, so that one of two claims loses:"
    yield f"  safepoint guard {quote(where)} --run {quote(document['runId'])}"
    yield "Or, only if you know that nobody else will ever claim this run, take that on yourself:"
    yield f"  {asked.again(document['runId'], asked.facts_file)} --storage-option assume_one_writer=true"


def _newer_tool(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    yield "See what is not known here, and judge it with a version that knows it:"
    yield f"  {asked.line('validate', '--run', document['runId'])}"
    yield "  python -m pip install --upgrade safepoint"
    yield f"  {asked.again(document['runId'], asked.facts_file)}"


def _where_it_was(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    """A store that somebody knows otherwise: its tail was cut, or it was put back to an earlier state."""
    anchor = _anchor(asked)
    yield "See what is missing, and restore it from a backup or from another copy of the store:"
    yield f"  {asked.line('validate', '--run', document['runId'], *(('--anchor', anchor) if anchor else ()))}"


def _other_description(_document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    place = _anchor(asked) or f"{FILL_IN}: where the anchors are"
    yield "Restore the safepoint.json that was anchored; or, if the one that is there is right, say why:"
    yield f"  {asked.line('anchor', '--output', place, '--accept', f'{FILL_IN}: why', '--by', YOU)}"


def _anchor(asked: Asked) -> str | None:
    return asked.option("--anchor")


def _set_aside(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    yield "See what was set aside, and restore it from another copy of the store; where there is none, begin a new run:"
    yield f"  {asked.line('validate', '--run', document['runId'])}"


def _lowered(document: Mapping[str, Any], _reason: Reason, _asked: Asked) -> Iterator[str]:
    where = f"{FILL_IN}: the store that it was lowered from"
    yield "Judge the original:"
    yield f"  safepoint guard {quote(where)} --run {quote(document['runId'])}"


def _finish_copy(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    yield "Finish the copy by the command that made it (with its --payload, if it had one); what is there stays:"
    yield f"  {_migration(asked)}"
    yield "Where it was whole before, see what is missing, and restore it from a backup or from the original:"
    yield f"  {asked.line('validate', '--run', document['runId'])}"


def _other_seal(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    yield "See what does not fit, and restore origin.json and seal.json as the migration wrote them:"
    yield f"  {asked.line('validate', '--run', document['runId'])}"
    yield "Where the original went on since, copy it again to a new place, and seal it there:"
    yield f"  {_migration(asked, '--seal', '--by', YOU, output=f'{FILL_IN}: a new place')}"


def _migration(asked: Asked, *more: str, output: str | None = None) -> str:
    """The command that makes a copy; which version and which payloads it wrote, only its caller knows."""
    words = (_source(asked), "--to", "v3", "--output", output or asked.store, *more, *asked.storage_words)
    return " ".join(["safepoint", "migrate", *map(quote, words)])


def _source(asked: Asked) -> str:
    return asked.source or f"{FILL_IN}: the store that it was copied from"


def _mend(document: Mapping[str, Any], _reason: Reason, asked: Asked) -> Iterator[str]:
    yield "See what is wrong, and restore it from a backup or from another copy of the store:"
    yield f"  {asked.line('validate', '--run', document['runId'])}"
    yield "Where there is none, copy what is sound; the guard still hands over what lost something. What that would do:"
    yield f"  {asked.line('repair', '--dry-run')}"


def _not_in_the_ledger(document: Mapping[str, Any], reason: Reason, asked: Asked) -> Iterator[str]:
    """Nothing is damaged where nobody kept a ledger, and no backup holds what was never written."""
    if asked.claimable:
        yield from _mend(document, reason, asked)
        return
    yield (
        "The ledger lacks an effect that the checkpoint says was done, and no copy of these records has it. "
        "Find out from whoever received it what was sent."
    )


_WAYS: Mapping[str, Callable[[Mapping[str, Any], Reason, Asked], Iterator[str]]] = {
    "SP011": _set_aside,
    "SP216": _newer_tool,
    "SP217": _newer_tool,
    "SP218": _newer_tool,
    "SP314": _lowered,
    "SP330": _finish_copy,
    "SP331": _other_seal,
    "SP329": _other_description,
    "SP502": _not_in_the_ledger,
    "SP701": _name_checkpoint,
    "SP704": _name_checkpoint,
    "SP706": _name_checkpoint,
    "SP708": _where_it_was,
    "SP709": _where_it_was,
    "SP718": _name_checkpoint,
    "SP724": _as_nobody,
    "SP725": _open_otherwise,
    "SP730": _other_checkpoint,
    "SP733": _new_payloads,
    "SP734": _other_checkpoint,
    "SP735": _name_step,
    "SP740": _abandoned_undo,
    "SP743": _leave_done,
    "SP767": _without_it,
    "SP769": _without_it,
    "SP771": _learnt,
    "SP786": _other_checkpoint,
    "SP787": _other_checkpoint,
    "SP788": _other_checkpoint,
    "SP791": _other_checkpoint,
}
"""Codes to what a human does about them, besides answering for what is missing."""


def alone(document: Mapping[str, Any]) -> str:
    """How a run goes on that nobody can claim."""
    start = document["checkpointId"]
    where = f"from checkpoint {plain(start)}" if start is not None else "from the beginning"
    how = ", by the plan below: skip what is done; replay or run what is not" if document["plan"] else ""
    return f"{_UNCLAIMABLE} One worker alone may go on, and it begins a run of its own, under a new id, {where}{how}."


def stays(document: Mapping[str, Any], asked: Asked) -> bool:
    """Whether nothing that anybody could find, mend or record changes the answer."""
    if asked.claimable:
        return False
    decisive = {r["code"] for r in document["reasons"] if r["verdict"] == "hand_over"}
    return has_gaps(document, asked.facts) or decisive == {"SP502"}


def ending(document: Mapping[str, Any], asked: Asked) -> Iterator[list[str]]:
    """How the run is stopped for good, where that is a human's to say and would be taken."""
    if not asked.claimable and document["verdict"] in {"hand_over", "reconcile"}:
        why = "Where the above does not settle it,"
        if has_gaps(document, asked.facts):
            why = (
                "The facts say that effects are missing in the ledger, so that this stays the guard's answer:"
            )
        elif stays(document, asked):
            why = "This stays the guard's answer:"
        end = (
            "decide by hand what is still to be done, and start a new run under a new id with what you know."
        )
        yield [f"{_NOT_WRITABLE}. {why} find out what was done, {end}"]
        return
    damaged = any(
        r["layer"] == "integrity" and r["verdict"] == "hand_over" and r["code"] not in _NO_DAMAGE
        for r in document["reasons"]
    )
    if not asked.endable or not asked.writable or damaged:
        return
    words = ("--by", YOU, "--reason", f"{FILL_IN}: why", *asked.files)
    line = f"  {asked.command('cancel', document['runId'], *words)}"
    if document["verdict"] == "give_up":
        yield [
            "The journal does not say yet that it is over. To end it there, so that prune can reach it:",
            line,
        ]
    elif document["verdict"] == "hand_over" and not asked.stopping:
        yield ["Or stop the run for good:", line]


_NO_DAMAGE = frozenset({"SP701", "SP704", "SP706", "SP718"})
"""Codes of the first layer that only say from where a run goes on."""
