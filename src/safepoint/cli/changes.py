"""What the commands share that change stored runs: which runs are meant, and what is said of each.

Decided here: how a moment is named on the command line, and which exit status says that something was left. Not
decided here: what may be changed (``upkeep``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from safepoint import api
from safepoint.cli.completion import complete_runs
from safepoint.cli.console import CannotEvaluate, note, one_store, screen, write
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.reader.stores import require_one
from safepoint.render.upkeep import change_text, changes_json, summary_text
from safepoint.store import Store
from safepoint.upkeep.runs import Change

_Command = TypeVar("_Command", bound=Callable[..., Any])

STATUSES: Mapping[int, str] = {
    1: "a run was left as it is: the output says why",
    2: "wrong usage: nothing was changed",
    3: "the store could not be read or written, or holds no such run; the next time goes on",
}
"""What the exit statuses mean that are no success."""

_AGE = re.compile(r"([1-9][0-9]{0,5})([hdw])")
_NO_AGE = re.compile(r"0+[hdw]")
_SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}


def runs_option(command: _Command) -> _Command:
    """``--run RUN``, as often as wanted."""
    return click.option(
        "--run",
        "runs",
        multiple=True,
        metavar="RUN",
        shell_complete=complete_runs,
        help="Only this run. Repeatable.",
    )(command)


def closed_before_option(*, required: bool) -> Callable[[_Command], _Command]:
    """``--closed-before TIME``; `moment_before` reads it."""
    return click.option(
        "--closed-before",
        "closed_before",
        required=required,
        metavar="TIME",
        help="Only runs whose newest record is older: RFC 3339, or an age in hours, days of 24 hours, or weeks, "
        "such as 36h, 90d or 12w, and more than 0.",
    )


def dry_run_option(command: _Command) -> _Command:
    """``--dry-run``."""
    return click.option("--dry-run", is_flag=True, help="Only say what would be done.")(command)


def moment_before(text: str, now: int) -> int:
    """The moment that ``--closed-before`` names, in nanoseconds.

    Args:
        text: RFC 3339, or an age such as 90d.
        now: what ages count back from.
    """
    if age := _AGE.fullmatch(text):
        return now - int(age[1]) * _SECONDS[age[2]] * SECOND
    if _NO_AGE.fullmatch(text):
        raise click.UsageError(f"--closed-before: got {text!r}: an age must be more than 0, such as 1h")
    try:
        return parse_time(text)
    except ValueError as error:
        raise click.UsageError(f"--closed-before: got {text!r}, {error}, or an age such as 90d") from error


@contextmanager
def opened(ctx: click.Context, url: str, storage: Mapping[str, Any]) -> Iterator[Store]:
    """The store, which is one and not a folder of several."""
    store = api.open_store(url, **storage)
    with one_store(ctx):
        require_one(store)
        yield store


def report(command: str, store: Store, changes: Iterable[Change], output_format: str, **said: bool) -> int:
    """Say what became of each run, as it is done; the exit status.

    Args:
        command: its name.
        store: where the runs are.
        changes: what became of each.
        output_format: ``text`` or ``json``.
        said: ``dry_run``, and ``named``: whether the user named the runs one by one.
    """
    listed: list[Change] = []
    dry_run, named = said["dry_run"], said["named"]
    try:
        for change in changes:
            listed.append(change)
            if output_format == "text" and (named or change.outcome != "passed"):
                write(change_text(command, change, screen()))
    finally:
        # also where the storage fails half-way: what was done until then is done
        if output_format == "json":
            write(changes_json(command, listed, dry_run=dry_run))
        elif listed:
            note(summary_text(command, listed, dry_run=dry_run))
    if not listed:
        raise CannotEvaluate(f"{store.url}: no folder of a run was found; name a store")
    return int(any(change.outcome == "left" for change in listed))
