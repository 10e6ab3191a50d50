"""Which artifacts a decision depends on, so that nobody has to read the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.guard.case import start_of
from safepoint.model.run import Run


def needed_artifacts(run: Run, request: Mapping[str, Any] | None) -> frozenset[str]:
    """Ids of the artifacts that the guard asks about: those of the checkpoint that the run would go on from.

    A checkpoint names all that the run needs to go on, whatever its ancestors named, on this branch or before a fork.
    """
    checkpoint = start_of(run, request or {})
    if checkpoint is None:
        return frozenset()
    value = checkpoint.value
    names = {str(reference["artifactId"]) for reference in value.get("artifactRefs") or ()}
    for condition in value.get("resumePreconditions") or ():
        if condition.get("type") == "artifactPresent":
            names.add(str(condition.get("subject")))
    return frozenset(names)
