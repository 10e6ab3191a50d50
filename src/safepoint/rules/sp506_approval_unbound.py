"""An approval does not say what it approves.

Why: Without contentDigest the arguments can change between the yes and the execution.

Fix: Set contentDigest to the digest of what will be executed, and actionId or checkpointId to
where.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "approval-unbound"
SEVERITY = "warning"
SECTION = "approvals"
NEEDS = ()
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every approval that is asked for, given or spent without a content, or without an action or checkpoint."""
    for approval in run.approvals.values():
        bound = approval.content_digest is not None and (approval.action_id or approval.checkpoint_id)
        if approval.event in {"requested", "granted", "consumed"} and not bound:
            message = (
                f"{approval.event} without contentDigest, or without an action or checkpoint that it is for"
            )
            yield Fault("SP506", message, place=approval.record.place)
