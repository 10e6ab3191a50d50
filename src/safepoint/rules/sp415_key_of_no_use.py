"""An action declares that it is keyed, and nothing can make use of that.

Why: Keyed without a key protects nothing. Keyed without a window and without a probe ends at a human
after a crash: until when the provider remembers the key is unknown, and nobody can ask it.

Fix: Give the action its idempotencyKey, and declare dedupeWindowSeconds or a probe.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "key-of-no-use"
SEVERITY = "warning"
SECTION = "declares"
NEEDS = ()
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every keyed action without a key, or with neither window nor probe."""
    for action in run.actions.values():
        declares = action.declares
        if declares.idempotency != "keyed":
            continue
        place = action.records[0].place
        if action.key is None:
            yield Fault(
                "SP415", "declared as keyed, without an idempotencyKey", "/idempotencyKey", place=place
            )
        elif declares.dedupe_window is None and declares.probe == "none":
            message = "declared as keyed, with neither dedupeWindowSeconds nor a probe"
            yield Fault("SP415", message, "/declares", place=place)
