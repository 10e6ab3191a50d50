"""A recovery record counts its attempt differently than the journal's leases do.

Why: Budgets are counted from the leases. A log with another count hides attempts, or makes up some.

Fix: Take attemptNumber from the journal: one more than the leases that took the run over before.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "attempt-count-differs"
SEVERITY = "error"
SECTION = "recovery"
NEEDS = ("leases", "whole", "recovery")
ABOUT = "recovery"


def check(run: Run) -> Iterator[Fault]:
    """The first record of each claimed episode whose attemptNumber is not its lease's place among the attempts."""
    attempts = run.ownership.recoveries if run.ownership else ()
    numbers = {lease.epoch: number for number, lease in enumerate(attempts, start=1)}
    said: set[str] = set()
    for record in run.recovery:
        episode, number = str(record.value["episodeId"]), record.value.get("attemptNumber")
        counted = numbers.get(record.value.get("leaseEpoch") or 0)
        if number is not None and counted is not None and number != counted and episode not in said:
            said.add(episode)
            message = f"attemptNumber is {number}, but this lease is the run's attempt {counted}"
            yield Fault("SP523", message, "/attemptNumber", place=record.place)
