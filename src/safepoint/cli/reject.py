"""``safepoint reject``."""

from __future__ import annotations

from typing import Any

import click

from safepoint.cli.answering import (
    STATUSES,
    approval_options,
    asked_of,
    by_option,
    dry_run_option,
    named_question,
    reason_option,
    refusals,
    say,
)
from safepoint.cli.changes import opened
from safepoint.cli.console import (
    LOCATION,
    Command,
    format_option,
    named_run,
    run_option,
    storage_option,
)
from safepoint.recorder import reject


@click.command(
    cls=Command,
    examples=[
        "safepoint reject ./store --run run_123 --approval ap_1 --by ann --reason 'wrong amount'",
        "safepoint reject ./store --run run_123 --action pay_1 --by ann",
    ],
    statuses=STATUSES,
    groups={
        "What is refused": ["run_id", "approval", "action", "checkpoint"],
        "The answer": ["by", "reason", "dry_run"],
    },
)
@click.argument("store", type=LOCATION)
@run_option
@approval_options
@by_option
@reason_option
@dry_run_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    approval: str | None,
    action: str | None,
    checkpoint: str | None,
    by: str,
    reason: str | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Say no to what a run of STORE waits for, or take a yes back.

    A question that waits is rejected. One that was granted is revoked, as long as the yes is not spent. Anybody may,
    whoever was asked. The guard then hands the run over, until somebody approves anew or gives the action up.
    """
    with opened(ctx, store, storage) as place:
        named = named_run(ctx, place, run_id, deleted=False)
        asked = asked_of(place, storage)
        with refusals(ctx, named, asked):
            about = named_question(ctx, place, named, asked, approval, action, checkpoint)
            written = reject(place, named, by=by, **about, reason=reason, dry_run=dry_run)
    say(ctx, named, written, asked, dry_run=dry_run, output_format=output_format)
