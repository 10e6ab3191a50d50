"""A later record of an action says something else of what the action undoes than its first record.

Why: Whether an effect goes forward or back decides in which order it is done, and whether it may be done at
all in a roll-back. Readers take the first record's word: the later one undoes nothing.

Fix: Say compensates on the action's first record, and repeat it or leave it out on the others; undoing
something else is another action.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "compensates-changed"
SEVERITY = "error"
SECTION = "compensations"
NEEDS = ()
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every ledger record that names another target than the first, or takes the first one's back."""
    for action in run.actions.values():
        for record in action.records:
            if (
                record.kind == "ledger"
                and record.value.get("compensates", action.compensates) != action.compensates
            ):
                message = "compensates is not what this action's first record says; it stays the same"
                yield Fault("SP419", message, "/compensates", place=record.place)
