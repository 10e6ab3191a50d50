"""``safepoint guard``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.anchoring import anchor_options, require_apart
from safepoint.cli.artifacts import artifact_scheme_option
from safepoint.cli.console import (
    LOCATION,
    Command,
    WholeNumber,
    format_option,
    given_options,
    named_run,
    now_option,
    one_store,
    run_option,
    screen,
    shown_options,
    storage_option,
    storage_words,
    write,
)
from safepoint.guard import EXIT_CODES
from safepoint.model.action import Action
from safepoint.reader.documents import load_document
from safepoint.render.asked import Asked
from safepoint.render.decision import VERDICTS, decision_text
from safepoint.render.terminal import to_json
from safepoint.store.elsewhere import Elsewhere

GOALS = ("continue", "retry_step", "roll_back", "unwind", "inspect")


@click.command(
    cls=Command,
    examples=[
        "safepoint guard ./store --run run_123",
        "safepoint guard s3://bucket/store --run run_123 --facts facts.json --format json",
    ],
    statuses={
        0: f"resume: {VERDICTS['resume'][1]}",
        2: "wrong usage: nothing was judged",
        3: "something could not be read: nothing was judged",
        **{status: f"{name}: {VERDICTS[name][1]}" for name, status in EXIT_CODES.items() if status},
    },
)
@click.argument("store", type=LOCATION)
@run_option
@click.option(
    "--facts",
    type=LOCATION,
    metavar="FILE",
    help="What is true in the world now: a facts document.",
)
@click.option("--policy", type=LOCATION, metavar="FILE", help="A policy document, JSON or TOML.")
@click.option(
    "--request",
    type=LOCATION,
    metavar="FILE",
    help="A request document, instead of the five options that follow.",
)
@click.option("--goal", type=click.Choice(GOALS), help="What is wanted of the run; default: continue.")
@click.option("--checkpoint", metavar="ID", help="Start from this checkpoint instead of the newest.")
@click.option("--step", metavar="NAME", help="The step to try again.")
@click.option("--epoch", type=WholeNumber(1), metavar="N", help="The lease epoch that the caller holds.")
@click.option("--actor", metavar="WHO", help="Who asks.")
@artifact_scheme_option
@anchor_options
@now_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    facts: str | None,
    policy: str | None,
    request: str | None,
    goal: str | None,
    checkpoint: str | None,
    step: str | None,
    epoch: int | None,
    actor: str | None,
    allow_artifact_schemes: frozenset[str] | None,
    anchor: str | None,
    anchor_storage: dict[str, Any],
    now: int | None,
    output_format: str,
    storage: dict[str, Any],
) -> None:
    """May this run of STORE go on, from where, and what must not happen twice?

    Reads only. With --format json it prints the decision document; equal inputs and an equal --now give
    equal bytes.
    """
    elsewhere = Elsewhere(allow_artifact_schemes or (), storage)
    opened = api.open_store(store, **elsewhere.own_options)
    run_id, known = named_run(ctx, opened, run_id), load_document("facts", facts, storage)
    wishes = {"goal": goal, "checkpoint": checkpoint, "step": step, "epoch": epoch, "actor": actor}
    asks = _request(request, wishes)
    require_apart(store, anchor)
    with one_store(ctx):
        judged = api.judge(
            opened,
            run_id,
            facts=known,
            policy=policy,
            request=asks,
            now=now,
            anchor=anchor,
            anchor_storage_options=anchor_storage,
            allow_artifact_schemes=elsewhere.schemes,
            storage_options=storage,
        )
    decision = judged.decision
    document = decision.document()
    asked = Asked(
        opened.url,
        options=tuple(given_options(ctx, leave_out=_SAID_APART)),
        storage_words=tuple(storage_words(storage)),
        storage=shown_options(storage),
        facts=known,
        facts_file=facts,
        policy=judged.policy,
        policy_file=policy,
        request=asks,
        anchor=judged.anchor,
        saved=_saved(judged),
        silent={
            action.action_id: epochs for action in judged.run.actions.values() if (epochs := _silent(action))
        },
    )
    write(to_json(document) if output_format == "json" else decision_text(document, asked, screen()))
    ctx.exit(EXIT_CODES[decision.verdict])


def _saved(judged: api.Judgement) -> dict[str, str]:
    """The guard context of the checkpoint that the decision starts from."""
    start = judged.decision.checkpoint_id
    found = (c.value for c in judged.run.checkpoints if c.value["checkpointId"] == start)
    return dict(next(found, {}).get("guardContext") or {})


def _silent(action: Action) -> tuple[int, ...]:
    """Epochs of the attempts in doubt whose own worker did not say that its call is over."""
    said = (a for a in action.open_attempts if a.status == "inDoubt" and a.record.nonce == a.nonce)
    over = {attempt.number for attempt in said}
    return tuple(sorted({a.epoch for a in action.open_attempts if a.number not in over}))


def _request(file: str | None, wishes: dict[str, Any]) -> dict[str, Any] | str | None:
    given = {_MEMBERS[name]: value for name, value in wishes.items() if value is not None}
    if file is not None:
        if given:
            raise click.UsageError(
                "give --request, or --goal, --checkpoint, --step, --epoch and --actor, not both."
            )
        return file
    if not given:
        return None
    return {"recordType": "request", "schemaVersion": "v3", "goal": "continue", **given}


_SAID_APART = frozenset({"run_id", "facts", "policy", "now", "output_format", "storage"})
"""Options that are no part of a question which is asked again, or that `Asked` holds by themselves."""

_MEMBERS = {
    "goal": "goal",
    "checkpoint": "checkpointId",
    "step": "stepName",
    "epoch": "epoch",
    "actor": "actor",
}
"""Options and the members of a request that they fill."""
