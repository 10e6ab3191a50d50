"""``safepoint guard``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.anchoring import anchor_options, require_apart
from safepoint.cli.answerable import answerable
from safepoint.cli.artifacts import artifact_scheme_option
from safepoint.cli.asking import facts_option, policy_option, request_of, request_options
from safepoint.cli.checking import VOID, check_option, check_stored
from safepoint.cli.console import (
    LOCATION,
    Command,
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
from safepoint.cli.fleet import (
    Wanted,
    facts_with_fleet,
    fleet_options,
    guard_format_option,
    judge_all,
    require_one_kind,
)
from safepoint.cli.recording import record_judged, record_options, wish_of
from safepoint.guard import EXIT_CODES
from safepoint.model.action import Action
from safepoint.reader.merging import load_facts
from safepoint.render.asked import Asked
from safepoint.render.decision import VERDICTS, decision_text
from safepoint.render.terminal import to_json
from safepoint.store.elsewhere import Elsewhere


@click.command(
    cls=Command,
    examples=[
        "safepoint guard ./store --run run_123",
        "safepoint guard s3://bucket/store --run run_123 --facts facts.json --format json",
        "safepoint guard ./store --facts facts.json --check decision.json",
        "safepoint guard ./store --run run_123 --record --holder nightly-rescuer",
        "safepoint guard ./store --all --state interrupted --fleet-output fleet.json",
        "safepoint guard ./store --run run_123 --fleet fleet.json",
    ],
    statuses={
        0: f"resume: {VERDICTS['resume'][1]}; with --check: it stands, whatever it says; with --all: every run may go "
        "on, waits or is over",
        VOID: "with --check: the decision is void; with --all: a run needs somebody to act",
        2: "wrong usage: nothing was judged",
        3: "something could not be read: nothing was judged; with --record: or the decision could not be recorded",
        **{status: f"{name}: {VERDICTS[name][1]}" for name, status in EXIT_CODES.items() if status},
    },
)
@click.argument("store", type=LOCATION)
@run_option
@facts_option
@policy_option
@request_options
@fleet_options
@check_option
@record_options
@artifact_scheme_option
@anchor_options
@now_option
@guard_format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    facts: tuple[str, ...],
    policy: str | None,
    request: str | None,
    goal: str | None,
    checkpoint: str | None,
    step: str | None,
    epoch: int | None,
    actor: str | None,
    states: tuple[str, ...],
    workflows: tuple[str, ...],
    verdicts: tuple[str, ...],
    fleet_output: str | None,
    fleet: str | None,
    check: str | None,
    holder: str | None,
    failure_of: str | None,
    failure_evidence: str | None,
    allow_artifact_schemes: frozenset[str] | None,
    anchor: str | None,
    anchor_storage: dict[str, Any],
    now: int | None,
    output_format: str,
    storage: dict[str, Any],
    *,
    every: bool,
    record: bool,
) -> None:
    """May this run of STORE go on, from where, and what must not happen twice?

    Reads only, unless --record is given. With --format json it prints the decision document; equal inputs and an
    equal --now give equal bytes.
    """
    require_one_kind(ctx, every=every)
    said = {"holder": holder, "failure_of": failure_of, "failure_evidence": failure_evidence}
    wish = wish_of(record=record, checks=check is not None, **said)
    elsewhere = Elsewhere(allow_artifact_schemes or (), storage)
    opened = api.open_store(store, **elsewhere.own_options)
    if every:
        schemes = {"allow_artifact_schemes": elsewhere.schemes, "storage_options": storage}
        of_all = {"facts": facts, "policy": policy, "fleet": fleet, "now": now, **schemes}
        judge_all(ctx, opened, of_all, Wanted(states, workflows, verdicts, fleet_output), output_format)
    if check is None:
        run_id = named_run(ctx, opened, run_id)
    known = load_facts(facts, storage)
    wishes = {"goal": goal, "checkpoint": checkpoint, "step": step, "epoch": epoch, "actor": actor}
    asks = request_of(request, wishes)
    require_apart(store, anchor)
    question: dict[str, Any] = {
        "facts": facts_with_fleet(run_id, known, fleet, storage),
        "policy": policy,
        "request": asks,
        "now": now,
        "anchor": anchor,
        "anchor_storage_options": anchor_storage,
        "allow_artifact_schemes": elsewhere.schemes,
        "storage_options": storage,
    }
    words = (*given_options(ctx, leave_out=_SAID_APART), *(["--record"] if record else []))
    if check is not None:
        check_stored(ctx, opened, check, run_id, words, question)
    assert run_id is not None
    with one_store(ctx):
        judged = api.judge(opened, run_id, **question)
    decision = judged.decision
    document = decision.document()
    asked = Asked(
        opened.url,
        options=words,
        storage_words=tuple(storage_words(storage)),
        storage=shown_options(storage),
        facts=known,
        facts_file=facts[-1] if facts else None,
        more_facts=facts[:-1],
        policy=judged.policy,
        policy_file=policy,
        request=asks,
        anchor=judged.anchor,
        source=None if judged.run.origin is None else str(judged.run.origin.value["source"]),
        saved=_saved(judged),
        silent={
            action.action_id: epochs for action in judged.run.actions.values() if (epochs := _silent(action))
        },
        **answerable(judged),
    )
    if output_format == "text":
        write(decision_text(document, asked, screen()))
    else:
        write(to_json(document, indent=output_format == "json"))
    if wish is not None:
        record_judged(opened, judged, wish, question["facts"], now)
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


_SAID_APART = frozenset({"run_id", "facts", "policy", "check", "record", "now", "output_format", "storage"})
"""Options that are no part of a question which is asked again, or that `Asked` holds by themselves."""
