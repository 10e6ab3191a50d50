"""Migrations in Python: functions of the project, called only where its user allowed code.

Decided here: how a function is found, what counts as its result: a strict JSON value, and the same one each time; and
that of an error only its kind and its line are told. Not decided here: whether code is allowed, and whether the result
fits its schema (``migrations``).
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from safepoint.core import pointer
from safepoint.core.scanner import SAFE_INTEGER
from safepoint.core.strictjson import LIMITS
from safepoint.payloads.errors import PayloadMigrationError, StepFailedError

FUNCTION_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
"""``package.module:function``."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a project: ``(member, payload) -> payload``."""

    name: str
    """``module:function``."""
    _call: Callable[[str, Any], Any]
    _folder: Path
    """Of the project."""

    @classmethod
    def load(cls, name: str, folder: str, origin: str) -> Self:
        """Imports the function.

        Args:
            name: ``module:function``.
            folder: where its module is looked for first, and only while it is imported.
            origin: who names it, for an error.

        Raises:
            PayloadMigrationError: there is no such function.
        """
        module_name, _, function = name.partition(":")
        place = str(Path(folder).absolute())
        sys.path.insert(0, place)
        try:
            importlib.invalidate_caches()
            module = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:
            what = (
                f"{type(error).__name__}: {error}" if isinstance(error, ImportError) else type(error).__name__
            )
            raise PayloadMigrationError(
                f"{origin}.function: {module_name} cannot be imported: {what}"
            ) from error
        finally:
            with suppress(ValueError):  # the module may have taken it out itself
                sys.path.remove(place)
        call = getattr(module, function, None)
        if not callable(call):
            problem = f"{module_name} ({getattr(module, '__file__', None)}) has no function {function}"
            raise PayloadMigrationError(f"{origin}.function: {problem}")
        return cls(name, call, Path(place))

    def apply(self, member: str, value: Any) -> Any:
        """What the function makes of `value`, a strict JSON value, which stays as it is.

        Its members are in the order of their names: a function that goes over a set has another order in each process.

        Raises:
            StepFailedError: it raised, its result is no JSON value, or a second call had another one.
        """
        first, second = (self._result(member, orjson.loads(orjson.dumps(value))) for _ in range(2))
        if first != second:
            problem = "had another result when it was called again with the same payload"
            remedy = "it must not depend on the time, on chance or on what it was called with before"
            raise StepFailedError(f"{self.name} {problem}; {remedy}")
        return orjson.loads(first)

    def _result(self, member: str, value: Any) -> bytes:
        try:
            result = self._call(member, value)
        except (Exception, SystemExit) as error:
            # Its words may hold what was saved.
            raise StepFailedError(f"{self.name} raised {type(error).__name__}{self._place(error)}") from error
        if problem := no_json(result):
            raise StepFailedError(f"{self.name} returned {problem}")
        return orjson.dumps(result, option=orjson.OPT_SORT_KEYS)

    def _place(self, error: BaseException) -> str:
        """The last line of the project's own code that an error came through."""
        # the first frame is this module's
        frames = list(traceback.walk_tb(error.__traceback__))[1:]
        for frame, line in reversed(frames):
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(self._folder) and "site-packages" not in path.parts:
                return f" at line {line} of {path.relative_to(self._folder).as_posix()}"
        return ""


def no_json(value: Any) -> str | None:
    """Why `value` is no strict JSON value; None where it is one."""
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while waiting:
        part, place = waiting.pop()
        if len(place) > LIMITS.depth:
            return f"something deeper than {LIMITS.depth} levels"
        if problem := _no_json_part(part):
            return f"{problem} (at {pointer.join(*place)})" if place else problem
        if type(part) is dict:
            waiting += ((inner, (*place, name)) for name, inner in part.items())
        elif type(part) is list:
            waiting += ((inner, (*place, index)) for index, inner in enumerate(part))
    return None


def _no_json_part(part: Any) -> str | None:
    kind = type(part)
    if kind is dict:
        names = [name for name in part if type(name) is not str]
        if names:
            return f"an object with a name that is no text but a {type(names[0]).__name__}"
        return "an object with a name that is no Unicode text" if any(map(_has_surrogate, part)) else None
    if kind is str:
        return (
            "a text that is no Unicode text: it has half of a surrogate pair"
            if _has_surrogate(part)
            else None
        )
    if kind is int:
        return None if abs(part) <= SAFE_INTEGER else f"an integer beyond ±{SAFE_INTEGER}"
    if kind is float:
        return None if math.isfinite(part) else "a number that is not finite"
    if part is None or kind is bool or kind is list:
        return None
    return f"a {kind.__name__}, which is no JSON value"


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
