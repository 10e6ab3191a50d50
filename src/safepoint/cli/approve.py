"""``safepoint approve``."""

from __future__ import annotations

from typing import Any

import click

from safepoint.cli.answering import (
    STATUSES,
    approval_options,
    asked_of,
    by_option,
    dry_run_option,
    duration,
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
from safepoint.recorder import approve


@click.command(
    cls=Command,
    examples=[
        "safepoint approve ./store --run run_123 --approval ap_1 --by ann",
        "safepoint approve ./store --run run_123 --action pay_1 --by ann --expires 2h --reason 'checked'",
    ],
    statuses=STATUSES,
    groups={
        "What is approved": ["run_id", "approval", "action", "checkpoint"],
        "The answer": ["by", "reason", "expires", "content_digest", "roll_back_to", "dry_run"],
    },
)
@click.argument("store", type=LOCATION)
@run_option
@approval_options
@by_option
@reason_option
@click.option(
    "--expires",
    metavar="DURATION",
    help="For how long the yes holds, such as 45min, 12h or 7d, but never longer than the question; "
    "default: as the question says, a new one for 24h.",
)
@click.option(
    "--content-digest",
    metavar="DIGEST",
    help="Digest of what you saw; refused where something else would be executed.",
)
@click.option(
    "--roll-back-to",
    metavar="CHECKPOINT",
    help="The yes is for a roll-back to this checkpoint, and for no other.",
)
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
    expires: str | None,
    content_digest: str | None,
    roll_back_to: str | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Say yes to what a run of STORE waits for.

    --approval answers that question. --action and --checkpoint answer the question about it that waits; where that
    was refused, taken back or used up, has expired, or was for another content or branch, they ask anew and answer at
    once. So they do at a human gate that nobody was asked about. Whoever was asked by name must answer.

    A yes is bound to what will be executed, and the guard is asked beforehand: a yes that would not count is refused.
    """
    seconds = duration(expires)
    with opened(ctx, store, storage) as place:
        named = named_run(ctx, place, run_id, deleted=False)
        asked = asked_of(place, storage)
        with refusals(ctx, named, asked):
            about = named_question(ctx, place, named, asked, approval, action, checkpoint)
            written = approve(
                place,
                named,
                by=by,
                **about,
                reason=reason,
                expires_seconds=seconds,
                content_digest=content_digest,
                roll_back_to=roll_back_to,
                dry_run=dry_run,
            )
    say(ctx, named, written, asked, dry_run=dry_run, output_format=output_format)
