"""The question that the guard was asked, in the words that ask it again.

Decided here: how the printed commands and Python calls open the store. Not decided here: which storage options are
secrets (``cli``), and what is to be done next (``decision``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

from safepoint.policy import Policy
from safepoint.render.overview import quote
from safepoint.render.template import FILL_IN
from safepoint.render.terminal import plain

YOU = f"{FILL_IN}: you"
"""In place of who answers."""

_WISHES = frozenset({"--request", "--goal", "--checkpoint", "--step", "--epoch", "--actor"})
"""Options that say what is wanted of the run."""


def _listed(words: Sequence[str]) -> str:
    *most, last = words or ("",)
    return f"{', '.join(most)} or {last}" if most else last


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a human, as far as an answer needs it."""

    option: str
    """``--action`` or ``--checkpoint``."""
    subject: str
    """Its id."""
    pending: bool
    """Whether it waits for an answer, and has not expired."""


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
    """Where further facts are to be written."""
    more_facts: tuple[str, ...] = ()
    """Facts files that were given besides."""
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
    outcomes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Effects to what a human may say of each, as it stands."""
    questions: Mapping[str, Question] = field(default_factory=dict)
    """The run's approvals by their ids."""
    checkpoints: tuple[str, ...] = ()
    """Other checkpoints that the run could go on from, newest first."""
    steps: tuple[str, ...] = ()
    """What is next at the checkpoint that it would go on from."""
    writable: bool = True
    """Whether an answer can be recorded in the run."""
    endable: bool = True
    """Whether a human may still end it."""
    claimable: bool = True
    """Whether the run's records lie so that somebody could claim it."""
    stopping: bool = False
    """Whether the run was asked to stop already."""
    source: str | None = None
    """URL of the store that the run was copied from; None: it is no copy."""
    elsewhere: bool = False
    """Whether it was asked from where no approval can be given beforehand: a checkpoint that begins a new branch."""

    def answer(self, action_id: str) -> str | None:
        """What the facts say of an action."""
        probe = ((self.facts or {}).get("probes") or {}).get(action_id) or {}
        result: str | None = probe.get("result")
        return result

    def command(self, name: str, run_id: str, *more: str) -> str:
        """The line to copy that does something with the run."""
        return self.line(name, "--run", run_id, *more)

    def line(self, name: str, *more: str) -> str:
        """The line to copy that does something with the store."""
        return " ".join(["safepoint", name, *map(quote, (self.store, *more, *self.storage_words))])

    def again(self, run_id: str, facts: str | None, policy: str | None = None, *, fleet: bool = True) -> str:
        """The line that asks the guard again, with the facts of that file, and with that policy or the same one.

        Args:
            run_id: the run.
            facts: the facts file; None: without facts.
            policy: the policy file; None: the same one.
            fleet: whether the file that says how the fleet fares is named again.
        """
        files = [("--policy", policy or self.policy_file)]
        if facts:
            files += [("--facts", file) for file in (*self.more_facts, facts)]
        given = (word for option, file in files if file for word in (option, file))
        options = list(self.options)
        if not fleet and "--fleet" in options:
            at = options.index("--fleet")
            del options[at : at + 2]
        return self.command("guard", run_id, *options, *given)

    def asking(self, run_id: str, *wishes: str) -> str:
        """The line that asks the guard something else of the same run."""
        pairs = list(zip(self.options[::2], self.options[1::2], strict=False))
        kept = [word for pair in pairs if pair[0] not in _WISHES for word in pair]
        return self.command("guard", run_id, *kept, *wishes, *self.files)

    def option(self, name: str) -> str | None:
        """What the option of that name was given, among `options`."""
        return dict(zip(self.options[::2], self.options[1::2], strict=False)).get(name)

    def resolve(self, run_id: str, action_id: str, outcome: str | None = None) -> str:
        """The line that records what became of an effect."""
        possible = self.possible(action_id)
        said = outcome or (possible[0] if len(possible) == 1 else f"{FILL_IN}: {_listed(possible)}")
        proof = ("--evidence", f"{FILL_IN}: where to look it up")
        why = ("--reason", f"{FILL_IN}: why") if said in {"cancelled", "abandoned"} else proof
        words = ("--action", action_id, "--as", said, "--by", YOU, *why)
        return self.command("resolve", run_id, *words, *self.files)

    def possible(self, action_id: str) -> tuple[str, ...]:
        """What a human may say of an effect."""
        return self.outcomes.get(action_id, ("committed", "failed", "abandoned"))

    @property
    def files(self) -> tuple[str, ...]:
        """The facts and the policy, as words of a command that takes both."""
        facts = (*self.more_facts, *([self.facts_file] if self.facts_file else []))
        policy = ("--policy", self.policy_file) if self.policy_file else ()
        return (*policy, *(word for file in facts for word in ("--facts", file)))

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
