"""The journal holds a second record that says that the run started.

Why: A run begins once, with sequence 1. A second beginning is another process that took the id for
new, and whoever reads its input or its workflow cannot tell which of the two counts.

Fix: Give up where sequence 1 is taken: resume the run, or start one with an id of its own.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "started-again"
SEVERITY = "error"
SECTION = "writer"
NEEDS = ("order",)
ABOUT = "starts"


def check(run: Run) -> Iterator[Fault]:
    """Every start but the first."""
    started = [r for r in run.records if r.kind == "run" and r.value["status"] == "started"]
    for record in started[1:]:
        message = f"the run was started before, at sequence {started[0].sequence}"
        yield Fault("SP315", message, "/status", place=record.place)
