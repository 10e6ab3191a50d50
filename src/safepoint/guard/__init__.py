"""The resume guard: may this run go on, from where, and what must not happen twice (SPEC.md#guard).

Pure: no clock, no network, no randomness, no environment; equal input gives equal bytes.
"""

from safepoint.guard.decision import EXIT_CODES, REMADE, Decision, Missing, PlanItem, Reason
from safepoint.guard.evaluate import evaluate
from safepoint.guard.needed import needed_artifacts

__all__ = [
    "EXIT_CODES",
    "REMADE",
    "Decision",
    "Missing",
    "PlanItem",
    "Reason",
    "evaluate",
    "needed_artifacts",
]
