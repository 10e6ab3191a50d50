"""The users' own schemas for what their checkpoints carry (SPEC.md#payload-schema-names).

Decided here: which snapshots a payload schema describes, which engine judges, and that ``format`` is a remark which
asserts nothing, as JSON Schema has it since 2019. Not decided here: which schemas a project has (``settings``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from safepoint.core import pointer
from safepoint.core.fault import Fault
from safepoint.core.scanner import MOST_FAULTS
from safepoint.payloads.files import Complete, PayloadSchemaError, complete

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["SNAPSHOTS", "PayloadSchemaError", "PayloadSchemas"]

SNAPSHOTS = ("inputSnapshot", "stateSnapshot")
"""The members of a checkpoint that its ``payloadSchema`` describes."""

_TRIALS: tuple[Any, ...] = (None, {}, [], "", 0)
"""Values that every schema can judge, unless it goes round in circles."""


@dataclass(frozen=True, slots=True)
class PayloadSchemas:
    """The payload schemas of a project, compiled once for as many records as there are.

    Example::

        schemas = safepoint.PayloadSchemas.load({"support-agent/state@4": "schemas/state-4.json"})
        found = safepoint.validate("store", payload_schemas=schemas)
    """

    _compiled: Mapping[str, Mapping[str, _Compiled]] = field(default_factory=dict)
    """Name and version of a schema to what judges each snapshot."""

    @classmethod
    def load(
        cls, files: Mapping[str, str | Mapping[str, str]], *, engine: Literal["auto", "jsonschema"] = "auto"
    ) -> Self:
        """Reads and compiles all of them, so that a broken one is known before the first record.

        Args:
            files: ``name@version`` to the path of a JSON Schema for whichever snapshot is there, or to one path for
                each snapshot by its member's name.
            engine: ``auto``: jsonschema-rs says yes or no where it is installed; ``jsonschema``: always the reference.

        Raises:
            PayloadSchemaError: one of them cannot be used.
        """
        compiled: dict[str, _Compiled] = {}
        schemas: dict[str, dict[str, _Compiled]] = {}
        for name, given in files.items():
            paths = dict.fromkeys(SNAPSHOTS, given) if isinstance(given, str) else given
            for path in paths.values():
                if path not in compiled:
                    compiled[path] = _compile(path, fast=engine == "auto")
            schemas[name] = {member: compiled[path] for member, path in paths.items()}
        return cls(schemas)

    @property
    def names(self) -> tuple[str, ...]:
        """The payload schemas that there are."""
        return tuple(self._compiled)

    def check(self, value: Mapping[str, Any]) -> Iterator[Fault]:
        """What is wrong with the payloads of `value`, a sound record.

        Yields:
            Faults without a place: SP231 for what breaks the schema, by snapshot and pointer, at most `MOST_FAULTS`
            for a snapshot; SP232 where the record names a schema that is none of these. Where there are no schemas at
            all, nothing is ever wrong.
        """
        name = value.get("payloadSchema")
        if name is None or not self._compiled:
            return
        schemas = self._compiled.get(name)
        if schemas is None:
            yield Fault("SP232", self._unknown(name), "/payloadSchema")
            return
        for member, compiled in schemas.items():
            if member in value:
                yield from compiled.check(name, member, value[member])

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        close = get_close_matches(name, self._compiled, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"{name} is none of the configured payload schemas, so the payload was not checked{hint}"


@dataclass(frozen=True, slots=True)
class _Compiled:
    """One schema, ready to judge."""

    is_valid: Callable[[Any], bool] | None
    """jsonschema-rs, where it is installed and wanted."""
    reference: Validator
    """Says what is wrong; without the other one also whether anything is."""

    def check(self, name: str, member: str, value: Any) -> Iterator[Fault]:
        if self._is_surely_valid(value):
            return
        from safepoint.payloads.messages import faults

        found = set[Fault]()
        try:
            for error in self.reference.iter_errors(value):
                found.update(faults(name, member, error))
        except Exception as error:  # noqa: BLE001 - as over a very large number; no payload passes by it
            told = f"it cannot be judged: the reference engine fails over it with {type(error).__name__} ({name})"
            found.add(Fault("SP231", told, pointer.join(member)))
        listed = sorted(found, key=lambda fault: (fault.pointer, fault.message))
        yield from listed[:MOST_FAULTS]
        if more := len(listed[MOST_FAULTS:]):
            yield Fault(
                "SP231", f"{more} more faults of this payload are not listed ({name})", pointer.join(member)
            )

    def _is_surely_valid(self, value: Any) -> bool:
        if self.is_valid is None:
            return False
        try:
            return self.is_valid(value)
        except Exception:  # noqa: BLE001 - what this engine fails over the reference judges
            return False


def _compile(path: str, *, fast: bool) -> _Compiled:
    from jsonschema.validators import validator_for

    found = complete(path)
    # A schema that only refers to the file, so that both engines know where the file's own references begin.
    entry = {"$schema": found.dialect, "$ref": found.uri}
    reference: Validator = validator_for(entry)(entry, registry=found.registry)
    try:
        for trial in _TRIALS:
            reference.is_valid(trial)
    except RecursionError as error:
        raise PayloadSchemaError(path, "the schema refers to itself without end") from error
    except Exception as error:
        problem = f"the reference engine cannot judge by it: it fails with {type(error).__name__}"
        raise PayloadSchemaError(path, problem) from error
    return _Compiled(_fast(entry, found) if fast else None, reference)


def _fast(entry: Mapping[str, Any], found: Complete) -> Callable[[Any], bool] | None:
    # The engine imports this module itself, and panics where an interrupt falls into that.
    import decimal  # noqa: F401

    try:
        import jsonschema_rs
    except ImportError:
        return None
    try:
        registry = jsonschema_rs.Registry(list(found.documents.items()))
        validator = jsonschema_rs.validator_for(dict(entry), registry=registry, validate_formats=False)
    except (ValueError, jsonschema_rs.ReferencingError):
        # What only this engine cannot compile, such as a draft that it does not know, the reference judges alone.
        return None
    return validator.is_valid
