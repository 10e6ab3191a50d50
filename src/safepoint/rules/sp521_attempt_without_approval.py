"""An effect was begun although the last word on its approval was no yes.

Why: Somebody was asked before this was done, and it was done without waiting for the answer, or
against it.

Fix: Before the attempt, read on and spend the approval (consumed); without a yes do not attempt.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "attempt-without-approval"
SEVERITY = "error"
SECTION = "approvals"
NEEDS = ("order", "whole")
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every attempt of an action whose approval was pending, refused, taken back or expired at that point."""
    impossible = {fault.place for fault in run.faults if fault.code == "SP505"}
    last: dict[str, tuple[str, str]] = {}
    """Action to the approval that was spoken of last, and what was said."""
    for record in run.records:
        value = record.value
        if record.kind == "approval" and record.place not in impossible:
            approval = run.approvals[str(value["approvalId"])]
            if approval.action_id is not None:
                last[approval.action_id] = (approval.approval_id, str(value["event"]))
        elif record.kind == "ledger" and value["status"] == "attempting" and value["actionId"] in last:
            approval_id, event = last[value["actionId"]]
            expires, begun = run.approvals[approval_id].expires, record.created
            if event == "granted" and expires is not None and begun is not None and begun >= expires:
                event = "expired"
            if event not in {"granted", "consumed"}:
                word = "pending" if event == "requested" else event
                message = f"attempted while approval {approval_id} of this action was {word}"
                yield Fault("SP521", message, "/status", place=record.place)
