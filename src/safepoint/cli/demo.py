"""``safepoint demo``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from safepoint.demo import DEFAULT_DIRECTORY, run


@click.command()
@click.argument(
    "directory", metavar="[DIR]", type=click.Path(path_type=Path), required=False, default=DEFAULT_DIRECTORY
)
@click.pass_context
def command(ctx: click.Context, directory: Path) -> None:
    r"""Watch an agent being killed after it sent a mail, and see what Safepoint makes of it. For real.

    Real processes, a real mail server on this machine, a real SIGKILL; no network is needed. The stores
    stay behind in DIR, by default safepoint-demo, to be looked at with runs, show, guard and validate.

    \b
    Exit status:
      0  everything came out as told
      1  something did not
      2  the demo cannot be played here
    """
    ctx.exit(run(directory, sys.stdout))
