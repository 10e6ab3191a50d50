"""The options of a question to the guard, the same for every command that asks one.

Decided here: their names, and how the five wishes become a request. Not decided here: what a request means (``guard``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from safepoint.cli.console import LOCATION, WholeNumber

_Command = TypeVar("_Command", bound=Callable[..., Any])

GOALS = ("continue", "retry_step", "roll_back", "unwind", "inspect")

_MEMBERS = {
    "goal": "goal",
    "checkpoint": "checkpointId",
    "step": "stepName",
    "epoch": "epoch",
    "actor": "actor",
}
"""Options and the members of a request that they fill."""


def facts_option(command: _Command) -> _Command:
    """``--facts FILE``, as often as wanted: a tuple for `load_facts`."""
    return click.option(
        "--facts",
        type=LOCATION,
        metavar="FILE",
        multiple=True,
        help="What is true in the world now: a facts document. Repeatable: several are merged, and must not contradict "
        "each other.",
    )(command)


def policy_option(command: _Command) -> _Command:
    """``--policy FILE``."""
    return click.option(
        "--policy",
        type=LOCATION,
        metavar="FILE",
        help="A policy document, JSON or TOML; default: all defaults.",
    )(command)


def request_options(command: _Command) -> _Command:
    """``--request FILE``, or five options that make one; `request_of` puts them together."""
    options = (
        click.option(
            "--request",
            type=LOCATION,
            metavar="FILE",
            help="A request document, instead of the five options that follow.",
        ),
        click.option(
            "--goal", type=click.Choice(GOALS), help="What is wanted of the run; default: continue."
        ),
        click.option("--checkpoint", metavar="ID", help="Start from this checkpoint instead of the newest."),
        click.option("--step", metavar="NAME", help="The step to try again."),
        click.option(
            "--epoch", type=WholeNumber(1), metavar="N", help="The lease epoch that the caller holds."
        ),
        click.option("--actor", metavar="WHO", help="Who asks."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def request_of(file: str | None, wishes: Mapping[str, Any]) -> dict[str, Any] | str | None:
    """The request that the options make, or the file that holds one; None where nothing was said.

    Args:
        file: what followed ``--request``.
        wishes: the five others, by the name of the option.
    """
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
