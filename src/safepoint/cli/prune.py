"""``safepoint prune``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.changes import (
    STATUSES,
    closed_before_option,
    dry_run_option,
    moment_before,
    opened,
    report,
    runs_option,
)
from safepoint.cli.console import LOCATION, Command, format_option, storage_option
from safepoint.upkeep.prune import prune


@click.command(
    cls=Command,
    examples=[
        "safepoint prune ./store --closed-before 90d --by ops@example.org --dry-run",
        "safepoint prune gs://bucket/store --closed-before 2026-01-01T00:00:00Z --by ops --reason 'retention: a year'",
    ],
    statuses={0: "done, or nothing to do", **STATUSES},
)
@click.argument("store", type=LOCATION)
@closed_before_option(required=True)
@runs_option
@click.option("--by", required=True, metavar="WHO", help="Who deletes; kept.")
@click.option("--reason", metavar="TEXT", help="Why; kept.")
@dry_run_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    closed_before: str,
    runs: tuple[str, ...],
    by: str,
    reason: str | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Delete runs of STORE that were closed long ago, for good: records and artifacts.

    A run is closed once it is completed, cancelled or sealed and nothing of it is open. Of each only deleted.json is
    left, which says who deleted it, when and why, so that no run of that id can begin again. Left as they are: runs
    that failed, since they may go on; runs with an effect in doubt; runs that cannot be read or are not sound; and
    parents of runs that are not closed, or may have a child in what cannot be read. A deletion that was interrupted is
    finished, if what is left is what deleted.json speaks of.
    """
    now = api.moment_of(None)
    before = moment_before(closed_before, now)
    with opened(ctx, store, storage) as place:
        changes = prune(
            place, closed_before=before, now=now, by=by, reason=reason, runs=runs, dry_run=dry_run
        )
        try:
            status = report("prune", place, changes, output_format, dry_run=dry_run, named=bool(runs))
        except ValueError as error:
            raise click.UsageError(f"--{error}") from error
        ctx.exit(status)
