"""A checkpoint goes on from another branch than its own, and no fork begins there.

Why: A branch is the work that followed one declared point. A parent elsewhere mixes two histories: nobody can
tell which effects, approvals and usage the checkpoint rests on.

Fix: Let the first checkpoint of a branch name the fork's checkpoint as its parent, and each further one the
last of its branch; to go on from anywhere else, declare a fork there.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "parent-on-another-branch"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"


def check(run: Run) -> Iterator[Fault]:
    """Every checkpoint whose parent is neither of its branch nor where the branch began."""
    branches = {
        str(c.value["checkpointId"]): c.value.get("branch") for c in (*run.checkpoints, *run.retracted)
    }
    origins: dict[str | None, str] = {}
    for lease in run.ownership.leases if run.ownership else ():
        if lease.value.get("forkFrom"):
            origins.setdefault(lease.value["branch"], str(lease.value["forkFrom"]["checkpointId"]))
    for record in run.checkpoints:
        branch, parent = record.value.get("branch"), record.value.get("parentCheckpointId", ...)
        origin = origins.get(branch)
        if parent is ... or (branch is not None and origin is None):
            continue  # silent, or on a branch that nobody declared: that is SP310
        if parent is None:
            misplaced = branch is not None
        else:
            # a parent that was never written is SP308
            misplaced = parent != origin and branches.get(parent, branch) != branch
        if misplaced:
            message = "the parent is neither on this checkpoint's branch nor where the branch began"
            yield Fault("SP324", message, "/parentCheckpointId", place=record.place)
