"""How a fleet fares, from its runs alone: breakers, and how many recover (SPEC.md#fleet).

Decided here: when a breaker opens, half opens and closes, and which run is its trial. Not decided here: what a recovery
is (``member``), and what the fleet's state means for a run (``layers.budget``). No clock and no store: whoever read the
runs tells of each, in any order, and equal runs give an equal state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safepoint.core.timestamp import SECOND, format_time
from safepoint.guard.member import Member, Recovery
from safepoint.policy import Policy

HOUR, TEN_MINUTES = 3600 * SECOND, 600 * SECOND

_READY: Mapping[str, int] = {"resume": 0, "reconcile": 1, "wait": 2}
"""Verdicts with which a run can be a trial: the one that may go on goes first. All others need a human first."""


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """When a breaker opens, and for how long."""

    window: int = 20
    minimum: int = 10
    failed_fraction: float = 0.5
    open_seconds: int = 900

    @classmethod
    def of(cls, policy: Policy) -> BreakerSettings:
        """Those of a policy; what it leaves out has its default."""
        said, usual = policy.breaker, cls()
        return cls(
            window=int(said.get("window", usual.window)),
            minimum=int(said.get("minimum", usual.minimum)),
            failed_fraction=float(said.get("failedFraction", usual.failed_fraction)),
            open_seconds=int(said.get("openSeconds", usual.open_seconds)),
        )


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state of one breaker."""

    state: str
    """``closed``, ``open`` or ``halfOpen``."""
    until: int | None = None
    """When it half opens, while it is open; when it did, once it has (nanoseconds)."""


def breaker_after(recoveries: Iterable[Recovery], settings: BreakerSettings, now: int) -> Breaker:
    """The state at `now` of the breaker for `recoveries`, all of one workflow, code and failure.

    It opens once of the last `window` recoveries, at least `minimum`, the part `failed_fraction` has failed, and stays
    so for `open_seconds` after the newest failure. From then on what is begun is a trial: one that recovers closes it,
    and all before it is forgotten; one that fails opens it again.
    """
    # an end in the future is one of a wrong clock, which must not keep a breaker open for ever
    ended = sorted(
        (min(r.ended, now), r.claimed, r.outcome == "failed") for r in recoveries if r.ended is not None
    )
    last: list[bool] = []
    """Whether each of the last recoveries failed."""
    failure: int = 0
    until: int | None = None
    for end, claimed, failed in ended:
        if until is not None and not failed:
            if claimed >= until:
                last, until = [], None
            continue
        last = [*last, failed][-settings.window :]
        failure = end if failed else failure
        enough = len(last) >= settings.minimum and sum(last) >= settings.failed_fraction * len(last)
        if until is not None or (enough and any(last)):
            until = failure + settings.open_seconds * SECOND
    if until is None:
        return Breaker("closed")
    return Breaker("open" if now < until else "halfOpen", until)


Key = tuple[str | None, str | None, str | None]
"""Workflow, digest of its code, failure signature: what a breaker is for. None: not recorded, so that it is for all."""


class Fleet:
    """What is remembered of the runs that were told of: their recoveries, and who could be a trial."""

    def __init__(self, now: int, policy_of: Callable[[str | None], Policy]) -> None:
        """At `now` (nanoseconds), with the effective policy of each workflow."""
        self._now, self._policy_of = now, policy_of
        self._recoveries: defaultdict[Key, list[Recovery]] = defaultdict(list)
        self._running: defaultdict[Key, list[tuple[int, str]]] = defaultdict(list)
        self._candidates: dict[tuple[Any, ...], tuple[tuple[int, int, str], Member]] = {}
        """Of the runs that look alike to every breaker, the one that goes first."""
        self.starts = self.hour = self.recent = 0
        """Starts of the last hour; recoveries of the last hour, and of the last ten minutes."""

    def add(self, member: Member, verdict: str) -> None:
        """One more run, with what the guard says of it without the fleet."""
        now = self._now
        if member.started is not None and now - HOUR < member.started <= now:
            self.starts += 1
        for recovery in member.recoveries:
            key = (member.workflow, recovery.code, recovery.signature)
            # a claim from the future is one of a wrong clock, and no reason to let more through
            self.hour += recovery.claimed > now - HOUR
            self.recent += recovery.claimed > now - TEN_MINUTES
            if recovery.outcome == "running":
                self._running[key].append((recovery.claimed, member.run_id))
            elif recovery.ended is not None:
                self._recoveries[key].append(recovery)
        if member.still_since is not None and verdict in _READY:
            alike = (member.workflow, member.codes, member.signature)
            turn = (_READY[verdict], member.still_since, member.run_id)
            before = self._candidates.get(alike)
            if before is None or turn < before[0]:
                self._candidates[alike] = turn, member

    def state(self) -> dict[str, Any]:
        """The ``fleet`` of a facts document; breakers that are closed are left out."""
        return {
            "observedAt": format_time(self._now),
            "breakers": [
                document for key in sorted(self._recoveries, key=_sorted) for document in self._breaker(key)
            ],
            "recoveriesLastHour": self.hour,
            "startsLastHour": self.starts,
            "recoveriesLastTenMinutes": self.recent,
        }

    def _breaker(self, key: Key) -> Sequence[dict[str, Any]]:
        workflow, code, signature = key
        settings = BreakerSettings.of(self._policy_of(workflow))
        breaker = breaker_after(self._recoveries[key], settings, self._now)
        if breaker.state == "closed":
            return ()
        document = {
            "workflow": workflow,
            "codeDigest": code,
            "failureSignature": signature,
            "state": breaker.state,
            "until": format_time(breaker.until or 0) if breaker.state == "open" else None,
        }
        if breaker.state == "halfOpen":
            document["trialRunId"] = self._trial(key, breaker.until or 0, document)
        return (document,)

    def _trial(self, key: Key, since: int, breaker: Mapping[str, Any]) -> str | None:
        """The trial that is under way, else the run that may be one: the one that has lain still for longest."""
        under_way = [run for run in self._running.get(key, ()) if run[0] >= since]
        if under_way:
            return min(under_way)[1]
        waiting = [turn for turn, member in self._candidates.values() if member.meets(breaker)]
        return min(waiting)[2] if waiting else None


def _sorted(key: Key) -> list[str]:
    return [part or "" for part in key]


def room(fleet: Mapping[str, Any], policy: Policy) -> int:
    """How many more recoveries may begin now, each counting for the next, until the fleet ratio holds one up."""
    hour, starts, recent = (
        int(fleet[name]) for name in ("recoveriesLastHour", "startsLastHour", "recoveriesLastTenMinutes")
    )
    most = int(min(policy.fleet_recovery_fraction, 2.0**53) * starts) - hour + 1
    return max(most, policy.fleet_recovery_floor - recent, 0)
