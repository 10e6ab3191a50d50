"""``safepoint demo``."""

from __future__ import annotations

import sys
from itertools import chain, count
from pathlib import Path

import click

from safepoint.cli.console import Command, note
from safepoint.demo import DEFAULT_DIRECTORY, run


@click.command(
    cls=Command,
    examples=["safepoint demo my-folder"],
    statuses={0: "everything came out as told", 1: "something did not", 2: "the demo cannot be played here"},
)
@click.argument("directory", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
@click.pass_context
def command(ctx: click.Context, directory: Path | None) -> None:
    """Watch an agent being killed after it sent a mail, and see what Safepoint makes of it. For real.

    Real processes, a real mail server on this machine, a real SIGKILL; no network is needed. The stores
    stay behind in DIR, to be looked at with runs, show, guard and validate. Without DIR it is safepoint-demo, or
    safepoint-demo-2 and so on where that is taken.
    """
    try:
        status = run(directory or _free(), sys.stdout)
    except BrokenPipeError:
        raise
    except OSError as error:
        note(f"The demo cannot be played here: {error}")
        status = 2
    ctx.exit(status)


def _free() -> Path:
    """The first of the default folders that is not there yet."""
    later = (Path(f"{DEFAULT_DIRECTORY}-{number}") for number in count(2))
    return next(folder for folder in chain([DEFAULT_DIRECTORY], later) if not folder.exists())
