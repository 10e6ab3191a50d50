"""What is said of a value that does not fit: the reference engine's errors as faults, in our own words.

Decided here: how an error becomes a fault with a code (``x-code`` beside each keyword says which) and a message that
shows no payload, and what an unknown member means in which version.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from safepoint.core import pointer
from safepoint.core.fault import Fault
from safepoint.core.kind import Identity
from safepoint.core.scanner import MOST_FAULTS
from safepoint.core.version import CURRENT
from safepoint.schemas.engines import reference_judge
from safepoint.schemas.files import members

_ARTICLES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_CONDITIONAL = frozenset({"SP212", "SP221", "SP222", "SP223"})
"""Codes of rules that tie members together: their schemas' ``description`` says what is expected, and why."""


def explain(identity: Identity, value: Any) -> list[Fault]:
    """Every fault of a value that does not fit, ordered by pointer; of one code at most `MOST_FAULTS`."""
    found: dict[tuple[str, str, str], Fault] = {}
    for error in reference_judge(identity.kind, identity.version.major).iter_errors(value):
        broken = _Broken(
            where=tuple(error.absolute_path),
            keyword=str(error.validator),
            bound=error.validator_value,
            rule=error.schema,
            value=error.instance,
            of_name="propertyNames" in error.absolute_schema_path,
        )
        for member, fault in _explain(broken, identity):
            found.setdefault((fault.pointer, fault.code, member), fault)
    mistyped = {fault.pointer for fault in found.values() if fault.code == "SP201"}
    kept = (
        fault
        for fault in found.values()
        if (fault.code == "SP201" or fault.pointer not in mistyped)
        and mistyped.isdisjoint(_ancestors(fault.pointer))
    )
    return list(_bounded(sorted(kept, key=lambda fault: (fault.pointer, fault.code, fault.message))))


def _ancestors(place: str) -> Iterator[str]:
    while place:
        place = place.rpartition("/")[0]
        yield place


def _bounded(faults: list[Fault]) -> Iterator[Fault]:
    """`faults` without those of a code that has too many; of each code some, for callers judge by the codes."""
    totals, seen = Counter(fault.code for fault in faults), Counter[str]()
    for fault in faults:
        code = fault.code
        seen[code] += 1
        if seen[code] < MOST_FAULTS or totals[code] <= MOST_FAULTS:
            yield fault
        elif seen[code] == MOST_FAULTS:
            more = totals[code] - MOST_FAULTS
            yield replace(
                fault, message=f"{fault.message}; {more} more of this code in this record are not listed"
            )


@dataclass(frozen=True, slots=True)
class _Broken:
    """One error of the reference, in our words and types."""

    where: tuple[str | int, ...]
    """Member names and indices down to `value`."""
    keyword: str
    bound: Any
    """The keyword's own value, such as the list of `required`."""
    rule: Any
    """The schema object that holds the keyword."""
    value: Any
    of_name: bool
    """`value` is the name of a member of what `where` leads to."""

    @property
    def codes(self) -> Any:
        return self.rule["x-code"][self.keyword]


def _explain(broken: _Broken, identity: Identity) -> Iterator[tuple[str, Fault]]:
    """The faults in one error, each with the member that it names, or an empty string."""
    where, codes = broken.where, broken.codes
    if broken.keyword in {"required", "dependentRequired"}:
        for name in _missing(broken):
            code = codes if isinstance(codes, str) else codes.get(name, codes.get("*"))
            yield name, Fault(code, _missing_message(broken, code, name), pointer.join(*where))
    elif broken.keyword == "additionalProperties":
        for name in _unknown_names(broken):
            yield name, _unknown_member(broken, identity, name)
    elif broken.keyword == "not":
        name = broken.bound["required"][0]
        yield name, Fault(codes, broken.rule["description"], pointer.join(*where, name))
    elif broken.of_name:
        message = f"expected as a member's name {broken.rule['description']}, found another"
        yield broken.value, Fault(codes, message, pointer.join(*where, broken.value))
    else:
        yield "", Fault(codes, _value_message(broken, codes, identity), pointer.join(*where))


def _missing(broken: _Broken) -> list[str]:
    """The members that are missing; jsonschema reports them one by one and names them in its prose only."""
    wanted = broken.bound
    if broken.keyword == "dependentRequired":
        wanted = [name for cause, names in wanted.items() if cause in broken.value for name in names]
    return [name for name in dict.fromkeys(wanted) if name not in broken.value]


def _missing_message(broken: _Broken, code: str, name: str) -> str:
    message = f"member {_quote(name)} is missing"
    if broken.keyword == "dependentRequired":
        return f"{message}: {', '.join(broken.bound)} stand only together"
    if code in _CONDITIONAL and "description" in broken.rule:
        return f"{message}: {broken.rule['description']}"
    return message


def _unknown_names(broken: _Broken) -> list[str]:
    known, extensions = broken.rule["properties"], broken.rule["patternProperties"]
    others = (name for name in broken.value if name not in known)
    return [name for name in others if not any(re.search(pattern, name) for pattern in extensions)]


def _unknown_member(broken: _Broken, identity: Identity, name: str) -> Fault:
    place, version, member = pointer.join(*broken.where, name), identity.version, f"member {_quote(name)}"
    if version > CURRENT:
        return Fault("SP205", f"{member} is not known to {CURRENT}; kept as it is", place)
    for newer in range(version.major + 1, CURRENT.major + 1):
        if not broken.where and name in members(identity.kind, newer):
            return Fault("SP219", f"{member} belongs to v{newer}, but the record says {version}", place)
    if (
        identity.kind == "policy"
        and "actionSettings" in broken.where
        and name in members("policy", version.major)
    ):
        may = ", ".join(sorted(set(broken.rule["properties"])))
        return Fault(
            broken.codes,
            f"{member} is a setting, but none that a single action can have; those are: {may}",
            place,
        )
    hint = did_you_mean(name, broken.rule["properties"]) or "; names of your own begin with x-"
    return Fault(broken.codes, f"{member} is not known to {version}{hint}", place)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint at the one of the `known` names that `name` nearly is; empty where there is none."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"; did you mean {_quote(close[0])}?" if close else ""


def _value_message(broken: _Broken, code: str, identity: Identity) -> str:
    bound, value = broken.bound, broken.value
    if code in _CONDITIONAL:
        return f"{broken.rule['description']}; found {_found(value)}"
    if code == "SP207":
        found = _found_time(value, offsets=identity.version.major < 3)
        return f"expected {broken.rule['description']}, found {found}"
    match broken.keyword:
        case "type":
            names = [bound] if isinstance(bound, str) else bound
            return f"expected {' or '.join(_ARTICLES[name] for name in names)}, found {_found(value)}"
        case "enum" | "const":
            allowed = ", ".join(map(json.dumps, bound if broken.keyword == "enum" else [bound]))
            return f"expected {allowed}; found {found_word(value)}"
        case "minimum":
            return f"expected a number of at least {bound}, found a smaller one"
        case "maximum":
            return f"expected a number of at most {bound}, found a greater one"
        case "minItems":
            return f"expected at least {bound} item, found {_found(value)}"
        case "uniqueItems":
            return "expected items that all differ, found equal ones"
        case _:
            return f"expected {broken.rule['description']}, found {_found(value)}"


def _found(value: Any) -> str:
    """What `value` is, without showing it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"a string of {len(value)} characters" if len(value) != 1 else "a string of 1 character"
        case list():
            return "an empty array" if not value else "an array"
        case dict():
            return "an object"
        case _:
            return "a number"


def found_word(value: Any) -> str:
    """As `_found`, but shows what looks like a word of the format: a misspelt one helps only if seen."""
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_]{1,24}", value)
    return _quote(value) if plain else _found(value)


def _found_time(value: Any, *, offsets: bool) -> str:
    """As `_found`, but shows what looks like a time, and says why it is none: times are no payload."""
    from safepoint.core.notime import why_no_time

    why = why_no_time(value, offsets=offsets) if isinstance(value, str) else None
    return f"{_quote(value)}: {why}" if why else _found(value)


def _quote(name: str) -> str:
    """`name` as a JSON string in ASCII, cut short: a hostile name must not reach the terminal as it is."""
    return json.dumps(name if len(name) <= 60 else name[:59] + "…")
