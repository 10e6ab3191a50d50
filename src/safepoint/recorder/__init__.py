"""The write side: runs that are recorded so that a guard can judge them after a crash.

Everything that is written goes through one append protocol, and nothing is sent before its attempt is recorded
(SPEC.md#writer). The guard is asked before a run goes on. Clocks and nonces are handed in.
"""

from safepoint.recorder.approvals import (
    grant_approval,
    reject_approval,
    request_approval,
    request_cancel,
    revoke_approval,
)
from safepoint.recorder.declares import Declares, Receipt
from safepoint.recorder.effect import Effect
from safepoint.recorder.errors import (
    CancelRequested,
    Fenced,
    IllegalRecord,
    InDoubt,
    NotApproved,
    PutAway,
    RecorderError,
    ResolutionRefused,
    ResultNotKept,
    ResumeRefused,
    RunEnded,
    RunExists,
    StaleDecision,
    TooLate,
    Unclear,
)
from safepoint.recorder.evidence import resolve_action
from safepoint.recorder.opening import resume_run, start_run
from safepoint.recorder.run import RecordedRun

__all__ = [
    "CancelRequested",
    "Declares",
    "Effect",
    "Fenced",
    "IllegalRecord",
    "InDoubt",
    "NotApproved",
    "PutAway",
    "Receipt",
    "RecordedRun",
    "RecorderError",
    "ResolutionRefused",
    "ResultNotKept",
    "ResumeRefused",
    "RunEnded",
    "RunExists",
    "StaleDecision",
    "TooLate",
    "Unclear",
    "grant_approval",
    "reject_approval",
    "request_approval",
    "request_cancel",
    "resolve_action",
    "resume_run",
    "revoke_approval",
    "start_run",
]
