"""No record of an action up to its first attempt declares what its tool can do.

Why: Undeclared counts as no idempotency, no probe, irreversible: after a crash such an action
always ends at a human.

Fix: Have the writer declare effect, idempotency, probe and reversibility on the action's first
record. For runs that are stored already list the action in the policy: a changed record would break
the chain behind it (SP303).
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "undeclared-capabilities"
SEVERITY = "warning"
SECTION = "declares"
NEEDS = ("whole",)
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every action whose records declare nothing, although their version can."""
    for action in run.actions.values():
        first = action.records[0]
        migrated = first.version.major < 3 or first.value.get("orderEvidence") == "time"
        if not action.declares.declared and not migrated:
            message = "no record up to the first attempt has declares; this counts as unkeyed, unprobed, irreversible"
            yield Fault("SP409", message, place=first.place)
