"""``safepoint unpack``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.changes import STATUSES, dry_run_option, opened, report, runs_option
from safepoint.cli.console import LOCATION, Command, format_option, storage_option
from safepoint.upkeep.pack import unpack


@click.command(
    cls=Command,
    examples=["safepoint unpack ./store --run run_123"],
    statuses={0: "done, or nothing to do", **STATUSES},
)
@click.argument("store", type=LOCATION)
@runs_option
@dry_run_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    runs: tuple[str, ...],
    output_format: str,
    storage: dict[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Make objects again of the records of packed runs of STORE, byte for byte.

    For what needs them: a retraction, evidence that comes late. The files are removed once all objects were read back.
    Do not pack and unpack one run at the same time.
    """
    if not runs:
        raise click.UsageError("say which runs with --run RUN")
    with opened(ctx, store, storage) as place:
        changes = unpack(place, runs, now=api.moment_of(None), dry_run=dry_run)
        ctx.exit(report("unpack", place, changes, output_format, dry_run=dry_run, named=True))
