"""One step of a project's payload migrations: from one named payload schema to another.

Decided here: what a step says of itself, and when a list of steps is none. Not decided here: in which order steps are
taken (``migrations``), and how they are written down (``settings``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from safepoint.payloads.errors import PayloadMigrationError
from safepoint.payloads.functions import FUNCTION_NAME, Function
from safepoint.payloads.patches import Patch


@dataclass(frozen=True, slots=True)
class PayloadStep:
    """A step as a project has configured it; nothing of it has been read yet."""

    source: str
    """The payload schema that it begins with, such as ``support-agent/state@4``."""
    target: str
    """The one that its results must fit."""
    patch: str | Mapping[str, str] | None = None
    """Path of a JSON Patch (RFC 6902) for whichever snapshot is there, or a path for each by its member's name."""
    function: str | None = None
    """``module:function`` instead, called with a snapshot's member name and a copy of it; returns the new one."""
    folder: str = "."
    """Where the function's module lies."""
    origin: str = "step"
    """Where the step stands, for errors."""

    @property
    def ends(self) -> tuple[str, str]:
        """What tells it from others."""
        return self.source, self.target

    @property
    def way(self) -> str:
        """What it does, in words."""
        return f"{self.source} to {self.target}"


def check_steps(steps: Iterable[PayloadStep], known: Collection[str]) -> None:
    """Whether they are steps between payload schemas, of which those in `known` have a JSON Schema.

    Raises:
        PayloadMigrationError: one is not; the message begins with where it stands.
    """
    ways: dict[tuple[str, str], PayloadStep] = {}
    for step in steps:
        if (step.patch is None) == (step.function is None):
            found = "neither is there" if step.patch is None else "both are there"
            problem = f"expected either patch or function, {found}; a step is one of them"
            raise _wrong(step, "", problem)
        if step.function is not None and not FUNCTION_NAME.fullmatch(step.function):
            problem = "expected a function such as my_package.migrations:four_to_five"
            raise _wrong(step, ".function", f"{problem}, found {step.function!r}")
        if step.source == step.target:
            raise _wrong(step, ".to", "it is the same as from; a step leads somewhere else")
        if step.target not in known:
            problem = f"{step.target} has no schema, so its results could not be checked; add it to [payload-schemas]"
            raise _wrong(step, ".to", f"{problem}{_did_you_mean(step.target, known)}")
        other = ways.setdefault(step.ends, step)
        if other is not step:
            problem = f"{other.origin} leads from {step.way} already; keep one of them (the first is 0)"
            raise PayloadMigrationError(f"{step.origin}: {problem}")


def _wrong(step: PayloadStep, key: str, problem: str) -> PayloadMigrationError:
    # its ends, too: where it stands is counted from 0, and not everybody counts so
    return PayloadMigrationError(f"{step.origin}{key}: the step from {step.way}: {problem}")


@dataclass(frozen=True, slots=True)
class LoadedStep:
    """A step that can be taken."""

    plan: PayloadStep
    patches: Mapping[str, Patch]
    """For each snapshot that it changes, by the member's name; empty where it is a function."""
    function: Function | None = None

    @classmethod
    def load(cls, plan: PayloadStep, members: Iterable[str]) -> Self:
        """Reads the patches of a step; a function is not imported before it is wanted.

        Raises:
            PayloadMigrationError: a file is not there, or is no patch.
        """
        if plan.patch is None:
            return cls(plan, {})
        paths = dict.fromkeys(members, plan.patch) if isinstance(plan.patch, str) else plan.patch
        read = {path: Patch.load(path) for path in dict.fromkeys(paths.values())}
        return cls(plan, {member: read[path] for member, path in paths.items()})

    def with_function(self) -> LoadedStep:
        """The step with its function, if it is one.

        Raises:
            PayloadMigrationError: the function cannot be imported.
        """
        if self.plan.function is None:
            return self
        return LoadedStep(
            self.plan, {}, Function.load(self.plan.function, self.plan.folder, self.plan.origin)
        )

    def apply(self, member: str, value: Any) -> Any:
        """What becomes of a snapshot.

        Raises:
            StepFailedError: it does not fit the step.
        """
        if self.function is not None:
            return self.function.apply(member, value)
        return self.patches[member].apply(value) if member in self.patches else value

    def document(self) -> dict[str, Any]:
        """What two equal steps have in common, for a digest."""
        ends = {"from": self.plan.source, "to": self.plan.target}
        if self.plan.function is not None:
            return {**ends, "function": self.plan.function}
        return {**ends, "patches": {member: patch.digest for member, patch in self.patches.items()}}


def _did_you_mean(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f", or did you mean {close[0]}?" if close else ""
