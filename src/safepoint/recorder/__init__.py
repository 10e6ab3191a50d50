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
from safepoint.recorder.assessment import RecordedDecision, record_decision
from safepoint.recorder.consent import approve, reject
from safepoint.recorder.declares import Declares, Receipt
from safepoint.recorder.effect import Effect
from safepoint.recorder.ending import Ending, cancel_run
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
    "Ending",
    "Fenced",
    "IllegalRecord",
    "InDoubt",
    "NotApproved",
    "PutAway",
    "Receipt",
    "RecordedDecision",
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
    "approve",
    "cancel_run",
    "grant_approval",
    "record_decision",
    "reject",
    "reject_approval",
    "request_approval",
    "request_cancel",
    "resolve_action",
    "resume_run",
    "revoke_approval",
    "start_run",
]
