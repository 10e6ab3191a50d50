"""What the commands share: the output they write to, and the options that mean the same everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from safepoint.core.timestamp import parse_time
from safepoint.render.terminal import Screen

_Command = TypeVar("_Command", bound=Callable[..., Any])


def format_option(command: _Command) -> _Command:
    """``--format text|json``."""
    kinds = click.Choice(["text", "json"])
    return click.option(
        "--format", "output_format", type=kinds, default="text", show_default=True, help="Output format."
    )(command)


class CannotEvaluate(click.ClickException):
    """Something could not be looked at: exit status 3, which is never a pass."""

    exit_code = 3


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    try:
        return None if value is None else parse_time(value)
    except ValueError as error:
        raise click.BadParameter(f"got {value!r}, {error}", ctx, param) from error


def now_option(command: _Command) -> _Command:
    """``--now TIME``: the moment to judge at, in nanoseconds; by default this machine's clock."""
    return click.option(
        "--now",
        callback=_moment,
        default=None,
        metavar="TIME",
        help="Judge as of this RFC 3339 time; default: this clock.",
    )(command)


def screen(*, error_stream: bool = False) -> Screen:
    """What standard output, or standard error, can show."""
    stream = sys.stderr if error_stream else sys.stdout
    if not stream.isatty():
        return Screen()
    import shutil  # noqa: PLC0415 - 2 ms that only a terminal needs

    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(colour=colour, width=shutil.get_terminal_size((110, 24)).columns)


def write(text: str | bytes) -> None:
    """`text` to standard output, as it is."""
    # click would strip colours by its own judgement; `screen` has judged already.
    click.echo(text, nl=False, color=True)


def note(text: str) -> None:
    """One line to standard error."""
    click.echo(text, err=True, color=True)
