"""What happens in a made-up run: its effects, each with its tool and its course.

Decided here: how often things go wrong, and that the ledger records of a run come out even. Not decided here: what the
records say of it (``story``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

CHECKPOINTS = 10
"""In each run: the first before any effect, each further one between two effects."""

LEDGER_RECORDS = 50
"""In each run: those of nine effects, and as many reads as that leaves room for."""

TOOLS: Mapping[str, dict[str, Any]] = {
    "send_mail": {
        "effect": "message",
        "idempotency": "keyed",
        "dedupeWindowSeconds": 86400,
        "probe": "byKey",
    },
    "refund": {"effect": "payment", "idempotency": "keyed", "dedupeWindowSeconds": 604800, "probe": "byKey"},
    "book_return": {"effect": "write", "idempotency": "keyed", "dedupeWindowSeconds": 86400},
    "update_ticket": {"effect": "write", "idempotency": "natural"},
}
PROVES = {"message": "externalMessageSent", "write": "writePerformed", "payment": "writePerformed"}


@dataclass(slots=True)
class Scene:
    """How one effect goes."""

    tool: str
    course: str
    """``done``, ``retried`` (refused at first), ``withdrawn`` (planned only) or ``taken over`` (its worker died)."""
    planned: bool
    """Whether it is recorded before its first attempt."""
    asked: bool
    """Whether a human has to approve it."""

    @property
    def records(self) -> int:
        """How many ledger records it leaves."""
        return 2 + self.planned + 2 * (self.course == "retried") - (self.course == "withdrawn")


def scenes_of(rng: Random) -> list[Scene]:
    """The nine effects of one run."""
    scenes = []
    for _ in range(CHECKPOINTS - 1):
        course = rng.choices(("done", "retried", "withdrawn"), (92, 6, 2))[0]
        tool = rng.choices(tuple(TOOLS), (3, 1, 2, 3))[0]
        asked = course == "done" and (tool == "refund" or rng.random() < 0.03)
        scenes.append(Scene(tool, course, course == "withdrawn" or rng.random() < 0.3, asked))
    if rng.random() < 0.08:
        scenes[rng.randrange(2, len(scenes))] = Scene("send_mail", "taken over", planned=False, asked=False)
    if sum(scene.records for scene in scenes) % 2:  # reads come in twos
        odd = next(scene for scene in scenes if scene.course in {"done", "retried"})
        odd.planned = not odd.planned
    return scenes
