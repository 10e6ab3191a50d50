"""``safepoint resolve``."""

from __future__ import annotations

from typing import Any, get_args

import click

from safepoint.cli.answering import (
    STATUSES,
    asked_of,
    by_option,
    dry_run_option,
    reason_option,
    refusals,
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
from safepoint.reader.merging import load_facts
from safepoint.recorder import resolve_action
from safepoint.recorder.evidence import Outcome


@click.command(
    cls=Command,
    examples=[
        "safepoint resolve ./store --run run_123 --action send_1 --as committed --by ann --evidence ticket-7",
        "safepoint resolve ./store --run run_123 --action send_1 --as failed --by ann --facts facts.json --dry-run",
    ],
    statuses=STATUSES,
    groups={
        "The answer": ["run_id", "action", "outcome", "by", "evidence", "reason"],
        "What it is checked with": ["facts", "policy", "dry_run"],
    },
)
@click.argument("store", type=LOCATION)
@run_option
@click.option("--action", required=True, metavar="ID", help="The effect, by its actionId.")
@click.option(
    "--as",
    "outcome",
    required=True,
    type=click.Choice(get_args(Outcome)),
    help="What became of it: see above.",
)
@by_option
@click.option(
    "--evidence", metavar="REF", help="Where that can be looked up: a ticket, a link, the provider's id."
)
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
    action: str,
    outcome: Outcome,
    by: str,
    evidence: str | None,
    reason: str | None,
    facts: tuple[str, ...],
    policy: str | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Say what became of an effect of a run of STORE, where nobody could tell.

    \b
    committed  it happened; the run goes on without doing it again
    failed     it did not happen, and never will; it may be tried again
    abandoned  nobody will ever know; the run goes on only under a policy
               with abandonedMaySkip
    cancelled  what was planned, or has failed, is given up; the run goes on
               without it

    All but committed is refused while the run's worker may be alive, as it could still do what they deny. For failed
    a lapsed lease is no proof of its death: a call may outlast it. Say in --facts how it is known to be dead.
    """  # noqa: D301 - click takes the backspace for a block that is not wrapped
    with opened(ctx, store, storage) as place:
        named = named_run(ctx, place, run_id, deleted=False)
        known = load_facts(facts, storage)
        asked = asked_of(place, storage, facts=facts, known=known, policy=policy)
        with refusals(ctx, named, asked):
            written = resolve_action(
                place,
                named,
                action,
                outcome=outcome,
                by=by,
                evidence=evidence,
                reason=reason,
                facts=known,
                policy=policy,
                dry_run=dry_run,
            )
    say(ctx, named, written, asked, dry_run=dry_run, output_format=output_format)
