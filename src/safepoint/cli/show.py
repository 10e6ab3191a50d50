"""``safepoint show``."""

from __future__ import annotations

from typing import Any

import click

from safepoint import api
from safepoint.cli.asking import policy_option
from safepoint.cli.console import (
    LOCATION,
    Command,
    format_option,
    named_run,
    now_option,
    one_store,
    run_option,
    screen,
    storage_option,
    storage_words,
    write,
)
from safepoint.policy import parse_policy
from safepoint.reader.documents import load_document
from safepoint.render.history import history
from safepoint.render.show import show_text
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue


@click.command(
    cls=Command,
    examples=[
        "safepoint show ./store --run run_123",
        "safepoint show ./store --run run_123 --policy policy.toml",
    ],
    statuses={0: "the run is shown", 3: "the store could not be read, or holds no such run"},
)
@click.argument("store", type=LOCATION)
@run_option
@policy_option
@click.option("--show-values", is_flag=True, help="Show payloads too; they may hold secrets.")
@now_option
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    policy: str | None,
    output_format: str,
    now: int | None,
    storage: dict[str, Any],
    *,
    show_values: bool,
) -> None:
    """What happened in a run of STORE, in order, and what is known of its effects on the world.

    Says how often recovery was tried, how each round ended, and how many attempts the policy leaves.

    Reads only, and shows ids, states, times and references to evidence, these up to 80 characters. Payloads, and
    evidence as it was written, are shown if --show-values is given.
    """
    opened, moment = api.open_store(store, **storage), api.moment_of(now)
    run_id = named_run(ctx, opened, run_id)
    given = load_document("policy", policy)
    with one_store(ctx):
        found = api.load(opened, run_id)
    assert found.run is not None
    document = history(
        found.run,
        api.findings_of(found),
        catalogue.name_of,
        now=moment,
        policy=parse_policy(given, workflow=found.run.workflow),
        values=show_values,
    )
    if output_format == "json":
        write(to_json(document))
    else:
        words = [*(["--policy", policy] if policy else []), *storage_words(storage)]
        write(show_text(document, opened.url, moment, screen(), options=words))
