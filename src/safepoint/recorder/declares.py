"""What a tool promises about its effect, and what its provider answers.

Decided here: which promises are workable. Not decided here: what follows from them after a crash (``guard``).
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any, Literal

from safepoint.recorder.errors import RecorderError


@dataclass(frozen=True, slots=True)
class Declares:
    """What a tool declares about its effect; what is not declared counts as the worst (SPEC.md#declares)."""

    effect: Literal["read", "write", "message", "payment", "other"] = "other"
    idempotency: Literal["natural", "keyed", "none"] = "none"
    """``natural``: doing it twice equals once. ``keyed``: the provider honours the key and drops a second request."""
    dedupe_window_seconds: int | None = None
    """For how long the provider remembers a key; None: unknown, so that a doubt is never sent again."""
    probe: Literal["none", "byKey", "byQuery"] = "none"
    """How one can ask the provider whether it happened."""
    probe_settle_seconds: int = 0
    """Seconds until an applied effect shows to the probe."""
    reversibility: Literal["reversible", "compensatable", "irreversible"] = "irreversible"
    compensation: str | None = None
    """Name of the step that undoes it."""
    compensation_consumes_key: bool = False
    """The compensation carries the original key, does nothing where nothing happened, and uses the key up."""

    def document(self) -> dict[str, Any]:
        """The ``declares`` member of a record."""
        names = {
            "dedupe_window_seconds": "dedupeWindowSeconds",
            "probe_settle_seconds": "probeSettleSeconds",
            "compensation_consumes_key": "compensationConsumesKey",
        }
        said = (
            (name, value) for name, value in asdict(self).items() if value is not None and value is not False
        )
        return {names.get(name, name): value for name, value in said}

    @property
    def repeatable(self) -> bool:
        """Whether doing it again in doubt is harmless: a read, a natural effect, or a key that the provider honours."""
        return self.effect == "read" or self.idempotency != "none"

    def require_workable(self, action_id: str, key: str | None) -> None:
        """Refuse what could only disappoint after a crash, and warn of a key that protects nothing.

        Raises:
            RecorderError: the declaration promises a key that there is not, or one that could never be used.
        """
        if self.idempotency == "keyed" and key is None:
            raise RecorderError(
                f"{action_id} declares idempotency='keyed' and has no key: give key=, the same for every attempt"
            )
        if self.idempotency == "keyed" and self.dedupe_window_seconds is None and self.probe == "none":
            raise RecorderError(
                f"{action_id} declares idempotency='keyed' without dedupe_window_seconds: nobody knows for how long "
                "the provider remembers the key, so that after a crash the run could only be handed to a human; say "
                "how long, or declare a probe"
            )
        used = self.idempotency != "none" or self.probe == "byKey" or self.effect == "read"
        if key is not None and not used:
            warnings.warn(
                f"{action_id} has a key, but its declaration does not say that the provider honours it: after a "
                "crash it protects nothing; declares=Declares(idempotency='keyed', dedupe_window_seconds=...)",
                stacklevel=3,
            )


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the provider answered; a called function returns one where there is more to keep than a result."""

    result: Any = None
    """Any small JSON value; a resumed run gets it back instead of a second call."""
    external_ref: str | None = None
    """The provider's id of the effect."""
    message_id: str | None = None
    """The id under which the outbox knows the message."""
    ref: str | None = None
    """Where the evidence can be looked up; None: `external_ref`."""
