"""A ledger record holds a result and points to one as well.

Why: Two results of one effect may differ, and a resumed run takes only one of them.

Fix: Keep a small result in result, a large one as an artifact in resultRef, never both.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "result-twice"
SEVERITY = "warning"
SECTION = "the-ledger-record"
NEEDS = ()
ABOUT = "artifacts"


def check(run: Run) -> Iterator[Fault]:
    """Every record with both members."""
    for record in run.records:
        value = record.value
        if record.kind == "ledger" and value.get("resultRef") is not None and "result" in value:
            yield Fault("SP416", "result stands beside resultRef", "/resultRef", place=record.place)
