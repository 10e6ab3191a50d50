"""The journal does not begin with a run record of status started.

Why: Without it the workflow, the input and the definition of the run are not known, and workflow
settings of a policy do not apply.

Fix: Write a run record with status started as sequence 1.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "no-run-record"
SEVERITY = "warning"
SECTION = "chain"
NEEDS = ("order",)
ABOUT = "numbers"


def check(run: Run) -> Iterator[Fault]:
    """A first record that is one of the run, and no start; of another kind it is met by the fold."""
    first = run.records[0]
    if first.kind == "run" and first.sequence == 1 and first.value["status"] != "started":
        message = f"the journal begins with {first.value['status']}; expected started"
        yield Fault("SP312", message, "/status", place=first.place)
