"""``safepoint repair``."""

from __future__ import annotations

from typing import Any

import click

from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    format_option,
    note,
    one_store,
    screen,
    storage_option,
    write,
)
from safepoint.reader.stores import require_one
from safepoint.render.findings import finding_document, finding_text
from safepoint.render.repair import objects_text, summary_text
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue, to_finding
from safepoint.store import Store, open_store
from safepoint.store.copying import absolute
from safepoint.upkeep.repair import RepairReport, repair_store

SHOWN = 20
"""Reasons to write nothing that text shows."""


@click.command(
    cls=Command,
    examples=[
        "safepoint repair ./store --dry-run",
        "safepoint repair ./store --output ./store-repaired",
        "safepoint repair s3://agents/safepoint --output s3://agents-rescue/safepoint",
    ],
    statuses={
        0: "the copy is whole, and nothing had to be set aside",
        1: "the copy is whole, and something was set aside",
        2: "the command was used wrongly",
        3: "something could not be read or written: there is no copy, or only a part of one",
    },
)
@click.argument("source", type=LOCATION)
@click.option(
    "--output",
    type=LOCATION,
    metavar="COPY",
    help="Where to write: an empty place, or a part of this repair.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--leave-unreadable", is_flag=True, help="Go on without what cannot be read; the copy says what it lacks."
)
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    *,
    output: str | None,
    dry_run: bool,
    leave_unreadable: bool,
    output_format: str,
    storage: dict[str, Any],
) -> None:
    """A copy of SOURCE, a damaged store or folder, that holds what is sound; the source is never changed.

    What is not sound, and what lies behind a break of its log, is set aside in COPY/quarantine byte for byte. The guard
    hands a run over that lost something so, and never resumes it. COPY/repair.jsonl says what became of each object.
    A repair that was interrupted goes on when it is called again. Stop the writers of SOURCE first.
    """
    if output is None and not dry_run:
        raise click.UsageError("name a new place for the copy with --output, or look first with --dry-run.")
    store = open_store(source, **storage)
    target = None if output is None else open_store(output, **storage)
    with one_store(ctx):
        require_one(store)
    result = repair_store(store, target, leave_unreadable=leave_unreadable, dry_run=dry_run)
    if not result.faults and not result.fates:
        raise CannotEvaluate(f"{store.url}: nothing is there to be repaired; name a store that holds records")
    if output_format == "json":
        write(to_json(_document(result, store, target, dry_run=dry_run)))
    else:
        _text(result, target, dry_run=dry_run)
    ctx.exit(3 if not result.done else int(bool(result.set_aside)))


def _text(result: RepairReport, target: Store | None, *, dry_run: bool) -> None:
    write(objects_text([fate.document() for fate in result.set_aside], catalogue.name_of, screen()))
    beside = screen(error_stream=True)
    for fault in result.faults[:SHOWN]:
        note(finding_text(to_finding(fault, None), catalogue.name_of(fault.code), beside))
    if len(result.faults) > SHOWN:
        note(f"and {len(result.faults) - SHOWN:,} more")
    if any(fate.problem for fate in result.fates) and not result.done:
        note("make them readable, or go on without them with --leave-unreadable")
    place = target.url_of(result.names.report) if target is not None else result.names.report
    runs = result.runs
    note(summary_text(result.totals, runs, done=result.done, dry_run=dry_run, report=place, screen=beside))


def _document(result: RepairReport, source: Store, target: Store | None, *, dry_run: bool) -> dict[str, Any]:
    return {
        "done": result.done,
        "dryRun": dry_run,
        "source": absolute(source.url),
        "copy": None if target is None else absolute(target.url),
        "totals": dict(result.totals),
        "runs": list(result.runs),
        "report": result.names.report,
        "objects": [fate.document() for fate in result.fates],
        "findings": [
            finding_document(to_finding(fault, None), catalogue.name_of(fault.code))
            for fault in result.faults
        ],
    }
