"""A checkpoint was taken without having seen all ledger records before it.

Why: Its state is older than its place in the journal. Whoever goes on from it believes that what came
before is in it, and an effect that settled in between is missing there.

Fix: Read on to the head before each checkpoint, and take lastLedgerSequence from what was read.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "behind-ledger"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"


def check(run: Run) -> Iterator[Fault]:
    """Every checkpoint whose lastLedgerSequence names an older ledger record than the last one before it."""
    last, numbers = 0, {0}
    for record in run.records:
        if record.kind == "ledger":
            last = record.sequence or 0
            numbers.add(last)
        elif record.kind == "checkpoint":
            said = record.value.get("lastLedgerSequence")
            # A number that is no ledger record's is SP501.
            if said is not None and said < last and said in numbers:
                message = (
                    f"lastLedgerSequence is {said}, but ledger record {last} lies before this checkpoint"
                )
                yield Fault("SP510", message, "/lastLedgerSequence", place=record.place)
