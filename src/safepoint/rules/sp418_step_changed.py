"""A later record of an action names another step than its first record.

Why: The plan for a resume puts an action behind the step that it belongs to, and a policy may list it by that
step. Readers take the first record's step: what the later one says is lost.

Fix: Repeat the stepName of the action's first record, also where the code has renamed the step since; another
step's effect is another action.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "step-changed"
SEVERITY = "warning"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every ledger record whose step is not the one of its action."""
    for action in run.actions.values():
        for record in action.records:
            if record.kind == "ledger" and record.value["stepName"] != action.step_name:
                message = "stepName is not the one of this action's first record, which counts"
                yield Fault("SP418", message, "/stepName", place=record.place)
