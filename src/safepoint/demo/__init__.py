"""``safepoint demo``: a crash that sends a mail twice, and the same crash recorded, judged and resumed. For real.

Decided here: where it may write and what its exit status means. Not decided here: what happens (``stage``) and what is
told (``story``).
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

DEFAULT_DIRECTORY = Path("safepoint-demo")


def run(directory: Path, out: TextIO) -> int:
    """Play the demo and leave its stores in `directory`.

    Args:
        directory: a folder that does not exist, or is empty.
        out: where the story goes.

    Returns:
        0 where every verdict and every mailbox came out as told, 1 where one did not, 2 where the demo cannot run here.
    """
    if problem := _obstacle(directory):
        out.write(problem + "\n")
        return 2
    # Late, because the lines above must work without the extra.
    from safepoint.demo.stage import StageError
    from safepoint.demo.story import Story

    directory.mkdir(parents=True, exist_ok=True)
    colour = out.isatty() and not os.environ.get("NO_COLOR")
    try:
        return 0 if Story(directory, out, colour=colour).tell() else 1
    except StageError as error:
        out.write(f"The demo could not be played: {error}\n")
        return 1


def _obstacle(directory: Path) -> str | None:
    if os.name != "posix":
        return "The demo kills processes with SIGKILL, which this system does not have; it runs on Linux and macOS."
    if find_spec("aiosmtpd") is None:
        return "The demo needs a mail server: pip install 'safepoint[demo]'"
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        return f"{directory} exists and is not an empty folder; name another one, or remove it first."
    return None
