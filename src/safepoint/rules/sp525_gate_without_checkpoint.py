"""A human was asked without a checkpoint before.

Why: The wait may outlast the process. Whoever goes on after the answer then starts from an older state,
and may make something else than the human saw.

Fix: Take a checkpoint with reason humanGate, then ask.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "gate-without-checkpoint"
SEVERITY = "warning"
SECTION = "granularity"
NEEDS = ("order", "whole")
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every question with no checkpoint since the run began, or since its last effect was applied."""
    worked = saved = False
    for record in run.records:
        if record.kind == "checkpoint":
            worked = saved = True
        elif record.kind in {"lease", "ledger"}:
            worked = True
            committed = record.kind == "ledger" and record.value["status"] == "committed"
            if committed and run.actions[str(record.value["actionId"])].declares.effect != "read":
                saved = False
        elif record.kind == "approval" and record.value["event"] == "requested" and worked and not saved:
            message = "asked without a checkpoint before, or since the last effect; the wait may outlast the process"
            yield Fault("SP525", message, "/event", place=record.place)
