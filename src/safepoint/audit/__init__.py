"""The checklist: ten questions to the records of a run, each passed, failed or *cannot tell* (SPEC.md#checklist).

``examine`` answers them for one run and is pure; ``Audit`` passes over many runs, one in memory at a time, and folds
their answers. Decided here: what counts as an answer. Not decided here: what is wrong with a record (``rules``),
whether a run may go on (``guard``), and how it is printed (``render.audit``).
"""

from safepoint.audit.answer import Answer, Evidence, Result
from safepoint.audit.case import Given
from safepoint.audit.checklist import POINTS, Point, examine
from safepoint.audit.passing import Audit, RunAudit, Verdict

__all__ = [
    "POINTS",
    "Answer",
    "Audit",
    "Evidence",
    "Given",
    "Point",
    "Result",
    "RunAudit",
    "Verdict",
    "examine",
]
