"""``safepoint guard --all``: every run of a store, judged.

Decided here: its options, what each stream gets, and the exit status. Not decided here: the decisions (``api``) and how
they are printed (``render.fleet``).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from safepoint import api
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    given_options,
    note,
    one_store,
    screen,
    storage_words,
    write,
)
from safepoint.cli.output import write_file
from safepoint.core.timestamp import parse_time
from safepoint.reader.fleets import facts_of, load_fleet, with_fleet
from safepoint.reader.merging import load_facts
from safepoint.render.asked import Asked
from safepoint.render.decision import VERDICTS
from safepoint.render.fleet import HEADINGS, fleet_text, row, summary_text
from safepoint.render.overview import STATE_STYLES
from safepoint.render.terminal import to_json
from safepoint.rules.catalogue import name_of

if TYPE_CHECKING:
    from safepoint.judging.fleet import Judged, Judging

_Command = TypeVar("_Command", bound=Callable[..., Any])

ACTION = frozenset({"reconcile", "compensate", "hand_over"})
"""Verdicts that somebody has to act on. A run that is over (`no_op`, `give_up`) needs nothing."""

_ALLOCATIONS = 100_000
"""Containers that may be made before unreachable ones are looked for."""

_ROWS = 1000
"""Lines of one table: its columns are as wide as these need, and no more runs are in memory."""

_ALONE = (
    "run_id",
    "request",
    "goal",
    "checkpoint",
    "step",
    "epoch",
    "actor",
    "check",
    "record",
    "holder",
    "failure_of",
    "failure_evidence",
    "anchor",
)
"""Options of a question about one run."""

_TOGETHER = ("states", "workflows", "verdicts", "fleet_output")
"""Options of a question about all."""


def guard_format_option(command: _Command) -> _Command:
    """``--format text|json|jsonl``."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json", "jsonl"]),
        default="text",
        show_default=True,
        help="Output format; jsonl is a decision document a line.",
    )(command)


def fleet_options(command: _Command) -> _Command:
    """``--all`` and what goes with it, and ``--fleet``, which is for one run as well."""
    options = (
        click.option(
            "--all",
            "every",
            is_flag=True,
            help="Judge every run, each read once, and tell from all of them how the fleet fares.",
        ),
        click.option(
            "--state",
            "states",
            multiple=True,
            metavar="STATE",
            type=click.Choice(list(STATE_STYLES)),
            help="With --all: tell only of runs in this state, as `safepoint runs` says it. Repeatable.",
        ),
        click.option(
            "--workflow",
            "workflows",
            multiple=True,
            metavar="NAME",
            help="With --all: tell only of runs of this workflow. Repeatable.",
        ),
        click.option(
            "--verdict",
            "verdicts",
            multiple=True,
            metavar="VERDICT",
            type=click.Choice(list(VERDICTS)),
            help="With --all: tell only of runs with this verdict. Repeatable.",
        ),
        click.option(
            "--fleet-output",
            type=LOCATION,
            metavar="FILE",
            help="With --all: also write how the fleet fares to FILE, for --fleet.",
        ),
        click.option(
            "--fleet",
            type=LOCATION,
            metavar="FILE",
            help="How the fleet fares, as --fleet-output wrote it; it counts as the facts' member of that name.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was given with ``--all``."""

    states: tuple[str, ...]
    workflows: tuple[str, ...]
    verdicts: tuple[str, ...]
    fleet_output: str | None


def require_one_kind(ctx: click.Context, *, every: bool) -> None:
    """Refuses options of a question about one run in one about all, and the other way round."""
    odd = _ALONE if every else _TOGETHER
    given = [
        param.opts[0]
        for param in ctx.command.params
        if isinstance(param, click.Option) and param.name in odd and ctx.params.get(param.name)
    ]
    if given and every:
        raise click.UsageError(f"{given[0]} is for one run; leave it out, or --all.")
    if given:
        raise click.UsageError(f"{given[0]} is for all runs; add --all.")


def facts_with_fleet(
    run_id: str | None, facts: Mapping[str, Any] | None, file: str | None, storage: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The facts of one run, with how the fleet fares where ``--fleet`` names a file."""
    if file is None:
        return facts
    whose = run_id if run_id is not None else (facts or {}).get("runId")
    if whose is None:
        raise click.UsageError("--fleet: say which run is meant with --run.")
    fleet = load_fleet(file, storage)
    return with_fleet(facts_of(str(whose), facts, parse_time(fleet["observedAt"])), fleet)


def judge_all(
    ctx: click.Context,
    opened: api.Store,
    question: Mapping[str, Any],
    wanted: Wanted,
    output_format: str,
) -> NoReturn:
    """Tells of every run, and ends with the status of them all.

    Args:
        ctx: of the command.
        opened: the store.
        question: arguments of `api.guard_all`, but for which runs are told of.
        wanted: which these are, and where the fleet's state goes.
        output_format: ``text``, ``json`` or ``jsonl``.
    """
    gc.set_threshold(_ALLOCATIONS)
    judging = api.guard_all(
        opened, states=wanted.states, workflows=wanted.workflows, verdicts=wanted.verdicts, **question
    )
    with one_store(ctx):
        if output_format == "text":
            _as_text(judging, lambda run_id: _closer(ctx, opened, run_id))
        else:
            (_as_json if output_format == "json" else _as_lines)(judging)
    if not judging.runs:
        raise CannotEvaluate(f"{opened.url}: no run was found; name a store, or a folder that holds records")
    if wanted.fleet_output is not None:
        write_file(wanted.fleet_output, to_json(judging.seen_fleet), "the fleet's state")
    if judging.unmet:
        named = ", ".join(map(repr, sorted(judging.unmet)[:5]))
        raise CannotEvaluate(f"{opened.url}: facts were given of runs that it does not hold: {named}")
    acts = any(judging.verdicts[verdict] for verdict in ACTION)
    ctx.exit(3 if judging.unreadable else 1 if acts else 0)


def _as_text(judging: Judging, closer: Callable[[str], str]) -> None:
    paper, first = screen(), None
    while block := list(islice(judging, _ROWS)):
        write(paper.table(HEADINGS, [_row(judged) for judged in block], indent=""))
        acts = (judged.run_id for judged in block if _acts(judged))
        first = first or next(acts, None)
        write("\n")
    if first is not None:
        write(f"look closer:  {closer(first)}\n\n")
    write(_summary(judging, screen()))


def _acts(judged: Judged) -> bool:
    return judged.decision is not None and judged.decision.verdict in ACTION


def _closer(ctx: click.Context, opened: api.Store, run_id: str) -> str:
    """The command that tells of one run, with those of the facts that are about it."""
    storage = ctx.params["storage"]
    about = [
        file for file in ctx.params["facts"] if (load_facts((file,), storage) or {}).get("runId") == run_id
    ]
    words = given_options(ctx, leave_out={*_TOGETHER, "every", "facts", "now", "output_format", "storage"})
    facts = (word for file in about for word in ("--facts", file))
    asked = Asked(opened.url, storage_words=tuple(storage_words(storage)))
    return asked.command("guard", run_id, *words, *facts)


def _row(judged: Judged) -> list[Any]:
    document = judged.decision.document() if judged.decision else None
    return row(judged.run_id, judged.state, document, judged.problem, name_of)


def _summary(judging: Judging, paper: Any) -> str:
    text = summary_text(judging.verdicts, judging.reasons, judging.unreadable, judging.runs, name_of, paper)
    return text + fleet_text(judging.fleet or {}, judging.room, paper)


def _as_lines(judging: Judging) -> None:
    for judged in judging:
        write(to_json(_document(judged), indent=False))
    note(_summary(judging, screen(error_stream=True)).rstrip("\n"))


def _document(judged: Judged) -> dict[str, Any]:
    """The decision document; of a run without one what is known of it."""
    if judged.decision is not None:
        return judged.decision.document()
    return {"runId": judged.run_id, "unreadable": judged.problem}


def _as_json(judging: Judging) -> None:
    """One object, a decision a line: however many there are, one is in memory at a time."""
    unreadable: list[dict[str, str]] = []
    write('{"decisions": [')
    try:
        for piece in _decisions(judging, unreadable):
            write(piece)
    finally:
        # whatever broke off, what was told is whole JSON; the exit status says the rest
        last = {
            "unreadable": unreadable,
            "counts": {
                "runs": judging.runs,
                "verdicts": {name: judging.verdicts[name] for name in VERDICTS},
                "reasons": dict(sorted(judging.reasons.items())),
                "unreadable": judging.unreadable,
                "mayBeginRecovering": judging.room,
            },
            "fleet": judging.fleet,
        }
        write(b"\n],\n" + to_json(last).removeprefix(b"{\n"))


def _decisions(judging: Judging, unreadable: list[dict[str, str]]) -> Iterator[bytes]:
    comma = b"\n"
    for judged in judging:
        if judged.problem:
            unreadable.append({"runId": judged.run_id, "problem": judged.problem})
        if judged.decision is not None:
            yield comma + to_json(judged.decision.document(), indent=False).rstrip(b"\n")
            comma = b",\n"
