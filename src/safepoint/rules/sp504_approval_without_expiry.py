"""An approval was requested without an expiry.

Why: A yes that never ends can be used long after the person who gave it would still agree.

Fix: Set expiresAt on the request.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "approval-without-expiry"
SEVERITY = "warning"
SECTION = "approvals"
NEEDS = ()
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every approval that may wait, or hold, for ever."""
    for approval in run.approvals.values():
        if approval.expires is None and approval.event in {"requested", "granted"}:
            yield Fault("SP504", "this approval never expires; set expiresAt", place=approval.record.place)
