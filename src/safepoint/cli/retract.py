"""``safepoint retract``."""

from __future__ import annotations

from typing import Any

import click

from safepoint.cli.changes import dry_run_option, opened
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    format_option,
    named_run,
    note,
    run_option,
    screen,
    storage_option,
    write,
)
from safepoint.recorder.errors import PutAway, RecorderError, Unclear
from safepoint.render.upkeep import retraction_json, retraction_text
from safepoint.upkeep.retract import NotRetractedError, retract


@click.command(
    cls=Command,
    examples=[
        "safepoint retract ./store --run run_123 --checkpoint cp_03 --by ann --reason 'wrong customer'",
        "safepoint retract ./store --run run_123 --artifact plan_01 --by privacy --reason 'erasure' --delete-artifacts",
    ],
    statuses={
        0: "done, or nothing to do",
        1: "refused, or bytes were kept: the output says why",
        2: "wrong usage: nothing was changed",
        3: "the store could not be read or written, or holds no such run; the next time goes on",
    },
)
@click.argument("store", type=LOCATION)
@run_option
@click.option("--checkpoint", "checkpoints", multiple=True, metavar="ID", help="A checkpoint. Repeatable.")
@click.option("--artifact", "artifacts", multiple=True, metavar="ID", help="An artifact. Repeatable.")
@click.option("--by", required=True, metavar="WHO", help="Who retracts; kept in the journal.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept in the journal.")
@click.option(
    "--delete-artifacts", is_flag=True, help="Delete the bytes that nothing visible names any more."
)
@dry_run_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    checkpoints: tuple[str, ...],
    artifacts: tuple[str, ...],
    by: str,
    reason: str,
    output_format: str,
    storage: dict[str, Any],
    *,
    delete_artifacts: bool,
    dry_run: bool,
) -> None:
    """Hide checkpoints and artifacts of a run of STORE from every reader, for good.

    Appends a retract record to the journal; the records themselves stay, and what they hold, so that the chain stays
    whole. The guard then starts from an older checkpoint. With --delete-artifacts the bytes of the artifacts that are
    hidden so are deleted, unless something that is not hidden has the same.
    """
    if not checkpoints and not artifacts:
        raise click.UsageError("say what to retract with --checkpoint ID or --artifact ID")
    with opened(ctx, store, storage) as place:
        named = named_run(ctx, place, run_id, deleted=False)
        try:
            done = retract(
                place,
                named,
                checkpoints=checkpoints,
                artifacts=artifacts,
                by=by,
                reason=reason,
                delete_artifacts=delete_artifacts,
                dry_run=dry_run,
            )
        except (Unclear, PutAway) as error:
            # each says by itself whether anything was written
            raise CannotEvaluate(str(error)) from error
        except (NotRetractedError, RecorderError) as refused:
            note(f"refused, nothing was changed: {refused}")
            ctx.exit(1)
    write(retraction_json(done) if output_format == "json" else retraction_text(done, screen()))
    ctx.exit(0 if done.whole else 1)
