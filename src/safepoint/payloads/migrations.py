"""Users' migrations of what their checkpoints carry, from one payload schema to another.

Decided here: which steps lead to what is asked for, that each result is checked, and what is refused: a payload is
either what its schema says, or it stays as it was. Not decided here: what one step does (``steps``), and what else of a
record changes with its payload (``migrate``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from safepoint.core.digest import digest_value
from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.payloads import SNAPSHOTS, PayloadSchemas
from safepoint.payloads.errors import PayloadMigrationError, StepFailedError
from safepoint.payloads.functions import no_json
from safepoint.payloads.steps import LoadedStep, PayloadStep, check_steps
from safepoint.payloads.ways import Ways, family_of

__all__ = ["PayloadChange", "PayloadMigrationError", "PayloadMigrations", "PayloadStep"]


@dataclass(frozen=True, slots=True)
class PayloadMigrations:
    """The steps of a project between its payload schemas, read and checked.

    Example::

        schemas = safepoint.PayloadSchemas.load({"support-agent/state@5": "schemas/state-5.json"})
        step = safepoint.PayloadStep("support-agent/state@4", "support-agent/state@5", patch="migrations/4-to-5.json")
        migrations = safepoint.PayloadMigrations.load([step], schemas)
        state = migrations.migrate("support-agent/state@4", saved, to="support-agent/state@5")
    """

    _steps: tuple[LoadedStep, ...]
    _schemas: PayloadSchemas
    _allow_code: bool

    @classmethod
    def load(cls, steps: Iterable[PayloadStep], schemas: PayloadSchemas, *, allow_code: bool = False) -> Self:
        """Reads the patches of all steps, so that a broken one is known before the first record.

        Args:
            steps: in any order; together they may form ways of any length, also back.
            schemas: must have the target of every step.
            allow_code: steps may be Python functions of the project, which are then imported and called.

        Raises:
            PayloadMigrationError: a step is none; the message says where it stands and what is wrong.
        """
        plans = tuple(steps)
        check_steps(plans, schemas.names)
        return cls(tuple(LoadedStep.load(plan, SNAPSHOTS) for plan in plans), schemas, allow_code)

    def toward(self, targets: Iterable[str]) -> PayloadChange:
        """What leads to `targets`, names of payload schemas; of one family, which is the name without its version, one.

        Raises:
            PayloadMigrationError: nobody knows one of them, two shortest ways lead to it, or a way there is a function
                and code is not allowed, or that function cannot be imported.
        """
        wanted = tuple(sorted(set(targets)))
        known = (
            *self._schemas.names,
            *(end for step in self._steps for end in (step.plan.source, step.plan.target)),
        )
        for target in wanted:
            if target not in known:
                raise PayloadMigrationError(_unknown(target, known))
        ways = Ways((step.plan for step in self._steps), wanted)
        on_the_way = {plan.ends for chain in ways.chains.values() for plan in chain}
        used = {step.plan.ends: self._ready(step) for step in self._steps if step.plan.ends in on_the_way}
        chains = {name: tuple(used[plan.ends] for plan in chain) for name, chain in ways.chains.items()}
        documents = [used[ends].document() for ends in sorted(used)]
        digest = digest_value({"targets": list(wanted), "steps": documents})
        return PayloadChange(wanted, digest, chains, self._schemas)

    def migrate(self, name: str, payload: Any, *, to: str, member: str = "stateSnapshot") -> Any:
        """A payload as another schema has it, for a program that resumes.

        Args:
            name: the ``payloadSchema`` of the checkpoint.
            payload: one of its snapshots; it stays as it is.
            to: the payload schema that is wanted.
            member: which snapshot it is.

        Returns:
            The payload in its new form; `payload` itself where it has that form already, or is null.

        Raises:
            PayloadMigrationError: as in `toward`; or with `faults`, where no way leads from `name` to `to`, or the
                payload does not fit.
        """
        if member not in SNAPSHOTS:
            raise ValueError(f"member: expected {' or '.join(SNAPSHOTS)}, got {member!r}")
        change = self.toward([to])
        if problem := no_json(payload):
            raise PayloadMigrationError(f"the payload is {problem}")
        value = {"payloadSchema": name, member: payload}
        changed, faults = change.apply(value)
        if not faults and changed["payloadSchema"] != to:
            faults = (change.no_way(name, to),)
        if faults:
            raise PayloadMigrationError(f"{faults[0].code}: {faults[0].message}", faults)
        return changed[member]

    def _ready(self, step: LoadedStep) -> LoadedStep:
        if step.plan.function is not None and not self._allow_code:
            problem = f"the step from {step.plan.way} calls {step.plan.function}, and code is not allowed"
            remedy = "allow it with --allow-code (in Python allow_code=True) if you trust this project"
            raise PayloadMigrationError(f"{step.plan.origin}: {problem}; {remedy}")
        return step.with_function()


@dataclass(frozen=True, slots=True)
class PayloadChange:
    """What becomes of checkpoints whose payloads are brought to some payload schemas."""

    targets: tuple[str, ...]
    """The payload schemas asked for."""
    digest: str
    """Equal for equal targets, patches and function names: the same work."""
    _chains: Mapping[str, tuple[LoadedStep, ...]]
    """Where a payload may begin, and the steps from there."""
    _schemas: PayloadSchemas

    def apply(self, value: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[Fault, ...]]:
        """What becomes of `value`, a sound checkpoint of v3.

        Returns:
            A new value, with what its payload schema is called now; the same object where nothing is to do. With faults
            the same object, too: SP608 no way to what is asked for, SP609 a step cannot be applied, SP610 its result
            breaks its schema, SP611 the payload breaks the one that it names.
        """
        name = value.get("payloadSchema")
        if name is None:
            return value, ()
        chain = self._chains.get(name)
        if chain is None:
            target = next((each for each in self.targets if family_of(each) == family_of(name)), name)
            return value, () if name == target else (self.no_way(name, target),)
        # Nothing is known of what is not there: null stays null, whatever the schemas say of it.
        payload = {member: value[member] for member in SNAPSHOTS if value.get(member) is not None}
        if faults := tuple(self._broken(name, payload, "SP611", "not migrated: ")):
            return value, faults
        for step in chain:
            for member, old in payload.items():
                try:
                    payload[member] = None if old is None else step.apply(member, old)
                except StepFailedError as error:
                    message = f"the step from {step.plan.way} cannot be taken: {error}"
                    return value, (Fault("SP609", message, join(member)),)
            words = f"not migrated: after the step from {step.plan.way} "
            if faults := tuple(self._broken(step.plan.target, payload, "SP610", words)):
                return value, faults
            name = step.plan.target
        return {**value, "payloadSchema": name, **payload}, ()

    def no_way(self, name: str, target: str) -> Fault:
        """That a payload of `name` cannot be brought to `target`."""
        ways = sorted(start for start, chain in self._chains.items() if chain[-1].plan.target == target)
        hint = f"ways lead there from {', '.join(ways)}" if ways else "no step leads there"
        message = f"no way from {name} to {target}: {hint}; add the steps between to [[payload-migrations]]"
        return Fault("SP608", message, "/payloadSchema")

    def _broken(self, name: str, payload: Mapping[str, Any], code: str, words: str) -> Iterator[Fault]:
        for fault in self._schemas.check({"payloadSchema": name, **payload}):
            if fault.code == "SP231":
                yield replace(fault, code=code, message=words + fault.message)


def _unknown(target: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = sorted(set(known))
    close = get_close_matches(target, names, n=1)
    if close:
        hint = f"did you mean {close[0]}?"
    else:
        hint = (
            f"there are {', '.join(names)}"
            if names
            else "there are none; add [payload-schemas] to the settings"
        )
    return f"{target} is no payload schema of this project; {hint}"
