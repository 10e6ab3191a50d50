"""Which steps lead from each payload schema to the ones that are asked for.

Decided here: the shortest way is taken, and where that is not one alone, nobody guesses. Not decided here: what the
steps do (``steps``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from safepoint.payloads.errors import PayloadMigrationError
from safepoint.payloads.steps import PayloadStep


class Ways:
    """The ways to `targets`."""

    def __init__(self, plans: Iterable[PayloadStep], targets: Iterable[str]) -> None:
        """Looks for them.

        Raises:
            PayloadMigrationError: two versions of one family are asked for, or of two ways none is the one to take.
        """
        self._steps = sorted(plans, key=lambda plan: plan.ends)
        self.chains: dict[str, tuple[PayloadStep, ...]] = {}
        """Each payload schema that is to be migrated, and its steps."""
        families: dict[str, str] = {}
        for target in targets:
            other = families.setdefault(family_of(target), target)
            if other != target:
                raise PayloadMigrationError(f"{other} and {target} are of one family; ask for one of them")
        found = {target: self._toward(target) for target in families.values()}
        for name in sorted({step.source for step in self._steps} - set(families.values())):
            ends = [target for target, chains in found.items() if name in chains]
            own = families.get(family_of(name))
            if own in ends:
                ends = [str(own)]
            if len(ends) > 1:
                problem = f"{name} leads to {' and to '.join(ends)}; ask for one of them at a time"
                raise PayloadMigrationError(problem)
            if ends:
                self.chains[name] = _the_one(found[ends[0]], name)

    def _toward(self, target: str) -> dict[str, list[PayloadStep]]:
        """For each name from which a way leads to `target`, the steps that begin a shortest one."""
        first: dict[str, list[PayloadStep]] = {target: []}
        reached = {target}
        while reached:
            before: dict[str, list[PayloadStep]] = {}
            for step in self._steps:
                if step.target in reached and step.source not in first:
                    before.setdefault(step.source, []).append(step)
            first |= before
            reached = set(before)
        return first


def family_of(name: str) -> str:
    """A payload schema's name without its version."""
    return name.rpartition("@")[0]


def _the_one(first: Mapping[str, list[PayloadStep]], name: str) -> tuple[PayloadStep, ...]:
    """The shortest way from `name` to where `first` leads.

    Raises:
        PayloadMigrationError: there are two of them.
    """
    chain: list[PayloadStep] = []
    at = name
    while steps := first[at]:
        if len(steps) > 1:
            one, two = (
                " to ".join((name, *_names(chain), *_names(_walk(first, step)))) for step in steps[:2]
            )
            problem = f"two ways of one length lead from {name}: {one}, and {two}"
            remedy = "take out a step, or add one that leads there directly"
            raise PayloadMigrationError(f"{problem}; {remedy} ({steps[0].origin}, {steps[1].origin})")
        chain += steps
        at = steps[0].target
    return tuple(chain)


def _walk(first: Mapping[str, list[PayloadStep]], step: PayloadStep) -> list[PayloadStep]:
    chain = [step]
    while steps := first[chain[-1].target]:
        chain.append(steps[0])
    return chain


def _names(chain: Iterable[PayloadStep]) -> list[str]:
    return [step.target for step in chain]
