"""``safepoint policy``: the settings that a run, a workflow or one action is judged by.

Decided here: whose settings are shown. Not decided here: which of them wins (``policy``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

import click

from safepoint import api
from safepoint.cli.asking import policy_option
from safepoint.cli.completion import complete_runs
from safepoint.cli.console import (
    LOCATION,
    Command,
    format_option,
    named_run,
    note,
    one_store,
    screen,
    storage_option,
    write,
)
from safepoint.model.run import Run
from safepoint.policy import Policy, parse_policy
from safepoint.reader.documents import load_document
from safepoint.render.policy import policy_json, policy_text
from safepoint.render.terminal import plain, to_json


@click.group()
def command() -> None:
    """The settings that a run is judged by."""


@command.command(
    "show",
    cls=Command,
    examples=[
        "safepoint policy show",
        "safepoint policy show --policy policy.toml --workflow support",
        "safepoint policy show ./store --run run_123 --policy policy.toml --action send_email_001",
    ],
    statuses={
        0: "the settings are shown",
        2: "wrong usage",
        3: "the policy is not sound, or something could not be read",
    },
)
@click.argument("store", type=LOCATION, required=False)
@click.option(
    "--run",
    "run_id",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Which run of STORE; must be given with STORE.",
)
@policy_option
@click.option(
    "--workflow", metavar="NAME", help="With what this workflow overrides; with STORE the run's own."
)
@click.option("--action", metavar="NAME", help="With what this action, or its step, has for itself.")
@format_option
@storage_option
@click.pass_context
def show_command(
    ctx: click.Context,
    store: str | None,
    run_id: str | None,
    policy: str | None,
    workflow: str | None,
    action: str | None,
    output_format: str,
    storage: dict[str, Any],
) -> None:
    """Every setting in force: its value, its unit, and where it comes from.

    What an action has for itself wins over its workflow's settings, these win over the policy's own, and these over the
    defaults. With STORE and --run they are the settings that this run is judged by.
    """
    document = load_document("policy", policy, storage)
    run = None
    if store is None and run_id is not None:
        raise click.UsageError("--run: name the STORE too.")
    if store is not None:
        if workflow is not None:
            raise click.UsageError("--workflow: the run says which it is; leave out STORE, or --workflow.")
        opened = api.open_store(store, **storage)
        run_id = named_run(ctx, opened, run_id)
        with one_store(ctx):
            run = api.load(opened, run_id).run
        assert run is not None
        workflow = run.workflow
    settings = parse_policy(document, workflow=workflow)
    if run is None and workflow is not None:
        _warn("workflow", workflow, (document or {}).get("workflows") or {})
    declared, digest = None, settings.digest
    if action is not None:
        settings, declared = _of_action(settings, action, run)
    if output_format == "json":
        about = {"workflow": workflow, "action": action}
        write(to_json(policy_json(settings, {**about, "runId": run_id} if run else about, digest)))
        return
    title = (
        "settings" + (f" for run {run_id}" if run else "") + (f", workflow {workflow}" if workflow else "")
    )
    title += f", action {action}" if action else ""
    write(policy_text(settings, screen(), title=title, digest=digest, file=policy, declared=declared))


def _of_action(
    settings: Policy, name: str, run: Run | None
) -> tuple[Policy, tuple[str, Mapping[str, Any] | None]]:
    """The settings of one action, and what is declared of it: by its own record, else by the policy."""
    found = run.actions.get(name) if run else None
    step = found.step_name if found else name
    listed = next((n for n in (name, step) if n in settings.actions), None)
    known = {*settings.action_settings, *settings.actions, *(run.actions if run else ())}
    if found is None and name not in known:
        _warn("action", name, known)
    own = settings.for_action(name, step)
    if found is not None and found.declares.declared:
        records = (record.value.get("declares") for record in found.records)
        return own, ("the action's own record", next(filter(None, records), None))
    if listed is not None:
        return own, (f"the policy, actions.{listed}", settings.actions[listed])
    return own, ("nobody: no key, no probe, and irreversible", None)


def _warn(kind: str, name: str, known: Collection[str]) -> None:
    if name in known:
        return
    near = get_close_matches(name, sorted(known), n=1)
    hint = f"; did you mean {plain(near[0])}?" if near else ""
    note(f"nothing is set for {kind} {plain(name)}{hint}")
