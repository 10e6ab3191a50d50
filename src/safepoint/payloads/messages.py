"""What is said of a payload that breaks its schema: what was expected, and never what the payload holds.

Decided here: words and pointers. What is the schema's is shown where it is short: a bound, a pattern, the values that
it allows. What the payload holds is not, but how long it is and how much of it there is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from safepoint.core import pointer
from safepoint.core.fault import Fault

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_LONGEST = 60
"""Characters of a name, a pattern or an allowed value that are shown."""

_MOST = 5
"""Allowed values that are listed."""

_BOUNDS = {
    "minimum": ("a number of at least {}", "a smaller one"),
    "maximum": ("a number of at most {}", "a greater one"),
    "exclusiveMinimum": ("a number greater than {}", "one that is not"),
    "exclusiveMaximum": ("a number less than {}", "one that is not"),
    "multipleOf": ("a multiple of {}", "a number that is none"),
}
_COUNTS = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "member"),
    "maxProperties": ("at most", "member"),
}


def faults(name: str, member: str, error: ValidationError) -> Iterator[Fault]:
    """The faults in one error of the reference engine, with pointers into the record.

    Args:
        name: the payload schema's, for the message.
        member: the snapshot that was judged.
        error: what the engine said.
    """
    where = pointer.join(member, *error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        for extra in _additional(error):
            message = f"member {_quote(extra)} is not known to {name}"
            yield Fault("SP231", message, where + pointer.join(extra))
    else:
        yield Fault("SP231", f"{_said(error)} ({name})", where)


def _additional(error: ValidationError) -> list[str]:
    rule: Any = error.schema
    value: Any = error.instance
    known, patterns = rule.get("properties", {}), rule.get("patternProperties", {})
    others = (name for name in value if name not in known)
    return [name for name in others if not any(re.search(pattern, name) for pattern in patterns)]


def _said(error: ValidationError) -> str:
    # as the keyword has it, and None for the schema ``false``
    keyword: Any = error.validator
    bound: Any = error.validator_value
    found = _found(error.instance)
    if "propertyNames" in error.absolute_schema_path:
        return f"the name of member {_quote(str(error.instance))} is not allowed"
    match keyword:
        case "required" | "dependentRequired" | "dependencies":
            return f"member {_quote(_missing(error))} is missing"
        case "type":
            names = [bound] if isinstance(bound, str) else bound
            return f"expected {' or '.join(map(str, names))}, found {found}"
        case "enum" | "const":
            return f"expected {_allowed(bound if keyword == 'enum' else [bound])}, found another: {found}"
        case "pattern":
            return f"expected text that fits {_quote(bound)}, found {found}"
        case "anyOf":
            return f"expected one of {len(bound)} alternatives, found {found} that fits none"
        case "oneOf":
            fits = "none" if error.context else "more than one"
            return f"expected exactly one of {len(bound)} alternatives, found {found} that fits {fits}"
        case "uniqueItems":
            return "expected items that all differ, found equal ones"
        case None | "not" if not bound:
            return f"expected nothing here, found {found}"
        case _ if keyword in _BOUNDS:
            wanted, other = _BOUNDS[keyword]
            return f"expected {wanted.format(bound)}, found {other}"
        case _ if keyword in _COUNTS:
            how, what = _COUNTS[keyword]
            value: Any = error.instance
            return f"expected {how} {bound} {what}{'' if bound == 1 else 's'}, found {len(value)}"
        case _:
            return f"breaks {keyword}: found {found}"


def _missing(error: ValidationError) -> str:
    """The member that is missing; the engine reports them one by one, and names them in its prose only."""
    wanted: Any = error.validator_value
    value: Any = error.instance
    if isinstance(wanted, dict):
        lists = (names for cause, names in wanted.items() if cause in value and isinstance(names, list))
        wanted = [name for names in lists for name in names]
    absent = [str(name) for name in wanted if name not in value]
    return next((name for name in absent if error.message.startswith(repr(name))), absent[0])


def _allowed(values: list[Any]) -> str:
    """What the schema allows, where that is short."""
    short = [v for v in values if v is None or isinstance(v, bool | int | float) or _is_short(v)]
    if not values or len(short) < len(values) or len(values) > _MOST:
        return "a value that the schema lists"
    *first, last = (json.dumps(value) for value in values)
    return f"{', '.join(first)} or {last}" if first else last


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _found(value: Any) -> str:
    """What `value` is, without showing it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "an empty string" if not value else "a string"
        case list():
            return "an empty array" if not value else "an array"
        case dict():
            return "an object"
        case int():
            return "a whole number"
        case _:
            return "a number"


def _quote(text: str) -> str:
    """`text` as a JSON string in ASCII, cut short: a hostile name must not reach the terminal as it is."""
    return json.dumps(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
