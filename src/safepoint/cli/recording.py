"""``safepoint guard --record``: the decision is also written into the run's recovery log.

Decided here: that the decision is printed first, whatever becomes of the record, and that a decision which could not be
recorded is no pass. Not decided here: what is recorded (``recorder.assessment``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import click

from safepoint import api
from safepoint.cli.console import CannotEvaluate, note
from safepoint.render.overview import short
from safepoint.render.terminal import plain

_Command = TypeVar("_Command", bound=Callable[..., Any])

FAILURES = ("step", "recovery", "infrastructure")


@dataclass(frozen=True, slots=True)
class Wish:
    """What was said with ``--record``."""

    holder: str | None
    failure_of: str | None
    failure_evidence: str | None


def record_options(command: _Command) -> _Command:
    """``--record`` and what goes with it; `wish_of` puts them together."""
    options = (
        click.option(
            "--record",
            is_flag=True,
            help="Also write into the run's recovery log what the decision means. Nothing is claimed by that.",
        ),
        click.option(
            "--holder", metavar="WHO", help="With --record: who drives the recovery, for other humans."
        ),
        click.option(
            "--failure-of",
            type=click.Choice(FAILURES),
            help="With --record: what failed before; default: what the records show.",
        ),
        click.option(
            "--failure-evidence",
            metavar="TEXT",
            help="With --failure-of: where the evidence can be looked up, such as an incident. The infrastructure is "
            "only blamed with some; a proof of the owner's death in the facts will do.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def wish_of(*, record: bool, checks: bool, **said: str | None) -> Wish | None:
    """What to record; None: nothing.

    Args:
        record: whether ``--record`` was given.
        checks: whether a stored decision is only checked.
        said: the values of the other options.
    """
    if not record:
        for name, value in said.items():
            if value is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} says what to record: give --record too.")
        return None
    if checks:
        raise click.UsageError(
            "--check only compares a decision with the run, so that --record has nothing to record."
        )
    if said["failure_evidence"] is not None and said["failure_of"] is None:
        raise click.UsageError("--failure-evidence: say with --failure-of what it is evidence for.")
    return Wish(**said)


def record_judged(
    store: api.Store, judged: api.Judgement, wish: Wish, facts: Mapping[str, Any] | None, now: int | None
) -> None:
    """Write the decision into the recovery log, and say on standard error what was written.

    Raises:
        CannotEvaluate: it could not be written.
        click.UsageError: what was said with ``--record`` cannot be recorded.
    """
    from safepoint.recorder import IllegalRecord, RecorderError, record_decision

    decision = judged.decision
    try:
        recorded = record_decision(
            store,
            decision,
            holder=wish.holder,
            ttl_seconds=judged.policy.lease_seconds,
            failure_of=wish.failure_of,
            failure_evidence=wish.failure_evidence,
            facts=facts,
            clock=partial(api.moment_of, now),
        )
    except api.InputRefusedError:
        raise
    except ValueError as error:
        text = (
            str(error).replace("failure_of", "--failure-of").replace("failure_evidence", "--failure-evidence")
        )
        raise click.UsageError(f"not recorded: {text}") from error
    except IllegalRecord as error:
        raise CannotEvaluate(f"the decision was not recorded: {plain(str(error))}") from error
    except (RecorderError, api.StoreError) as error:
        raise CannotEvaluate(f"the decision above was not recorded: {plain(str(error))}") from error
    if recorded is None:
        note("not recorded: this answer says nothing of the run, only of who asks or looks")
    elif not recorded.written:
        note(
            f"recorded already: episode {plain(recorded.episode_id)} is {recorded.state}, and nothing happened since"
        )
    else:
        states = " → ".join(str(entry.value["state"]) for entry in recorded.written)
        until = recorded.written[-1].value.get("notBefore")
        ask = f", ask again at {short(until, up=True)}" if until else ""
        note(f"recorded: episode {plain(recorded.episode_id)}: {states}{ask}")
