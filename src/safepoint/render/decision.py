"""A decision for a human: the verdict, why, what to do next, and the plan (SPEC.md#decision).

Decided here: order and words. The input is the ``decision`` document, so that a stored one prints just the same.
Not decided here: anything about the run; not one line here may say more than the document does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.core.timestamp import parse_time
from safepoint.render import remedies
from safepoint.render.asked import Asked
from safepoint.render.overview import short, when
from safepoint.render.plan import plan_text
from safepoint.render.remedies import plain_lines
from safepoint.render.settings import policy_to_fill_in
from safepoint.render.template import facts_are_idle, facts_can_answer, facts_to_fill_in
from safepoint.render.terminal import Screen, plain

VERDICTS: Mapping[str, tuple[str, str]] = {
    "resume": ("bold green", "it may go on"),
    "wait": ("bold cyan", "not yet"),
    "reconcile": ("bold yellow", "find out what happened before anything runs"),
    "compensate": ("bold yellow", "undo what was done, and do not go forward"),
    "hand_over": ("bold red", "a human has to decide; nothing may run on its own"),
    "give_up": ("bold red", "it is over, and nothing is left open"),
    "no_op": ("bold", "nothing to do"),
}
"""Each verdict: how it is painted, and what it says."""

_OF_THE_OWNER = frozenset({"SP721", "SP764"})
"""Waits that last only as long as an owner may be alive."""

_OVER = frozenset({"no_op", "give_up"})
"""Verdicts after which nothing runs, so that what else was noticed is beside the point."""


def decision_text(document: Mapping[str, Any], asked: Asked, screen: Screen) -> str:
    """The decision as a human reads it.

    Args:
        document: a ``decision`` document.
        asked: the question.
        screen: where it goes.
    """
    lines = [*_head(document, screen), *_why(document, screen), *_next(document, asked, screen)]
    return "\n".join([*lines, _planned(document, screen) + "\n".join(_basis(document, asked, screen))]) + "\n"


def _head(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    style, words = VERDICTS[document["verdict"]]
    until = (
        f" before {short(document['notBefore'], up=True)}"
        if document["verdict"] == "wait" and document["notBefore"]
        else ""
    )
    plan = ", by the plan below" if document["verdict"] == "resume" and document["plan"] else ""
    yield f"{screen.paint(document['verdict'], style)}: {words}{until}{plan}"
    start = (
        f"from checkpoint {plain(document['checkpointId'])}"
        if document["checkpointId"]
        else "without a checkpoint"
    )
    about = f"run {plain(document['runId'])}, goal {document['goal']}, {start}"
    for line in screen.prose(f"{about}; judged as of {short(document['evaluatedAt'])}"):
        yield screen.paint(line, "dim")


def _why(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    decisive = [reason for reason in document["reasons"] if reason["verdict"] == document["verdict"]]
    others = [reason for reason in document["reasons"] if reason["verdict"] != document["verdict"]]
    # What decided comes first; the rest keeps the order of the layers.
    apart = bool(decisive) and document["verdict"] in _OVER
    for title, reasons in (
        ("why", decisive if apart else decisive + others),
        ("also noted", others if apart else []),
    ):
        if not reasons:
            continue
        yield ""
        yield screen.paint(title, "bold")
        for reason in reasons:
            style = VERDICTS[reason["verdict"]][0] if reason["verdict"] == document["verdict"] else "dim"
            said = f"{reason['code']} {reason['layer']}: {plain(reason['message'])}"
            first, *rest = screen.prose(said, "  ", " " * 8)
            yield first.replace(reason["code"], screen.paint(reason["code"], style), 1)
            yield from rest
            if reason["key"]:
                pointer = f"#{plain(reason['pointer'])}" if reason["pointer"] else ""
                yield screen.paint(f"        see {plain(reason['key'])}{pointer}", "dim")


def _next(document: Mapping[str, Any], asked: Asked, screen: Screen) -> Iterator[str]:
    yield ""
    yield screen.paint("what to do next", "bold")
    for number, (first, *rest) in enumerate(_steps(document, asked), 1):
        yield from screen.prose(first, f"  {number}. ", _STEP)
        for line in rest:
            # what is to be copied is set in, and never cut in two
            yield from [f"{_STEP}{line}"] if line.startswith("  ") else screen.prose(line, _STEP)


_STEP = " " * 5
"""Before each line of a step but its first."""


def _steps(document: Mapping[str, Any], asked: Asked) -> Iterator[list[str]]:
    """What the reader does next; each step is its lines."""
    run_id, verdict = document["runId"], document["verdict"]
    if verdict == "resume":
        yield from _go_on(document, asked)
        return
    look = f"  {asked.command('show', run_id)}"
    if verdict == "no_op":
        yield ["Nothing. What the run did, in order:", look]
        return
    if verdict == "wait":
        again = asked.again(run_id, asked.facts_file)
        if _waits_for_an_answer(document, asked):
            yield from _answers(document, asked)
            yield from _wait(document, again, "Else ask again")
            return
        yield from _wait(document, again, "Leave it alone, and ask again")
    else:
        yield [_FIRST[verdict], look]
    if verdict != "give_up":  # what it misses would change nothing any more
        yield from _answers(document, asked)
    yield from remedies.ending(document, asked)


_FIRST: Mapping[str, str] = {
    "reconcile": "See what happened:",
    "compensate": "Undo by the plan, last one first; each undoing is an action of its own. What is to be undone:",
    "hand_over": "See what happened:",
    "give_up": "Run nothing. What it did, in order:",
}


def _go_on(document: Mapping[str, Any], asked: Asked) -> Iterator[list[str]]:
    if not asked.claimable:
        yield [remedies.alone(document)]
        return
    head = document["basis"]["journal"]["sequence"]
    place = f", as journal record {head + 1}; whoever loses that number asks again" if head else ""
    yield [
        f"Start the agent again: it calls resume_run, which asks this again and claims the run{place}.",
        "By hand in Python:",
        *asked.imports,
        "  from safepoint.recorder import resume_run",
        *_call(
            "run = resume_run", asked, document["runId"], holder="FILL IN: who you are", with_request=True
        ),
    ]
    if document["plan"]:
        yield ["Go on by the plan: skip what is done; replay or run what is not."]


def _waits_for_an_answer(document: Mapping[str, Any], asked: Asked) -> bool:
    """Whether nothing but a human's answer is waited for, and one can be given at once."""
    codes = {reason["code"] for reason in document["reasons"] if reason["verdict"] == "wait"}
    subjects = [need["subject"] for need in document["missingEvidence"] if need["kind"] == "approval"]
    pending = any(asked.questions[name].pending for name in subjects if name in asked.questions)
    # at a gate that nobody was asked about, one command asks and answers
    return (pending or "SP784" in codes) and asked.writable and codes <= _ANSWERED


_ANSWERED = frozenset({"SP780", "SP784"})
"""Waits that a human's answer ends."""


def _wait(document: Mapping[str, Any], again: str, what: str) -> Iterator[list[str]]:
    until = document["notBefore"]
    if until:
        distance = when(until, parse_time(document["evaluatedAt"]))
        yield [f"{what} {distance}, at {short(until, up=True)}:", f"  {again}"]
    else:
        yield [f"{what} later:", f"  {again}"]


def _answers(document: Mapping[str, Any], asked: Asked) -> Iterator[list[str]]:
    """Who has to find out what, and how the guard learns of it."""
    run_id, missing = document["runId"], [*_open_needs(document, asked)]
    said: set[str] = set()
    printed: set[str] = set()
    told: set[tuple[str, str]] = set()
    later = None
    for need in missing:
        line = f"{_WHO[need['kind']].format(plain(need['subject']))}: {plain(need['message'])}."
        line, time = _with_distance(line, document["evaluatedAt"])
        later = later or (time if need["kind"] == "probe" else None)
        if line not in said:
            said.add(line)
            subject = (str(need["kind"]), str(need["subject"]))
            yield [line] if subject in told else [line, *_how(document, need, asked, printed)]
            told.add(subject)
    yield from remedies.ways(document, asked)
    # A question that the journal holds is answered there: a fact would let nobody spend the answer.
    asking = asked.questions if asked.writable else {}
    answerable = [
        need
        for need in missing
        if facts_can_answer(document, need, asked.facts)
        and not (need["kind"] == "approval" and need["subject"] in asking)
    ]
    settings = policy_to_fill_in(document, asked.policy, asked.saved, (asked.facts or {}).get("guardContext"))
    policy = (asked.policy_file or "policy.json") if settings else None
    if policy:
        verb = "set in" if asked.policy_file else "write into"
        again = f"  {asked.again(run_id, asked.facts_file, policy)}"
        yield [
            f"Only if you decide that it shall go on all the same, {verb} {plain(policy)}:",
            *(f"  {line}" for line in plain_lines(json.dumps(settings, indent=2, ensure_ascii=False))),
            *([] if answerable else ["and ask again:", again]),
        ]
    if answerable:
        file = asked.facts_file or "facts.json"
        skeleton = _skeleton(document, answerable, asked.facts)
        where = (
            [f"Write that into {plain(file)}"]
            if "\n".join(skeleton) in printed
            else [*_where_to_write(answerable, asked, file), *(f"  {line}" for line in skeleton)]
        )
        yield [
            *where,
            f"and ask again{f' after {later}' if later else ''}:",
            f"  {asked.again(run_id, file, policy)}",
        ]
    elif (
        missing
        and not policy
        and not (_waits_for_an_answer(document, asked) or remedies.stays(document, asked))
    ):
        yield ["When that is settled, ask again:", f"  {asked.again(run_id, asked.facts_file)}"]


_WHO: Mapping[str, str] = {
    "probe": "Probe of {}",
    "approval": "Approval {}",
    "fact": "Fact {}",
    "owner": "Owner of {}",
    "outcome": "A human, about {}",
    "human": "A human, about {}",
}


def _open_needs(document: Mapping[str, Any], asked: Asked) -> Iterator[Mapping[str, Any]]:
    """The missing evidence that is worth looking for now."""
    needs = document["missingEvidence"]
    idle = facts_are_idle(document, asked.facts)
    fleet_alone = asked.facts is None and any(_is_fact(need, "fleet") for need in needs)
    for need in needs:
        # facts would not be looked at yet, nor is a seal for a copy that is broken; and where nothing but the fleet
        # was told, there are no others to renew
        if (idle and (need["kind"] in {"fact", "owner", "probe"} or _is_seal(need))) or (
            fleet_alone and _is_fact(need, "observedAt")
        ):
            continue
        yield need


def _is_fact(need: Mapping[str, Any], subject: str) -> bool:
    return bool(need["kind"] == "fact" and need["subject"] == subject)


def _is_seal(need: Mapping[str, Any]) -> bool:
    """Whether it is the seal of a copy's original that is asked for; no id has a space."""
    return bool(need["kind"] == "human" and need["subject"] == "the original")


def _how(
    document: Mapping[str, Any], need: Mapping[str, Any], asked: Asked, printed: set[str]
) -> Iterator[str]:
    """What else the reader needs for one piece of missing evidence; `printed` are the facts that stand above."""
    no_fleet = not any(_is_fact(other, "fleet") for other in document["missingEvidence"])
    if _is_fact(need, "observedAt"):
        yield "Observe again all that they say, then set observedAt; when an owner was seen dead stays as it is."
        yield "Or leave them out: once the lease has lapsed, nobody need prove that its owner is dead:"
        yield f"  {asked.again(document['runId'], None, fleet=no_fleet)}"
    if _is_fact(need, "fleet"):
        inside = (asked.facts or {}).get("fleet") is not None and asked.facts_file is not None
        there = f"take fleet out of {plain(str(asked.facts_file))}, and " if inside else ""
        yield "Count it again:"
        file = asked.option("--fleet") or "fleet.json"
        yield f"  {asked.line('guard', '--all', '--fleet-output', file)}"
        yield f"then {there}ask with --fleet {plain(file)}."
        if asked.option("--fleet"):
            yield "Or leave it out; the breakers and the ratio are not checked then:"
            yield f"  {asked.again(document['runId'], asked.facts_file, fleet=False)}"
    if need["kind"] == "owner" and document["verdict"] == "wait":
        yield from _other_waits(document)
    if need["kind"] == "outcome":
        yield from remedies.resolution(document, str(need["subject"]), asked, printed)
    if need["kind"] == "approval":
        yield from remedies.approval(document, str(need["subject"]), asked)
    if _is_seal(need):
        yield from remedies.seal(asked)


def _other_waits(document: Mapping[str, Any]) -> Iterator[str]:
    """The waits that no proof of a death ends."""
    codes = [reason["code"] for reason in document["reasons"] if reason["verdict"] == "wait"]
    others = dict.fromkeys(code for code in codes if code not in _OF_THE_OWNER)
    if others and len(others) < len(set(codes)):
        yield f"It ends no other wait: {', '.join(others)}."


def _call(
    function: str, asked: Asked, *names: str, with_request: bool = False, **members: str
) -> Iterator[str]:
    """A Python call with the store, and with what the question was asked with."""
    facts = [*asked.more_facts, asked.facts_file] if asked.more_facts else asked.facts_file
    files: dict[str, Any] = {"facts": facts, "policy": asked.policy_file}
    if with_request:
        files |= {"request": asked.request, "fleet": asked.option("--fleet")}
    given = {name: value for name, value in files.items() if value is not None}
    first = ", ".join([asked.opened, *(plain(repr(str(name))) for name in names)])
    yield f"  {function}({first},"
    yield from (f"      {name}={plain(repr(value))}," for name, value in given.items())
    yield f"      {', '.join(f'{name}={value!r}' for name, value in members.items())})"


def _where_to_write(needs: Sequence[Mapping[str, Any]], asked: Asked, file: str) -> Iterator[str]:
    if all(need["kind"] == "outcome" for need in needs):
        yield f"Or, only if it happened, {'add that to' if asked.facts else 'write it into'} {plain(file)}:"
    elif asked.facts is None:
        yield f"Write what you found into a facts file, say {plain(file)}:"
    else:
        yield f"Add what you found to {plain(file)}, or change there what it already says of it:"
        if asked.facts.get("owners") and any(need["kind"] == "probe" for need in needs):
            yield "(leave owners as they are: a later time of death makes the wait longer)"


_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")


def _with_distance(text: str, now: str) -> tuple[str, str | None]:
    """`text` with the distance behind each time that is to come, and the last of these."""
    later = None
    for time in dict.fromkeys(_TIME.findall(text)):
        if parse_time(time) > parse_time(now):
            later = f"{short(time, up=True)} ({when(time, parse_time(now))})"
            text = text.replace(time, later)
    return text, later


def _skeleton(
    document: Mapping[str, Any], needs: Sequence[Mapping[str, Any]], given: Mapping[str, Any] | None
) -> list[str]:
    return plain_lines(json.dumps(facts_to_fill_in(document, needs, given), indent=2, ensure_ascii=False))


def _planned(document: Mapping[str, Any], screen: Screen) -> str:
    return "" if _is_idle(document) else plan_text(document, screen)


def _is_idle(document: Mapping[str, Any]) -> bool:
    """Whether nothing is to be done and nobody asked to look."""
    return bool(document["verdict"] == "no_op" and document["goal"] != "inspect")


def _basis(document: Mapping[str, Any], asked: Asked, screen: Screen) -> Iterator[str]:
    yield ""
    if document["notChecked"] and not _is_idle(document):
        unchecked = "; ".join(map(plain, document["notChecked"]))
        lines = screen.prose(unchecked, "not checked: ")
        if "facts." in unchecked:
            hint = "facts are given with --facts FILE; safepoint schema facts --example shows their form"
            lines += screen.prose(hint, " " * len("not checked: "))
        yield from (screen.paint(line, "dim") for line in lines)
    basis = document["basis"]
    head = basis["journal"]
    if (asked.facts or {}).get("ledgerComplete") is True and head["sequence"] is None:
        claim = "the facts' word that every effect which was ever begun has a ledger record here"
        yield from (screen.paint(line, "yellow") for line in screen.prose(claim, "rests on "))
    stands = (
        f"journal record {head['sequence']} ({head['digest'][:19]}…)"
        if head["sequence"]
        else "records without order"
    )
    epoch = f"epoch {basis['leaseEpoch']}" if basis["leaseEpoch"] else "no lease"
    until = f"; valid until {short(document['validUntil'])}" if document["validUntil"] else ""
    if any(reason["code"] == "SP717" for reason in document["reasons"]):
        stands, epoch = "deleted.json alone", "no records"
    elif digest := basis.get("anchorDigest"):
        epoch += f", and {plain(asked.anchor or 'an anchor')} ({digest[:19]}…)"
    lines = screen.prose(f"{stands}, {epoch}{until}", "stands on ")
    yield from (screen.paint(line, "dim") for line in lines)
