"""The packaged JSON Schemas, and what is structurally wrong with one record or document.

Decided here: which schema belongs to a kind and version, how a schema's error becomes a fault with a code
(``x-code`` beside each keyword says which) and a message that shows no payload, and what an unknown member
means in which version. Not decided here: what a value is (``core.kind``), how grave a code is (``rules``),
and everything that takes more than one record.

The only module that imports a schema engine, and only once something is checked: jsonschema-rs says yes or no
where it is installed, jsonschema is the reference and explains every no.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import orjson

from safepoint.core import pointer
from safepoint.core.digest import digest_value
from safepoint.core.fault import Fault
from safepoint.core.kind import KINDS, Identity
from safepoint.core.scanner import MOST_FAULTS
from safepoint.core.status import OLD_STATUSES
from safepoint.core.version import CURRENT, Version

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Engine = Literal["auto", "jsonschema"]
"""``auto``: jsonschema-rs says yes or no where it is installed; ``jsonschema``: always the reference."""

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


def kinds(version: Version) -> tuple[str, ...]:
    """The kinds of record and document that `version` has, by name; none for an unknown major."""
    return tuple(sorted(KINDS.get(version.major, ())))


def schema(kind: str, version: Version) -> dict[str, Any]:
    """The JSON Schema (2020-12) of `kind`, complete in itself: what it refers to is embedded under ``$defs``.

    `kind` may also be ``record``: any kind of that version.

    Raises:
        KeyError: `version` has no such kind.
    """
    if kind != "record" and kind not in kinds(version):
        raise KeyError(f"{version} has no kind {kind!r}; it has {', '.join(kinds(version))}")
    root = _load(version.major, kind)
    embedded: dict[str, dict[str, Any]] = {}
    waiting: list[Any] = [root]
    while waiting:
        for reference in _references(waiting.pop()):
            urn, _, fragment = reference.partition("#")
            if not urn:
                continue
            name = urn.rpartition(":")[2]
            if name != "common" and urn not in embedded:
                embedded[urn] = _load(version.major, name)
                waiting.append(embedded[urn])
            elif name == "common":
                # of the shared definitions only those in use: who prints a schema is spared the rest
                share = embedded.setdefault(urn, {"$id": urn, "$defs": {}})["$defs"]
                definition = fragment.removeprefix("/$defs/")
                if definition not in share:
                    share[definition] = _load(version.major, name)["$defs"][definition]
                    waiting.append(share[definition])
    root["$defs"] = {**root.get("$defs", {}), **{urn: embedded[urn] for urn in sorted(embedded)}}
    return root


def check(identity: Identity, value: Any, *, engine: Engine = "auto") -> Iterator[Fault]:
    """Everything structurally wrong with `value`, a record or document of that kind and version.

    Yields:
        Faults without a place, ordered by pointer. A value of the wrong type has one fault, not one for each
        rule that it breaks as well. Unknown members of an older version or a newer minor are faults too, of
        codes that are no errors. Of one code at most `MOST_FAULTS` come; the last says how many more there are.
    """
    faults = [] if _is_valid(identity, value, engine) else _faults(identity, value)
    yield from faults
    if identity.kind == "checkpoint" and identity.version.major >= 3:
        yield from _guard_hash(value, faults)
    elif identity.kind == "ledger" and identity.version.major < 3:
        yield from _old_status(value, faults)


def _is_valid(identity: Identity, value: Any, engine: Engine) -> bool:
    judge = _fast(identity.kind, identity.version.major) if engine == "auto" else None
    return judge(value) if judge else _reference(identity.kind, identity.version.major).is_valid(value)


@cache
def _fast(kind: str, major: int) -> Callable[[Any], bool] | None:
    try:
        from jsonschema_rs import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator(schema(kind, Version(major))).is_valid


@cache
def _reference(kind: str, major: int) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(kind, Version(major)))


def _faults(identity: Identity, value: Any) -> list[Fault]:
    found: dict[tuple[str, str, str], Fault] = {}
    for error in _reference(identity.kind, identity.version.major).iter_errors(value):
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
        if not broken.where and name in _members(identity.kind, newer):
            return Fault("SP219", f"{member} belongs to v{newer}, but the record says {version}", place)
    hint = _did_you_mean(name, broken.rule["properties"]) or "; names of your own begin with x-"
    return Fault(broken.codes, f"{member} is not known to {version}{hint}", place)


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"; did you mean {_quote(close[0])}?" if close else ""


@cache
def _members(kind: str, major: int) -> frozenset[str]:
    return frozenset(_load(major, kind)["properties"])


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
            return f"expected {allowed}; found {_found_word(value)}"
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


def _found_word(value: Any) -> str:
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


def _guard_hash(value: Any, faults: list[Fault]) -> Iterator[Fault]:
    if not isinstance(value, dict) or any(fault.pointer.startswith("/guard") for fault in faults):
        return
    context, stated = value.get("guardContext"), value.get("guardHash")
    if context is not None and stated is not None:
        actual = digest_value(context)
        if actual != stated:
            message = f"guardHash is not the digest of guardContext, which is {actual}"
            yield Fault("SP509", message, pointer.join("guardHash"))


def _old_status(value: Any, faults: list[Fault]) -> Iterator[Fault]:
    """v1 and v2 let a status be any word, so that a misspelt one passes their schemas and means something else."""
    if not isinstance(value, dict) or any(fault.pointer == "/status" for fault in faults):
        return
    status = value.get("status")
    if isinstance(status, str) and status not in OLD_STATUSES:
        known, hint = ", ".join(OLD_STATUSES), _did_you_mean(status, OLD_STATUSES)
        message = f"{_found_word(status)} is none of the words that are understood, so it is read as inDoubt"
        yield Fault("SP220", f"{message}{hint or f': {known}'}", pointer.join("status"))


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _references(item)


def _load(major: int, name: str) -> dict[str, Any]:
    """One schema file, parsed afresh: callers change what they get."""
    with open(f"{_folder()}/v{major}/{name}.json", "rb") as file:
        loaded: dict[str, Any] = orjson.loads(file.read())
    return loaded


@cache
def _folder() -> str:
    """Where the schemas lie: beside this module in a wheel, at the checkout's top in an editable install.

    Text, not pathlib or importlib.resources: importing either costs every start more than the check of a record.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    packaged = f"{here}/schema"
    return packaged if os.path.isdir(packaged) else f"{os.path.dirname(os.path.dirname(here))}/schema"
