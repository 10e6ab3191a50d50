"""``safepoint guard``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.console import format_option, now_option, screen, write
from safepoint.guard import EXIT_CODES
from safepoint.render.decision import decision_text
from safepoint.render.terminal import to_json

GOALS = ("continue", "retry_step", "roll_back", "unwind", "inspect")


@click.command()
@click.argument("store")
@click.option("--run", "run_id", required=True, metavar="RUN", help="Which run.")
@click.option(
    "--facts", metavar="FILE", help="What is true in the world now: a facts document, as a path or URL."
)
@click.option("--policy", metavar="FILE", help="A policy document, JSON or TOML; default: every default.")
@click.option(
    "--request", metavar="FILE", help="A request document, instead of the five options that follow."
)
@click.option("--goal", type=click.Choice(GOALS), help="What is wanted of the run; default: continue.")
@click.option("--checkpoint", metavar="ID", help="Start from this checkpoint instead of the newest.")
@click.option("--step", metavar="NAME", help="The step to try again.")
@click.option(
    "--epoch", type=click.IntRange(min=1), metavar="N", help="The lease epoch that the caller holds."
)
@click.option("--actor", metavar="WHO", help="Who asks.")
@now_option
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str,
    facts: str | None,
    policy: str | None,
    request: str | None,
    goal: str | None,
    checkpoint: str | None,
    step: str | None,
    epoch: int | None,
    actor: str | None,
    now: int | None,
    output_format: str,
) -> None:
    r"""May this run of STORE go on, from where, and what must not happen twice?

    Reads only. With --format json it prints the decision document; equal inputs and an equal --now give
    equal bytes.

    \b
    Exit status:
       0  resume     10  wait          13  hand_over
       2  usage      11  reconcile     14  give_up
       3  cannot     12  compensate    15  no_op
          evaluate
    """
    opened = api.open_store(store)
    decision = api.guard(
        opened,
        run_id,
        facts=facts,
        policy=policy,
        request=_request(
            request,
            {"goal": goal, "checkpointId": checkpoint, "stepName": step, "epoch": epoch, "actor": actor},
        ),
        now=now,
    )
    document = decision.document()
    write(to_json(document) if output_format == "json" else decision_text(document, opened.url, screen()))
    ctx.exit(EXIT_CODES[decision.verdict])


def _request(file: str | None, members: dict[str, Any]) -> dict[str, Any] | str | None:
    given = {name: value for name, value in members.items() if value is not None}
    if file is not None:
        if given:
            raise click.UsageError(
                "give --request, or --goal, --checkpoint, --step, --epoch and --actor, not both."
            )
        return file
    if not given:
        return None
    return {"recordType": "request", "schemaVersion": "v3", "goal": "continue", **given}
