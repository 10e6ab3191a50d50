"""An approval was spent on something else than was approved.

Why: The human saw one content, and another one was executed; or the yes was given in a history that
was left by a fork.

Fix: Compare contentDigest with the request's fingerprint, and the branch, before spending the
approval; ask again where they differ.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "spent-on-another-content"
SEVERITY = "error"
SECTION = "approvals"
NEEDS = ()
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every consumed approval whose action has another fingerprint, or that is of another branch."""
    for approval in run.approvals.values():
        if approval.event != "consumed":
            continue
        action = run.actions.get(approval.action_id or "")
        fingerprint, place = action.fingerprint if action else None, approval.record.place
        if approval.content_digest is not None and fingerprint not in {None, approval.content_digest}:
            message = "contentDigest is not the requestFingerprint of the action that it was spent on"
            yield Fault("SP519", message, "/contentDigest", place=place)
        elif run.ownership and _branch(run, approval.record.sequence or 0) != (approval.branch or None):
            message = "spent on another branch than it was given for"
            yield Fault("SP519", message, "/branch", place=place)


def _branch(run: Run, here: int) -> str | None:
    leases = run.ownership.leases if run.ownership else ()
    before = [lease for lease in leases if (lease.sequence or 0) < here]
    return (before[-1].value.get("branch") or None) if before else None
