"""``safepoint pack``."""

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
from safepoint.upkeep.pack import pack


@click.command(
    cls=Command,
    examples=[
        "safepoint pack ./store --closed-before 7d --dry-run",
        "safepoint pack s3://bucket/store --closed-before 7d",
        "safepoint pack ./store --run run_123 --keep-objects",
    ],
    statuses={0: "done, or nothing to do", **STATUSES},
)
@click.argument("store", type=LOCATION)
@runs_option
@closed_before_option(required=False)
@click.option("--keep-objects", is_flag=True, help="Write the files, and leave the objects too.")
@dry_run_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    runs: tuple[str, ...],
    closed_before: str | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    keep_objects: bool,
    dry_run: bool,
) -> None:
    """Keep closed runs of STORE in two files each, instead of one object for each record.

    Say which runs: --closed-before TIME for all that are old enough, --run RUN for some by name, or both.

    A run is closed once it is completed, cancelled or sealed and nothing of it is open. Its records become the lines of
    journal.jsonl and recovery.jsonl, byte for byte; their objects are removed once the lines were read back. Artifacts
    stay. It validates as before, and the guard judges it as before; nothing can be added to it until it is unpacked.
    Do not pack and unpack one run at the same time.
    """
    if not runs and closed_before is None:
        raise click.UsageError("say which runs: --closed-before TIME, --run RUN, or both")
    now = api.moment_of(None)
    before = None if closed_before is None else moment_before(closed_before, now)
    with opened(ctx, store, storage) as place:
        changes = pack(
            place, now=now, runs=runs, closed_before=before, keep_objects=keep_objects, dry_run=dry_run
        )
        ctx.exit(report("pack", place, changes, output_format, dry_run=dry_run, named=bool(runs)))
