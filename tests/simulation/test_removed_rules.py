"""Each safety rule is needed: without it, the simulation finds a broken property."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from types import ModuleType
from typing import Any

import pytest

from safepoint.model.record import Record
from safepoint.recorder import StaleDecision
from safepoint.recorder.effect import Effect
from safepoint.recorder.journal import Journal
from safepoint.recorder.log import Build, Log
from safepoint.recorder.permission import Permission
from safepoint.store import Outcome

_call, _over, _require_owner = Effect.call, Permission.over, Journal.require_owner


def send_first(self: Effect, function: Callable[..., Any], /, *args: Any) -> Any:
    """Without the attempt's record before the call."""
    answer = function(*args)
    return _call(self, lambda: answer)


def believe(self: Log, record: Record, data: bytes) -> bool:
    """Without reading back after an unclear answer."""
    return self.store.put_if_absent(record.place.key, data) is not Outcome.LOST


def ignore_higher_epochs(self: Journal) -> None:
    """Without the fence."""
    seen, self._seen_epoch = self._seen_epoch, self.epoch
    try:
        _require_owner(self)
    finally:
        self._seen_epoch = seen


def claim_anywhere(self: Journal, members: Mapping[str, Any], *, at: int) -> Record:
    """Without the number behind the journal that was judged."""
    return self.append(lambda: self.claiming(members))


def judge_once(self: Log, build: Build, *, only_at: int | None = None) -> Record:
    """Without judging again behind the record that took the number."""
    members = build()
    self.judge(self.draft(members)[0])
    while only_at in {None, self.sequence + 1}:
        record, data = self.draft(members)
        if self._try(record, data):
            self.follow([record])
            return record
        self.read_on()
    raise StaleDecision("the number is taken")


def send_whenever(self: Permission, attempt: Record) -> list[str]:
    """Without the cut-off right before a keyed send."""
    return [limit for limit in _over(self, attempt) if limit != "its sendBefore"]


RULES: Mapping[str, tuple[type, str, Callable[..., Any]]] = {
    "the early attempt record": (Effect, "call", send_first),
    "the read-back": (Log, "_try", believe),
    "the fence": (Journal, "require_owner", ignore_higher_epochs),
    "the claim at exactly head + 1": (Journal, "claim", claim_anywhere),
    "the check again after a lost append": (Log, "append", judge_once),
    "the cut-off before a keyed send": (Permission, "over", send_whenever),
}


HINTS = ({"answer lost", "nap"}, {"crash after", "overtaken"})
"""Pairs of faults that some rules are for; the others are needed already for single ones."""


def explored(simulation: ModuleType) -> Iterator[Any]:
    """Worlds in a fixed order: all single faults, then all pairs of two kinds."""
    singles = simulation.singles("brief", retries=True)
    pairs = [*simulation.pairs("brief", retries=True, reach=20)]
    hinted = (pair for hint in HINTS for pair in pairs if {fault for _, fault in pair} == hint)
    for faults in chain(singles, hinted):
        yield simulation.World("brief", faults, retries=True)


@pytest.mark.parametrize("rule", RULES)
def test_without_the_rule_a_property_breaks(
    simulation: ModuleType, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    worlds = [*explored(simulation)]
    monkeypatch.setattr(*RULES[rule])
    for world in worlds:
        world.play()
        if world.broken:
            return
    pytest.fail(f"nothing broke without {rule}")
