"""An action, its attempts and its declaration: what the fold of the ledger makes, and the guard decides on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safepoint.core.timestamp import SECOND
from safepoint.model.record import Record

SETTLED = frozenset({"committed", "compensated", "cancelled", "failed", "abandoned", "planned"})
"""Statuses with nothing in flight and nothing in doubt."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a tool declares about its effect; what it does not declare counts as the worst (SPEC.md#declares)."""

    effect: str = "other"
    idempotency: str = "none"
    dedupe_window: int | None = None
    """Nanoseconds for which the provider honours the key; None: not declared."""
    probe: str = "none"
    probe_settle: int = 0
    """Nanoseconds until an applied effect shows in the provider's answers."""
    reversibility: str = "irreversible"
    compensation: str | None = None
    compensation_consumes_key: bool = False
    """The compensation carries the original key, does nothing where nothing happened, and uses the key up."""
    declared: bool = False

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Declaration:
        """The declaration in a record's or a policy's ``declares`` object."""
        window = value.get("dedupeWindowSeconds")
        return cls(
            effect=value.get("effect") or "other",
            idempotency=value.get("idempotency") or "none",
            dedupe_window=None if window is None else int(window) * SECOND,
            probe=value.get("probe") or "none",
            probe_settle=int(value.get("probeSettleSeconds") or 0) * SECOND,
            reversibility=value.get("reversibility") or "irreversible",
            compensation=value.get("compensation"),
            compensation_consumes_key=value.get("compensationConsumesKey") is True,
            declared=True,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to apply an action."""

    number: int
    epoch: int
    nonce: str | None
    status: str
    """``attempting`` (open) or one of `OUTCOMES`."""
    started: int | None
    deadline: int | None
    send_before: int | None
    retryable: bool
    opened: Record
    record: Record
    """The record that decides `status`."""

    @property
    def open(self) -> bool:
        """Whether the effect may have happened without our knowing."""
        return self.status in {"attempting", "inDoubt"}

    def settled(self, status: str, record: Record, *, retryable: bool = False) -> Attempt:
        """The same attempt with what `record` says of it."""
        # dataclasses.replace takes longer than all the rest of the fold of a record
        return Attempt(
            self.number,
            self.epoch,
            self.nonce,
            status,
            self.started,
            self.deadline,
            self.send_before,
            retryable,
            self.opened,
            record,
        )


@dataclass(frozen=True, slots=True)
class Action:
    """One effect on the world, over all its attempts."""

    action_id: str
    step_name: str
    key: str | None
    fingerprint: str | None
    declares: Declaration
    status: str
    """One of the keys of `TRANSITIONS`; ``attempting`` and ``inDoubt`` are open."""
    attempts: tuple[Attempt, ...]
    record: Record
    """The record that decides `status`."""
    records: tuple[Record, ...]
    compensates: str | None
    result: Any
    external_ref: str | None
    message_id: str | None

    @property
    def open(self) -> bool:
        """Whether something is in flight, in doubt, held at the provider or half compensated."""
        return self.status not in SETTLED

    @property
    def open_attempts(self) -> tuple[Attempt, ...]:
        """The attempts that may have been applied without our knowing."""
        return tuple(attempt for attempt in self.attempts if attempt.open)

    @property
    def retryable(self) -> bool:
        """For a failed action: whether its last failure may be tried again."""
        return bool(self.attempts) and self.attempts[-1].retryable

    @property
    def first_start(self) -> int | None:
        """When the earliest attempt began, in nanoseconds."""
        return min((a.started for a in self.attempts if a.started is not None), default=None)

    @property
    def send_before(self) -> int | None:
        """The earliest recorded cut-off in nanoseconds: the first attempt fixes it, later ones inherit it."""
        return min((a.send_before for a in self.attempts if a.send_before is not None), default=None)
