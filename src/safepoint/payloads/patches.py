"""JSON Patches (RFC 6902): read and looked through before the first record, and applied to payloads.

Decided here: that a patch which can never be applied is known at once, with its place in its file, and that of one that
fails in the end nothing is told but which operation it was and which of its places is not there. Not decided here: what
the operations do (``jsonpatch``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

from safepoint.core import pointer
from safepoint.core.digest import digest_bytes
from safepoint.core.strictjson import parse
from safepoint.payloads.errors import PayloadMigrationError, StepFailedError

if TYPE_CHECKING:
    from jsonpatch import JsonPatch

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "add": ("value",),
    "remove": (),
    "replace": ("value",),
    "move": ("from",),
    "copy": ("from",),
    "test": ("value",),
}
"""The operations, and what each has beside its path."""


@dataclass(frozen=True, slots=True)
class Patch:
    """The content of one file."""

    path: str
    digest: str
    """Of the file's bytes."""
    _operations: tuple[tuple[Mapping[str, Any], JsonPatch], ...]
    """Each as it is written, and as a patch of its own: an error then says which one it was."""

    @classmethod
    def load(cls, path: str) -> Self:
        """Reads the patch in the file at `path`.

        Raises:
            PayloadMigrationError: it cannot be read, or is no JSON Patch.
        """
        from jsonpatch import JsonPatch

        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise PayloadMigrationError(f"{path}: it cannot be read: {error.strerror}") from error
        patch, faults = parse(data)
        if faults:
            raise _broken(path, f"it is no JSON: {faults[0].message}", faults[0].pointer)
        if not isinstance(patch, list):
            raise _broken(path, "it is no JSON Patch (RFC 6902): expected an array of operations")
        for number, operation in enumerate(patch):
            _check(path, number, operation)
        return cls(path, digest_bytes(data), tuple((each, JsonPatch([each])) for each in patch))

    def apply(self, value: Any) -> Any:
        """What becomes of `value`, a strict JSON value; it stays as it is.

        Raises:
            StepFailedError: an operation cannot be applied.
        """
        from jsonpatch import JsonPatchException, JsonPointerException

        found = orjson.loads(orjson.dumps(value))
        for number, (plain, operation) in enumerate(self._operations):
            # The library's own words hold values of the payload.
            try:
                found = operation.apply(found, in_place=True)
            except (JsonPatchException, JsonPointerException, LookupError, TypeError, ValueError) as error:
                words = f"operation {number + 1} ({_words(plain)}) of {self.path}"
                raise StepFailedError(f"{words} {_why(plain, self._before(number, value))}") from error
        return found

    def _before(self, number: int, value: Any) -> Any:
        """What `value` was before one of the operations, which may have left it half changed."""
        found = orjson.loads(orjson.dumps(value))
        for _, operation in self._operations[:number]:
            found = operation.apply(found, in_place=True)
        return found


def _words(operation: Mapping[str, Any]) -> str:
    name, path = operation["op"], _shown(operation["path"])
    return f"{name} {_shown(operation['from'])} to {path}" if "from" in _NEEDS[name] else f"{name} {path}"


def _why(operation: Mapping[str, Any], value: Any) -> str:
    """Why the operation fails on `value`, of which only places are told that the patch itself names."""
    name, path = operation["op"], operation["path"]
    needed = operation["from"] if "from" in _NEEDS[name] else path
    if name != "add" and not _is_there(value, needed):
        return f"does not fit: nothing lies at {_shown(needed)}"
    if name == "test":
        return f"does not fit: another value than it expects lies at {_shown(path)}"
    folder, _, last = path.rpartition("/")
    if not _is_there(value, folder):
        return f"does not fit: nothing lies at {_shown(folder)}, where it would put {_shown(last)}"
    holder = pointer.resolve(value, folder)
    if isinstance(holder, list):
        return f"does not fit: the array at {_shown(folder)} has no place {_shown(last)}"
    if not isinstance(holder, dict):
        return f"does not fit: what lies at {_shown(folder)} is neither an object nor an array"
    return "does not fit what is there"


def _is_there(value: Any, place: str) -> bool:
    try:
        pointer.resolve(value, place)
    except KeyError:
        return False
    return True


def _check(path: str, number: int, operation: Any) -> None:
    """Whether the operation is one; RFC 6902 §4 has unknown members ignored."""
    if not isinstance(operation, dict):
        raise _broken(path, "expected an operation, which is an object", pointer.join(number))
    name = operation.get("op")
    needs = _NEEDS.get(name) if isinstance(name, str) else None
    if needs is None:
        known = ", ".join(_NEEDS)
        raise _broken(
            path, f"op: expected one of {known}", pointer.join(number, *(["op"] if "op" in operation else []))
        )
    for member in ("path", *needs):
        if member not in operation:
            raise _broken(path, f"{name}: its {member} is missing", pointer.join(number))
    for member in {"path", *needs} - {"value"}:
        try:
            tokens = pointer.split(operation[member]) if isinstance(operation[member], str) else None
        except ValueError:
            tokens = None
        if tokens is None:
            problem = f"{member}: expected a JSON Pointer, which is empty or begins with a slash"
            raise _broken(path, problem, pointer.join(number, member))
    if name == "remove" and not operation["path"]:
        raise _broken(path, "remove: a payload cannot be removed as a whole", pointer.join(number, "path"))
    if name == "move" and operation["path"].startswith(operation["from"] + "/"):
        raise _broken(path, "move: a value cannot be moved into itself", pointer.join(number, "path"))


def _broken(path: str, problem: str, place: str = "") -> PayloadMigrationError:
    return PayloadMigrationError(f"{path}: {problem}{f' (at {place})' if place else ''}")


def _shown(place: str) -> str:
    return repr(place)[1:-1] if place else "the whole payload"
