"""An approval is about an action that was not waiting for one.

Why: A yes to what has happened already permits nothing, and a yes that is spent on no action, or on
one that never was, was spent on something that nobody recorded.

Fix: Ask before the action is attempted, and name the action in the record that consumes the approval.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.approvals import Approval
from safepoint.model.run import Run
from safepoint.rules.timeline import settled_at

NAME = "approval-of-nothing-pending"
SEVERITY = "error"
SECTION = "approvals"
NEEDS = ("order", "whole")
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every question about a settled action, and every approval that was spent on none."""
    for approval in run.approvals.values():
        action = run.actions.get(approval.action_id or "")
        settled = settled_at(action) if action else None
        if settled is not None and settled < (approval.asked.sequence or 0):
            message = f"asked about an action that was settled before (sequence {settled})"
            yield Fault("SP520", message, "/actionId", place=approval.asked.place)
        elif approval.event == "consumed" and action is None:
            yield from _spent(run, approval)


def _spent(run: Run, approval: Approval) -> Iterator[Fault]:
    place = approval.record.place
    if approval.action_id is None:
        yield Fault(
            "SP520", "consumed without naming an action that it was spent on", "/actionId", place=place
        )
    elif run.status == "completed":  # before the end the attempt may still come
        yield Fault("SP520", "spent on an action that was never begun", "/actionId", place=place)
