"""What one ledger record proves of an attempt, read with care (SPEC.md#ledger).

Decided here: when ``committed`` and ``failed`` are believed. Not decided here: what follows for the action.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from safepoint.core.timestamp import parse_time
from safepoint.model.action import Attempt
from safepoint.model.record import Record

_LOST_ANSWER = re.compile(
    r"time.?d?.?out|deadline|reset|abort|broken.?pipe|epipe|disconnect|hang.?up|terminat|cancel|interrupt|"
    r"connection.?(lost|closed|error)|network|transport|protocol|incomplete.?read|\beof|no.?answer|"
    r"unavailable|server.?error|gateway|(^|[^0-9])50[0234]([^0-9]|$)",
    re.IGNORECASE,
)

_WAITED_FOR_AN_ANSWER = re.compile(r"read.?time.?d?.?out|no.?answer|incomplete.?read", re.IGNORECASE)


def of_application(record: Record, *, ordered: bool) -> bool:
    """Whether a ``committed`` is more than a hope: evidence, and without a chain something to look it up by."""
    value, evidence = record.value, record.value.get("evidence") or {}
    if ordered:
        return bool(evidence)
    return value.get("externalRef") is not None or evidence.get("ref") is not None


def of_absence(record: Record, attempt: Attempt, settle: int) -> bool:
    """A human's word, or a probe that rule N can have let pass: late, and by somebody who fenced the attempt.

    Whether the attempt's worker was dead is not in the record; whoever wrote it had asked a guard.

    Args:
        record: the record that says ``failed``.
        attempt: what it speaks of.
        settle: nanoseconds until an applied effect shows.
    """
    evidence = record.value.get("evidence") or {}
    if evidence.get("kind") == "human":
        return evidence.get("by") is not None
    if evidence.get("kind") != "probe" or record.epoch <= attempt.epoch:
        return False
    latest = max((t for t in (attempt.deadline, attempt.started) if t is not None), default=None)
    return latest is not None and parse_time(evidence["observedAt"]) > latest + settle


def may_be_applied(record: Record, *, repeatable: bool) -> bool:
    """Whether a ``failed`` leaves open that the effect was applied.

    Args:
        record: the record that says ``failed``.
        repeatable: whether the tool declares that doing it again does no harm.
    """
    return error_leaves_open(record.value.get("error"), repeatable=repeatable)


def error_leaves_open(error: Mapping[str, Any] | None, *, repeatable: bool) -> bool:
    """As `may_be_applied`, of the record's ``error`` alone."""
    if error is None or error.get("sent") not in {"no", "yes"}:
        return True
    # What never left cannot have been applied, unless the error says that an answer was being waited for.
    lost = _LOST_ANSWER if error["sent"] == "yes" else _WAITED_FOR_AN_ANSWER
    if lost.search(str(error.get("class") or "")):
        return True
    # A refusal that may be tried again has many names; sent twice without a key it can do harm.
    return error["sent"] == "yes" and bool(error.get("retryable")) and not repeatable
