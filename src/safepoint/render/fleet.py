"""Decisions of many runs: a line for each, what they come to together, and how the fleet fares (SPEC.md#fleet).

Decided here: order and words. The input are ``decision`` documents and the ``fleet`` of facts; what is too much for a
line, `safepoint guard STORE --run RUN` says of one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from safepoint.render.decision import VERDICTS
from safepoint.render.overview import STATE_STYLES, short
from safepoint.render.plan import do_word
from safepoint.render.terminal import Cell, Screen, count, plain

HEADINGS = ("run", "state", "verdict", "not before", "why")

UNREADABLE = "unreadable"

_CODES = 3
"""How many codes a line names."""


def row(
    run_id: str,
    state: str,
    decision: Mapping[str, Any] | None,
    problem: str,
    name_of: Callable[[str], str],
) -> list[Cell]:
    """The line of one run.

    Args:
        run_id: which run.
        state: as ``safepoint runs`` says it.
        decision: its ``decision`` document; None: nothing of it could be read.
        problem: why it, or a part of it, could not be read.
        name_of: a code in words.
    """
    if decision is None:
        return [run_id, (state, STATE_STYLES[state]), ("-", "bold red"), "", problem]
    verdict = decision["verdict"]
    why = _plan(decision["plan"]) if verdict == "resume" else _codes(decision, name_of)
    until = short(decision["notBefore"], up=True) if decision["notBefore"] else ""
    said = f"{why}; {problem}" if problem else why
    return [run_id, (state, STATE_STYLES[state]), (verdict, VERDICTS[verdict][0]), until, said]


def decisive(decision: Mapping[str, Any]) -> list[str]:
    """The codes that the verdict rests on, each once."""
    return list(dict.fromkeys(r["code"] for r in decision["reasons"] if r["verdict"] == decision["verdict"]))


def _codes(decision: Mapping[str, Any], name_of: Callable[[str], str]) -> str:
    codes = decisive(decision)
    more = f" and {len(codes) - _CODES} more" if len(codes) > _CODES else ""
    return ", ".join(f"{code} {name_of(code)}" for code in codes[:_CODES]) + more


def _plan(plan: Sequence[Mapping[str, Any]]) -> str:
    """What is to be done, by number: of a run that may go on nobody asks why."""
    does = Counter(item["do"] for item in plan)
    return ", ".join(f"{do_word(do)} {number}" for do, number in does.items())


def summary_text(
    verdicts: Mapping[str, int],
    reasons: Mapping[str, int],
    unreadable: int,
    looked_at: int,
    name_of: Callable[[str], str],
    screen: Screen,
) -> str:
    """How many runs have which verdict, and which codes the verdicts rest on.

    Args:
        verdicts: decisions by verdict.
        reasons: runs by each code that their verdict rests on.
        unreadable: runs of which something could not be read.
        looked_at: runs that were looked at, also those that are not told of.
        name_of: a code in words.
        screen: where it goes.
    """
    told = sum(verdicts.values())
    said = [
        f"{verdicts[name]:,} {screen.paint(name, VERDICTS[name][0])}"
        for name in VERDICTS
        if verdicts.get(name)
    ]
    if unreadable:
        said.append(f"{unreadable:,} {screen.paint(UNREADABLE, 'bold red')}")
    of_all = f" of {looked_at:,}" if looked_at > told + unreadable else ""
    lines = [f"{count(told, 'decision')}{of_all}: {', '.join(said) or 'none'}"]
    by_number = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    if by_number:
        lines += ["", screen.paint("runs by reason", "bold")]
    lines += [f"  {number:>7,}  {code} {name_of(code)}" for code, number in by_number]
    lines += [""] if by_number else []
    return "\n".join(lines) + "\n"


def fleet_text(fleet: Mapping[str, Any], room: int | None, screen: Screen) -> str:
    """How the fleet fares: its breakers, and how much of it recovers."""
    return "\n".join(_fleet(fleet, room, screen)) + "\n"


def _fleet(fleet: Mapping[str, Any], room: int | None, screen: Screen) -> Iterator[str]:
    if room is None:
        yield from screen.prose("it is not said how many runs started and recovered", "fleet: ")
    else:
        hour, recent = fleet["recoveriesLastHour"], fleet["recoveriesLastTenMinutes"]
        recoveries = "1 recovery" if hour == 1 else f"{hour:,} recoveries"
        yield from screen.prose(
            f"{recoveries} for {count(fleet['startsLastHour'], 'start')} in the last hour, {recent:,} in the "
            f"last ten minutes; {_room(room)}",
            "fleet: ",
        )
    breakers = [breaker for breaker in fleet.get("breakers") or () if breaker["state"] != "closed"]
    if not breakers:
        yield "breakers: none is open"
    for breaker in breakers:
        yield f"breaker {_state(breaker, screen)}: {_whose(breaker)}"


def _room(room: int) -> str:
    if not room:
        return "no other may begin now"
    return (
        f"{'1 more may begin' if room == 1 else f'{room:,} more may begin'} before the ratio holds others up"
    )


def _state(breaker: Mapping[str, Any], screen: Screen) -> str:
    if breaker["state"] == "open":
        until = f" until {short(breaker['until'], up=True)}" if breaker.get("until") else ""
        return screen.paint(f"open{until}", "bold yellow")
    trial = breaker.get("trialRunId")
    which = f"its trial is {plain(trial)}" if trial else "no run can be its trial"
    return f"{screen.paint('half open', 'bold yellow')}, {which}"


def _whose(breaker: Mapping[str, Any]) -> str:
    parts = (
        ("workflow", breaker.get("workflow")),
        ("code", breaker.get("codeDigest")),
        ("failure", breaker.get("failureSignature")),
    )
    return ", ".join(f"{what} {_brief(str(value)) if value is not None else 'any'}" for what, value in parts)


def _brief(text: str) -> str:
    return f"{text[:19]}…" if text.startswith("sha256:") else plain(text)
