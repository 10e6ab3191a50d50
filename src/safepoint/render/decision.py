"""A decision for a human: the verdict, why, what to do next, and the plan (SPEC.md#decision).

Decided here: order and words. The input is the ``decision`` document, so that a stored one prints just the same.
Not decided here: anything about the run; not one line here may say more than the document does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.core.timestamp import parse_time
from safepoint.render.overview import quote, short, when
from safepoint.render.terminal import Cell, Screen, plain

VERDICTS: Mapping[str, tuple[str, str]] = {
    "resume": ("bold green", "it may go on, by the plan below"),
    "wait": ("bold cyan", "not yet"),
    "reconcile": ("bold yellow", "find out what happened before anything runs"),
    "compensate": ("bold yellow", "undo what was done, and do not go forward"),
    "hand_over": ("bold red", "a human has to decide; nothing may run on its own"),
    "give_up": ("bold red", "it is over, and nothing is left open"),
    "no_op": ("bold", "nothing to do"),
}
"""Each verdict: how it is painted, and what it says."""

_DO: Mapping[str, tuple[str, str]] = {
    "skip": ("green", "do not do it again; take the recorded result"),
    "replay": ("yellow", "do it again, as the same request"),
    "run": ("green", "do it; nothing was sent"),
    "wait": ("cyan", "leave it alone until the time above"),
    "reconcile": ("yellow", "find out whether it happened"),
    "compensate": ("yellow", "undo it"),
    "handOver": ("red", "a human decides"),
    "confirm": ("green", "confirm the reservation"),
    "void": ("yellow", "void the reservation"),
}

FILL_IN = "FILL IN"
"""How a value that only the reader can know begins; such a facts file does not validate before it is filled in."""


def decision_text(document: Mapping[str, Any], store: str, screen: Screen) -> str:
    """The decision as a human reads it.

    Args:
        document: a ``decision`` document.
        store: the store as the user named it, for the commands to copy.
        screen: where it goes.
    """
    return (
        "\n".join([*_head(document, screen), *_why(document, screen), *_next(document, store, screen)])
        + "\n"
        + ("".join(_plan(document, screen)) + "\n".join(_basis(document, screen)) + "\n")
    )


def _head(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    style, words = VERDICTS[document["verdict"]]
    until = (
        f" before {short(document['notBefore'], up=True)}"
        if document["verdict"] == "wait" and document["notBefore"]
        else ""
    )
    yield f"{screen.paint(document['verdict'], style)}: {words}{until}"
    start = (
        f"from checkpoint {plain(document['checkpointId'])}"
        if document["checkpointId"]
        else "without a checkpoint"
    )
    about = f"run {plain(document['runId'])}, goal {document['goal']}, {start}"
    yield screen.paint(f"{about}; judged as of {short(document['evaluatedAt'])}", "dim")


def _why(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    reasons = document["reasons"]
    if not reasons:
        return
    yield ""
    yield screen.paint("why", "bold")
    # What decided comes first; the rest keeps the order of the layers.
    for reason in sorted(reasons, key=lambda reason: reason["verdict"] != document["verdict"]):
        style = VERDICTS[reason["verdict"]][0] if reason["verdict"] == document["verdict"] else "dim"
        yield f"  {screen.paint(reason['code'], style)} {reason['layer']}: {plain(reason['message'])}"
        if reason["key"]:
            pointer = f"#{plain(reason['pointer'])}" if reason["pointer"] else ""
            yield screen.paint(f"        see {plain(reason['key'])}{pointer}", "dim")


def _next(document: Mapping[str, Any], store: str, screen: Screen) -> Iterator[str]:
    yield ""
    yield screen.paint("what to do next", "bold")
    for number, (first, *rest) in enumerate(_steps(document, store), 1):
        yield f"  {number}. {first}"
        yield from (f"     {line}" for line in rest)


def _steps(document: Mapping[str, Any], store: str) -> Iterator[list[str]]:
    """What the reader does next; each step is its lines."""
    target = f"{quote(store)} --run {quote(document['runId'])}"
    verdict = document["verdict"]
    if verdict == "resume":
        yield from _go_on(document)
        return
    if verdict == "no_op":
        yield ["Nothing. What the run did, in order:", f"  safepoint show {target}"]
        return
    if verdict == "wait":
        yield from _wait(document, f"safepoint guard {target}")
    else:
        yield [_FIRST[verdict], f"  safepoint show {target}"]
    yield from _answers(document, f"safepoint guard {target}")


_FIRST: Mapping[str, str] = {
    "reconcile": "See what happened:",
    "compensate": "Undo by the plan, last one first; each undoing is an action of its own. What is to be undone:",
    "hand_over": "See what happened:",
    "give_up": "Run nothing. What it did, in order:",
}


def _go_on(document: Mapping[str, Any]) -> Iterator[list[str]]:
    head = document["basis"]["journal"]["sequence"]
    place = f" as journal record {head + 1}; whoever loses that number asks again" if head else ""
    yield [
        f"Claim the run with a lease record{place}.",
        "  In Python, safepoint.recorder.resume_run asks and claims.",
    ]
    yield ["Go on by the plan: skip what is done; replay or run what is not."]


def _wait(document: Mapping[str, Any], again: str) -> Iterator[list[str]]:
    until = document["notBefore"]
    if until:
        distance = when(until, parse_time(document["evaluatedAt"]))
        yield [f"Leave it alone, and ask again {distance}, at {short(until, up=True)}:", f"  {again}"]
    else:
        yield ["Leave it alone, and ask again later:", f"  {again}"]


def _answers(document: Mapping[str, Any], again: str) -> Iterator[list[str]]:
    """Who has to find out what, and how the guard learns of it."""
    missing = document["missingEvidence"]
    for need in missing:
        yield [f"{_ASK[need['kind']]} {plain(need['subject'])}: {plain(need['message'])}."]
    in_doubt = {item.get("actionId") for item in document["plan"] if item["do"] == "handOver"}
    answerable = [need for need in missing if need["kind"] != "human" or need["subject"] in in_doubt]
    if answerable:
        known = document["basis"]["factsDigest"] is not None
        place = (
            "Add what you found to the facts that you gave, in this form"
            if known
            else ("Write what you found into a facts file, say facts.json")
        )
        yield [
            f"{place}:",
            *(f"  {line}" for line in _skeleton(document, answerable)),
            "and ask again:",
            f"  {again} --facts facts.json",
        ]
    elif missing:
        yield ["When that is settled, ask again:", f"  {again}"]


_ASK: Mapping[str, str] = {
    "probe": "Ask the provider about",
    "approval": "Get an answer to approval",
    "fact": "Find out",
    "owner": "Make sure of the owner of",
    "human": "A human looks at",
}


def _skeleton(document: Mapping[str, Any], needs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A facts document that answers `needs`, with gaps that only the reader can fill."""
    time = f"{FILL_IN}: when you looked, such as {short(document['evaluatedAt'])}"
    facts: dict[str, Any] = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": document["runId"],
        "observedAt": time,
    }
    for need in needs:
        subject = str(need["subject"])
        if need["kind"] in {"probe", "human"}:
            facts.setdefault("probes", {})[subject] = {
                "result": f"{FILL_IN}: applied, notApplied or unknown",
                "consistency": f"{FILL_IN}: strong or eventual",
                "observedAt": time,
            }
        elif need["kind"] == "owner":
            epoch = document["basis"]["leaseEpoch"]
            who = {"leaseEpoch": epoch} if epoch else {"holder": f"{FILL_IN}: who ran it"}
            facts["owners"] = [{**who, "state": "dead", "proof": f"{FILL_IN}: how you know"}]
        elif need["kind"] == "approval":
            facts.setdefault("approvals", {})[subject] = {
                "state": f"{FILL_IN}: granted, pending, rejected, revoked or expired"
            }
        else:
            first, _, rest = subject.partition(".")
            if rest:
                facts.setdefault(first, {})[rest] = FILL_IN
            else:
                facts[first] = FILL_IN
    return plain_lines(json.dumps(facts, indent=2, ensure_ascii=False))


def plain_lines(text: str) -> list[str]:
    """`text` line by line, each made `plain`."""
    return [plain(line) for line in text.split("\n")]


def _plan(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    if not document["plan"]:
        return
    yield f"\n{screen.paint('plan', 'bold')}\n"
    rows: list[list[Cell]] = []
    for item in document["plan"]:
        style, words = _DO[item["do"]]
        if item.get("actionId") is None and item["do"] == "run":
            words = "run the step; its effects are judged one by one"
        what = (
            f"action {item['actionId']}" if item.get("actionId") is not None else f"step {item['stepName']}"
        )
        rows.append([what, (item["do"], style), item["key"] or "-", item["reason"], words])
    yield screen.table(("what", "do", "key", "reason", "that is"), rows)


def _basis(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    yield ""
    if document["notChecked"]:
        yield screen.paint(f"not checked: {'; '.join(map(plain, document['notChecked']))}", "dim")
    basis = document["basis"]
    head = basis["journal"]
    stands = (
        f"journal record {head['sequence']} ({head['digest'][:19]}…)"
        if head["sequence"]
        else "records without order"
    )
    epoch = f"epoch {basis['leaseEpoch']}" if basis["leaseEpoch"] else "no lease"
    until = f"; valid until {short(document['validUntil'])}" if document["validUntil"] else ""
    yield screen.paint(f"stands on {stands}, {epoch}{until}", "dim")
