"""The question that the guard was asked, in the words that ask it again.

Decided here: how the printed commands and Python calls open the store. Not decided here: which storage options are
secrets (``cli``), and what is to be done next (``decision``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

from safepoint.policy import Policy
from safepoint.render.overview import quote
from safepoint.render.terminal import plain


@dataclass(frozen=True, slots=True)
class Asked:
    """What the decision was asked with, so that the printed commands ask the same again."""

    store: str
    """As the user named it."""
    options: tuple[str, ...] = ()
    """Further words of the command, but the facts, the policy and the storage options."""
    storage_words: tuple[str, ...] = ()
    """Of every command that opens the store."""
    storage: Mapping[str, Any] = field(default_factory=dict)
    """The same for Python, with an `Ellipsis` in place of a secret."""
    facts: Mapping[str, Any] | None = None
    facts_file: str | None = None
    policy: Policy = field(default_factory=Policy)
    """The settings in force."""
    policy_file: str | None = None
    request: Mapping[str, Any] | str | None = None
    """The request document, or where it is."""
    anchor: str | None = None
    """What the newest anchor that was consulted is called."""
    saved: Mapping[str, str] = field(default_factory=dict)
    """The guard context of the checkpoint that the decision starts from."""
    silent: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Effects to the epochs of those attempts in doubt of which their own worker has not said how they ended."""

    def answer(self, action_id: str) -> str | None:
        """What the facts say of an action."""
        probe = ((self.facts or {}).get("probes") or {}).get(action_id) or {}
        result: str | None = probe.get("result")
        return result

    def command(self, name: str, run_id: str, *more: str) -> str:
        """The line to copy."""
        return " ".join(
            ["safepoint", name, *map(quote, (self.store, "--run", run_id, *more, *self.storage_words))]
        )

    def again(self, run_id: str, facts: str | None, policy: str | None = None) -> str:
        """The line that asks the guard again, with the facts of that file, and with that policy or the same one."""
        files = {"--policy": policy or self.policy_file, "--facts": facts}
        given = (word for option, file in files.items() if file for word in (option, file))
        return self.command("guard", run_id, *self.options, *given)

    def proves_dead(self, epoch: int) -> bool:
        """Whether the facts say so of the owner of `epoch`; not whether they are believed."""
        owners = (self.facts or {}).get("owners") or ()
        return any(owner.get("leaseEpoch") == epoch and owner.get("state") == "dead" for owner in owners)

    @property
    def imports(self) -> list[str]:
        """What Python needs besides, to open the store."""
        return ["  from safepoint import open_store"] if self.storage else []

    @property
    def opened(self) -> str:
        """The store as Python is given it: its place alone, or opened with what it needs."""
        place = plain(repr(str(self.store)))
        if not self.storage:
            return place
        shown = {name: "…" if value is ... else plain(repr(value)) for name, value in self.storage.items()}
        named = {name: text for name, text in shown.items() if name.isidentifier() and not iskeyword(name)}
        other = ", ".join(f"{plain(repr(name))}: {text}" for name, text in shown.items() if name not in named)
        options = [f"{name}={text}" for name, text in named.items()] + ([f"**{{{other}}}"] if other else [])
        return f"open_store({', '.join([place, *options])})"
