"""The resume guard: may this run go on, from where, and what must not happen twice (SPEC.md#guard).

Pure: no clock, no network, no randomness, no environment; equal input gives equal bytes.
"""

from safepoint.guard.decision import EXIT_CODES, REMADE, Decision, Missing, PlanItem, Reason
from safepoint.guard.evaluate import Assessment, assess, conclude, evaluate
from safepoint.guard.needed import needed_artifacts, still_true, supposing_dead, unproven_owners

__all__ = [
    "EXIT_CODES",
    "REMADE",
    "Assessment",
    "Decision",
    "Missing",
    "PlanItem",
    "Reason",
    "assess",
    "conclude",
    "evaluate",
    "needed_artifacts",
    "still_true",
    "supposing_dead",
    "unproven_owners",
]
