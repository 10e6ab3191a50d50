"""``safepoint cancel``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from safepoint.cli.answering import (
    STATUSES,
    asked_of,
    by_option,
    dry_run_option,
    reason_option,
    refusals,
    same_again,
    say,
)
from safepoint.cli.asking import facts_option, policy_option
from safepoint.cli.changes import opened
from safepoint.cli.console import (
    LOCATION,
    Command,
    format_option,
    named_run,
    run_option,
    storage_option,
)
from safepoint.core.timestamp import format_time
from safepoint.reader.merging import load_facts
from safepoint.recorder import Ending, cancel_run
from safepoint.render.asked import Asked
from safepoint.render.overview import short
from safepoint.render.terminal import plain


@click.command(
    cls=Command,
    examples=[
        "safepoint cancel ./store --run run_123 --by ann --reason 'customer left'",
        "safepoint cancel ./store --run run_123 --by ann --facts facts.json --dry-run",
    ],
    statuses={
        **STATUSES,
        0: "the run is cancelled, or asked to stop and its worker will see to it; with --dry-run, would be",
        1: "refused, or asked to stop and not ended: the output says what has to be settled first",
    },
)
@click.argument("store", type=LOCATION)
@run_option
@by_option
@reason_option
@facts_option
@policy_option
@dry_run_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    by: str,
    reason: str | None,
    facts: tuple[str, ...],
    policy: str | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Stop a run of STORE for good.

    Records the wish first: a worker that lives attempts nothing new, settles what is open, and ends the run. Where
    its lease has lapsed or was given back, or --facts prove it dead, and no effect is open, the end is recorded too,
    and prune may delete the run in time. A run whose worker may live is never ended from outside.
    """
    with opened(ctx, store, storage) as place:
        named = named_run(ctx, place, run_id, deleted=False)
        known = load_facts(facts, storage)
        asked = asked_of(place, storage, facts=facts, known=known, policy=policy)
        with refusals(ctx, named, asked):
            done = cancel_run(place, named, by=by, reason=reason, facts=known, policy=policy, dry_run=dry_run)
    say(
        ctx,
        named,
        done.written,
        asked,
        dry_run=dry_run,
        output_format=output_format,
        lines=[*_left(ctx, named, done, asked, dry_run=dry_run)],
        ended=done.ended,
        unsettled=list(done.unsettled),
        toUndo=list(done.to_undo),
        ownerMayLiveUntil=None if done.lapses_at is None else format_time(done.lapses_at),
        stillAsked=list(done.asked),
    )
    ctx.exit(0 if done.ended or not (done.unsettled or done.to_undo) else 1)


def _left(ctx: click.Context, run_id: str, done: Ending, asked: Asked, *, dry_run: bool) -> Iterator[str]:
    """What is left to do."""
    not_ended = "it would not be ended" if dry_run else "not ended"
    again = same_again(ctx, leave_out={"dry_run"})
    if done.ended and not done.written:
        yield "nothing to do: the run is cancelled already"
    if done.alive:
        codes = ", ".join(dict.fromkeys(reason.code for reason in done.alive))
        until = "" if done.lapses_at is None else f" until {short(format_time(done.lapses_at), up=True)}"
        yield f"its worker may live{until} ({codes}): it stops and ends the run itself; if it does not, then ask again:"
        yield again
    if done.unsettled:
        yield f"{not_ended}: say first what became of {plain(', '.join(done.unsettled))}:"
        said = replace(asked, outcomes=done.unsettled)
        for action, possible in done.unsettled.items():
            undo = asked.command("guard", run_id, "--goal", "unwind")
            yield f"  {said.resolve(run_id, action) if possible else undo}"
        yield "and then end it:"
        yield again
    if done.to_undo:
        yield f"{not_ended}: a roll-back has begun, and has still to undo {plain(', '.join(done.to_undo))}; how:"
        yield f"  {asked.command('guard', run_id, '--goal', 'unwind')}"
    for approval in done.asked:
        yield f"{plain(approval)} is still asked for, which keeps prune from the run; take the question back:"
        yield f"  {asked.command('reject', run_id, '--approval', approval, '--by', 'FILL IN: you')}"
    if dry_run and done.ended:
        return
    yield "now ask the guard:" if done.ended else "what the guard says:"
    yield f"  {asked.again(run_id, asked.facts_file)}"
