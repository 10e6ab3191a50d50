"""What can go wrong with the migration of a payload."""

from __future__ import annotations

from collections.abc import Sequence

from safepoint.core.fault import Fault


class PayloadMigrationError(ValueError):
    """Payloads cannot be migrated: a step is none, nothing leads to what is asked for, or a payload does not fit."""

    def __init__(self, problem: str, faults: Sequence[Fault] = ()) -> None:
        self.faults = tuple(faults)
        """What is wrong with one payload, as codes and pointers; empty where the steps are at fault."""
        super().__init__(problem)


class StepFailedError(Exception):
    """A step has no result for a payload; the words hold nothing of it."""
