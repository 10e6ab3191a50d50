"""Why a writer stops: each answer that a worker may want to tell apart is an exception of its own.

Decided here: the names and what each says. Not decided here: when one is raised.
"""

# ruff: noqa: N818 - these are answers to "may I go on?", and read as such: Fenced, ResumeRefused, TooLate

from __future__ import annotations

from collections.abc import Sequence

from safepoint.core.fault import Fault
from safepoint.guard import Decision, Reason


class RecorderError(Exception):
    """A record could not or must not be written; the message says why and what to do next."""


class RunExists(RecorderError):
    """`start_run` met a run of this id; a run begins once."""


class ResumeRefused(RecorderError):
    """The guard's verdict is not ``resume``; nothing was written."""

    def __init__(self, decision: Decision) -> None:
        reasons = (
            "; ".join(f"{reason.code} {reason.message}" for reason in decision.reasons) or "no reason given"
        )
        super().__init__(f"run {decision.run_id}: the guard says {decision.verdict}: {reasons}")
        self.decision = decision
        """The whole answer: reasons, missing evidence, and from when to ask again."""


class ResolutionRefused(RecorderError):
    """A human's answer cannot be recorded now: an owner may live, or the journal is damaged. Nothing was written."""

    def __init__(
        self, decision: Decision, against: Sequence[Reason], hint: str, epochs: Sequence[int] = ()
    ) -> None:
        why = "; ".join(f"{reason.code} {reason.message}" for reason in against)
        super().__init__(f"run {decision.run_id}: nothing can be resolved now: {why}; {hint}")
        self.decision = decision
        """The guard's whole answer, with the time from which to ask again."""
        self.against = tuple(against)
        """What stands in the way."""
        self.epochs = tuple(epochs)
        """The epochs whose owners would have to be proven dead."""


class StaleDecision(RecorderError):
    """The journal went on, or time did, between the guard's decision and the claim: judge again."""


class PutAway(RecorderError):
    """The run was packed or deleted while this process stood still: what it knows of the journal is only a part."""


class Fenced(RecorderError):
    """A higher epoch was claimed: this writer no longer owns the run and must stop."""


class RunEnded(RecorderError):
    """The run is completed, failed, cancelled or sealed."""


class CancelRequested(RecorderError):
    """Somebody asked for the run to stop; nothing new is attempted. Settle what is open, then `cancelled()`."""


class NotApproved(RecorderError):
    """The approval is missing, pending, refused, revoked, expired, spent, or for another content."""


class InDoubt(RecorderError):
    """An earlier attempt may have been applied, and nothing permits another one."""


class TooLate(RecorderError):
    """The attempt was recorded, but its time to send is over: nothing was sent."""


class Unclear(RecorderError):
    """The store did not say whether the record was written, or is durable; nothing that it would authorise was done."""


class IllegalRecord(RecorderError):
    """The record may not follow what the journal holds, or does not fit the format."""

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__("; ".join([message, *(f"{f.code} {f.message} (at {f.pointer!r})" for f in faults)]))
        self.faults = tuple(faults)


class ResultNotKept(IllegalRecord):
    """The effect is applied and recorded as committed; only what its function returned could not be kept."""
