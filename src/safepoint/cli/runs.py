"""``safepoint runs``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    format_option,
    now_option,
    one_store,
    screen,
    storage_option,
    storage_words,
    write,
)
from safepoint.policy import Policy
from safepoint.render.overview import overview, runs_json, runs_text


@click.command(
    cls=Command,
    examples=["safepoint runs ./store", "safepoint runs gs://bucket/store --format json"],
    statuses={0: "the runs are listed", 3: "the store could not be read, or holds no run"},
)
@click.argument("store", type=LOCATION)
@format_option
@now_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context, store: str, output_format: str, now: int | None, storage: dict[str, Any]
) -> None:
    """The runs of STORE, a path or an fsspec URL, and the state of each.

    A run is running while its owner's last sign of life is younger than its lease, interrupted when the
    lease lapsed and nothing says that it ended, waiting while a human has not answered; without a lease
    nobody can tell (unknown).
    """
    opened, moment, skew = api.open_store(store, **storage), api.moment_of(now), Policy().skew
    with one_store(ctx):
        runs = [
            overview(found.run, len(api.findings_of(found)), moment, skew)
            for found in api.scan_store(opened)
            if found.run is not None
        ]
    if not runs:
        raise CannotEvaluate(f"{opened.url}: no run was found; name a store, or a folder that holds records")
    if output_format == "json":
        write(runs_json(runs))
    else:
        write(runs_text(opened.url, runs, moment, screen(), options=storage_words(storage)))
