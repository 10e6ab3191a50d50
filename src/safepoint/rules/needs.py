"""What each rule across records needs of a run, what it looks at, and what was therefore not checked.

Decided here: when a run meets a need, and the words for a rule that was skipped. The table repeats ``NEEDS`` and
``ABOUT`` of the rules' modules, and a test compares the two: importing all of them to ask would cost every run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from safepoint.core.finding import Skipped
from safepoint.model.journal import Level, Unread
from safepoint.model.run import Run
from safepoint.rules.timeline import artifact_references, can_be_asked_for

WHY: Mapping[str, str] = {
    "order": "the records have no sequence, so that their order is not proven",
    "whole": "something of the run is missing or cannot be read",
    "leases": "no lease was claimed, so that nobody can tell whose record it is",
    "recovery": "something of the recovery log is missing or cannot be read",
    "artifacts": "no store is known in which the artifacts could be looked for",
}
"""The needs that a rule may name, each with what is said where it is not met.

``order``: numbered records, level Journal or Fenced. ``whole``: no gap in the journal and no unreadable text, so that
what is not there was never written. ``leases``: level Fenced. ``recovery``: ``whole``, of the recovery log.
``artifacts``: the bytes are to be looked at, and the store is at hand.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule across records, as far as one need know it without importing its module."""

    needs: tuple[str, ...]
    """Of `WHY`; where one of them fails the rule is skipped."""
    about: str
    """Of `ABOUT`; where a run has none of it, there is nothing to check and nothing to skip."""


RULES: Mapping[str, Rule] = {
    "SP301": Rule((), "records"),
    "SP302": Rule((), "records"),
    "SP303": Rule((), "records"),
    "SP304": Rule(("order",), "leases"),
    "SP305": Rule(("order", "whole"), "leases"),
    "SP306": Rule(("order", "whole"), "leases"),
    "SP307": Rule(("order", "whole"), "ends"),
    "SP308": Rule(("order", "whole"), "checkpoints"),
    "SP309": Rule((), "checkpoints"),
    "SP310": Rule(("whole",), "checkpoints"),
    "SP311": Rule((), "checkpoints"),
    "SP312": Rule(("order",), "numbers"),
    "SP313": Rule((), "records"),
    "SP314": Rule((), "records"),
    "SP315": Rule(("order",), "starts"),
    "SP316": Rule(("order",), "wishes"),
    "SP317": Rule(("leases",), "leases"),
    "SP318": Rule(("order", "whole"), "ends"),
    "SP319": Rule(("order", "whole", "recovery"), "references"),
    "SP320": Rule(("leases",), "answers"),
    "SP321": Rule(("leases",), "takeovers"),
    "SP322": Rule(("leases", "recovery"), "recovery"),
    "SP323": Rule((), "relatives"),
    "SP324": Rule(("order", "whole"), "checkpoints"),
    "SP325": Rule((), "records"),
    "SP326": Rule((), "records"),
    "SP327": Rule((), "records"),
    "SP328": Rule((), "records"),
    "SP329": Rule((), "records"),
    "SP330": Rule((), "records"),
    "SP331": Rule((), "records"),
    "SP401": Rule(("order", "whole"), "effects"),
    "SP402": Rule((), "effects"),
    "SP403": Rule((), "effects"),
    "SP404": Rule(("order", "whole"), "effects"),
    "SP405": Rule((), "effects"),
    "SP406": Rule((), "effects"),
    "SP407": Rule(("order",), "leases"),
    "SP408": Rule((), "effects"),
    "SP409": Rule(("whole",), "effects"),
    "SP410": Rule(("whole",), "effects"),
    "SP411": Rule((), "retries"),
    "SP412": Rule((), "effects"),
    "SP413": Rule((), "effects"),
    "SP414": Rule(("order", "whole"), "effects"),
    "SP415": Rule((), "effects"),
    "SP416": Rule((), "artifacts"),
    "SP417": Rule(("leases",), "takeovers"),
    "SP418": Rule((), "effects"),
    "SP419": Rule((), "effects"),
    "SP420": Rule((), "effects"),
    "SP421": Rule((), "effects"),
    "SP501": Rule(("order", "whole"), "checkpoints"),
    "SP502": Rule(("order", "whole"), "checkpoints"),
    "SP503": Rule((), "checkpoints"),
    "SP504": Rule((), "approvals"),
    "SP505": Rule(("whole",), "approvals"),
    "SP506": Rule((), "approvals"),
    "SP507": Rule(("recovery",), "recovery"),
    "SP509": Rule((), "checkpoints"),
    "SP510": Rule(("order", "whole"), "checkpoints"),
    "SP511": Rule(("order",), "retractions"),
    "SP512": Rule(("order", "whole"), "checkpoints"),
    "SP513": Rule((), "artifacts"),
    "SP514": Rule(("order", "whole"), "checkpoints"),
    "SP515": Rule(("artifacts",), "artifacts"),
    "SP516": Rule(("artifacts",), "artifacts"),
    "SP517": Rule(("artifacts",), "artifacts"),
    "SP518": Rule((), "approvals"),
    "SP519": Rule((), "approvals"),
    "SP520": Rule(("order", "whole"), "approvals"),
    "SP521": Rule(("order", "whole"), "approvals"),
    "SP522": Rule(("order", "whole", "recovery"), "recovery"),
    "SP523": Rule(("leases", "whole", "recovery"), "recovery"),
    "SP524": Rule(("order", "whole"), "effects"),
    "SP525": Rule(("order", "whole"), "approvals"),
    "SP526": Rule((), "approvals"),
    "SP527": Rule(("leases", "whole"), "recovery"),
}


def lacking(run: Run, *, artifacts: bool = False) -> frozenset[str]:
    """The needs that `run` does not meet."""
    missing = [] if artifacts else ["artifacts"]
    if run.level is not Level.FENCED:
        missing.append("leases")
        if run.level is Level.RECORDS:
            missing.append("order")
    if run.unread:
        missing.append("whole")
        if any(map(_hides_recovery, run.unread)):
            missing.append("recovery")
    gaps = [fault.place for fault in run.faults if fault.code == "SP301"]
    if gaps:
        log = {record.place for record in run.recovery}
        missing.extend("recovery" if place in log else "whole" for place in gaps)
    return frozenset(missing)


def _hides_recovery(unread: Unread) -> bool:
    return unread.log in {"recovery", "loose"} or unread.name == "recovery.jsonl"


def skipped(run: Run, *, artifacts: bool | None, schemes: Collection[str] = ()) -> Iterator[Skipped]:
    """Every rule that would have had something to look at in `run`, and was not checked.

    Args:
        run: what was checked.
        artifacts: whether the bytes of its artifacts were looked at; None: nobody asked for that.
        schemes: of URLs that were asked for artifacts elsewhere.
    """
    missing = lacking(run, artifacts=artifacts is not False)
    if missing:
        holds = Contents(run)
        for code, rule in _NEEDY.items():
            why = next((need for need in rule.needs if need in missing), None)
            if why is not None and holds(rule.about):
                yield Skipped(code, WHY[why])
    if artifacts:
        yield from _not_looked_at(run, schemes)


def _not_looked_at(run: Run, schemes: Collection[str]) -> Iterator[Skipped]:
    """What was asked for of artifacts, and could not be done for one of them at least."""
    references = [reference for _, _, reference in artifact_references(run)]
    if not all(can_be_asked_for(reference, schemes) for reference in references):
        why = "an artifact lies outside of the store, or nobody knows where"
        yield from (Skipped(code, why) for code in ("SP515", "SP516", "SP517"))
    if any(reference.get("digest") is None for reference in references):
        yield Skipped("SP517", "an artifact is named without a digest")


class Contents:
    """What there is in a run for a rule to look at; each question is answered once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[str, bool] = {"records": True}

    def __call__(self, about: str) -> bool:
        """Whether the run has anything of that sort."""
        known = self._known.get(about)
        if known is None:
            known = self._known[about] = ABOUT[about](self._run)
        return known


def _statuses(run: Run, kind: str) -> list[str]:
    return [record.value["status"] for record in run.records if record.kind == kind]


def _references(run: Run) -> bool:
    leases = run.ownership.leases if run.ownership else ()
    return bool(run.approvals or run.recovery or len(leases) > 1) or _retractions(run)


def _retractions(run: Run) -> bool:
    return any(record.kind == "retract" for record in run.records)


def _relatives(run: Run) -> bool:
    values = (record.value for record in run.records if record.kind == "run")
    return any(value.get("parentRunId") or value.get("successor") for value in values)


def _artifacts(run: Run) -> bool:
    return any(r.value.get("artifactRefs") or r.value.get("resultRef") for r in run.records)


ABOUT: Mapping[str, Callable[[Run], bool]] = {
    "records": lambda _: True,
    "numbers": lambda run: run.head.sequence is not None,
    "starts": lambda run: _statuses(run, "run").count("started") > 1,
    "relatives": _relatives,
    "wishes": lambda run: "cancelRequested" in _statuses(run, "run"),
    "ends": lambda run: run.ended_by is not None,
    "leases": lambda run: run.level is Level.FENCED,
    "takeovers": lambda run: run.ownership is not None and len(run.ownership.leases) > 1,
    "checkpoints": lambda run: bool(run.checkpoints or run.retracted),
    "effects": lambda run: bool(run.actions),
    "retries": lambda run: any(len(action.attempts) > 1 for action in run.actions.values()),
    "answers": lambda run: not {"abandoned", "failed"}.isdisjoint(_statuses(run, "ledger")),
    "approvals": lambda run: bool(run.approvals),
    "retractions": _retractions,
    "artifacts": _artifacts,
    "references": _references,
    "recovery": lambda run: bool(run.recovery),
}
"""What a rule may be about, and whether a run has any of it."""

_NEEDY = {code: rule for code, rule in RULES.items() if rule.needs}
