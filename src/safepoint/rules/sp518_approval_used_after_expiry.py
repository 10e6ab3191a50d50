"""An approval was spent after it had expired.

Why: Whoever said yes said it for a time. What they agreed to may no longer be what they would agree to.

Fix: Look at expiresAt right before spending the approval, and ask again.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "approval-used-after-expiry"
SEVERITY = "error"
SECTION = "approvals"
NEEDS = ()
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every approval that was consumed at or after its expiresAt, by the clock of whoever consumed it."""
    for approval in run.approvals.values():
        spent = approval.record.created
        late = approval.expires is not None and spent is not None and spent >= approval.expires
        if approval.event == "consumed" and late:
            message = "consumed at or after its expiresAt"
            yield Fault("SP518", message, "/createdAt", place=approval.record.place)
