"""The folder that a report's paths start from.

Decided here: which one it is. Whoever shows findings beside the code knows files by their path in the repository, from
wherever in it the check was started. Not decided here: how a path is written (``render.places``).
"""

from __future__ import annotations

import os
from pathlib import Path


def base_of(output_format: str, here: str) -> str:
    """The absolute path of the folder for a report of `output_format` that is made in the folder `here`.

    GitHub's annotations start from where its runner has put the repository; other reports from the top of the
    repository that `here` is in, and from `here` itself where it is in none.
    """
    folders = [Path(here), *Path(here).parents] if here else []
    if output_format == "github" and (workspace := os.environ.get("GITHUB_WORKSPACE")):
        top = Path(workspace).resolve()
        # a container has its own path for it: then the environment speaks of another machine
        if top in folders:
            return str(top)
    return next((str(folder) for folder in folders if (folder / ".git").exists()), here)
