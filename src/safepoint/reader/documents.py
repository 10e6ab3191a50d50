"""The gate for what a caller brings along: facts, policy and request, checked before anything is judged by them.

Decided here: that a document with an error in it is refused whole. A misspelt or half-filled fact that counted as
absent would give a verdict that nobody asked for.
Not decided here: what several facts documents say together (``merging``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from safepoint import rules, schemas
from safepoint.core.digest import encode_record
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding
from safepoint.core.kind import Identity, recognise
from safepoint.core.locate import line_and_column, offset_of
from safepoint.core.strictjson import parse
from safepoint.core.version import V3
from safepoint.reader import tomlplaces
from safepoint.store import AbsentError
from safepoint.store.inputs import Input, expand

Document = Mapping[str, Any] | str | os.PathLike[str]
"""A document as a caller gives it: its value, or the path or URL of its file."""

FactsGiven = Document | Sequence[Document]
"""Facts as a caller gives them: one document, or several that are taken together."""


class InputRefusedError(ValueError):
    """A document that is not sound, or facts that contradict each other, so that nothing was judged by them."""

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        self.findings = tuple(findings)
        """What is wrong with it, where it could be read that far."""
        shown = [
            f"{f.url}:{f.line}:{f.column}: {f.code} {f.message} (at {f.pointer or '/'})"
            for f in self.findings[:5]
        ]
        super().__init__("\n".join([message, *shown]))


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document that is sound, and where it was read."""

    value: Mapping[str, Any]
    url: str
    """Its path or URL; for a value that was handed in, what it is called in messages."""
    data: bytes | None
    """Its bytes; None for a value that was handed in."""

    def place_of(self, pointer: str) -> str:
        """Where `pointer` leads to, as an editor opens it: file, line and column."""
        if self.data is None:
            return self.url
        if self.url.endswith(".toml"):
            return f"{self.url}:{tomlplaces.line_of(self.data.decode(), pointer)}"
        line, column = line_and_column(self.data, offset_of(self.data, pointer))
        return f"{self.url}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Documents:
    """Everything that a decision takes from its caller; None where nothing was given."""

    facts: Mapping[str, Any] | None
    policy: Mapping[str, Any] | None
    request: Mapping[str, Any] | None


def load_documents(
    run_id: str,
    *,
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Documents:
    """The three documents for a decision on run `run_id`, each sound; several facts documents are merged.

    Raises:
        InputRefusedError: one of them is not sound, the facts contradict each other, or they are another run's.
        StoreError: one cannot be read.
    """
    from safepoint.reader.merging import load_facts  # it is built upon what is below

    known = load_facts(facts, storage_options)
    rule = load_document("policy", policy, storage_options)
    wish = load_document("request", request, storage_options)
    if known is not None and known["runId"] != run_id:
        raise InputRefusedError(f"the facts are about run {known['runId']!r}, not about {run_id!r}")
    return Documents(known, rule, wish)


def load_document(
    kind: str, given: Document | None, storage_options: Mapping[str, Any] | None = None
) -> Mapping[str, Any] | None:
    """The sound document of `kind` that the caller gave, or named; None for None.

    Args:
        kind: ``facts``, ``policy``, ``request`` or ``decision``.
        given: its value, or the path or URL of a file: JSON, or TOML by its name.
        storage_options: handed to fsspec.

    Raises:
        InputRefusedError: it is not sound, or of another kind.
        StoreError: it cannot be read.
    """
    return None if given is None else read_document(kind, given, storage_options).value


def read_document(
    kind: str, given: Document, storage_options: Mapping[str, Any] | None = None, *, name: str | None = None
) -> Loaded:
    """As `load_document`, with the place of the document; `name` is what a value without a file is called."""
    place, faults = Place(name or kind), tuple[Fault, ...]()
    value: Any
    toml = False
    if isinstance(given, Mapping):
        value, data = dict(given), _encode(f"the {kind} document", given)
    else:
        place, data = fetch_document(os.fspath(given), storage_options)
        toml = place.key.endswith(".toml")
        if toml:
            value = _parse_toml(place.url, data)
            _encode(place.url, value)  # TOML has what JSON has not: dates, nan, integers of any size
        else:
            value, faults = parse(data)
    identity: Identity | None = None
    if not faults:
        if kind == "policy" and isinstance(value, dict) and "recordType" not in value:
            identity = Identity("policy", V3)
        else:
            identity, faults = recognise(value)
    if identity is not None and identity.kind != kind:
        raise InputRefusedError(f"{place.url}: this is a {identity.kind} record, expected a {kind} document")
    if identity is not None:
        faults = (*faults, *schemas.check(identity, value))
    findings = rules.to_findings((fault.at(place) for fault in faults), None if toml else data or None)
    wrong = [finding for finding in findings if finding.severity == "error"]
    if toml:
        wrong = [replace(f, line=tomlplaces.line_of(data.decode(), f.pointer)) for f in wrong]
    if wrong:
        raise InputRefusedError(
            f"{place.url}: the {kind} document is not sound, so nothing was judged by it", wrong
        )
    return Loaded(value, place.url, None if isinstance(given, Mapping) else data)


def _encode(name: str, value: Mapping[str, Any]) -> bytes:
    try:
        return encode_record(value)
    except ValueError as error:
        raise InputRefusedError(f"{name}: nothing can be judged by it: {error}") from error


def _parse_toml(url: str, data: bytes) -> Any:
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except RecursionError as error:
        raise InputRefusedError(f"{url}: no TOML: nested too deeply") from error
    except ValueError as error:  # also of bytes that are no UTF-8, and of integers of thousands of digits
        raise InputRefusedError(f"{url}: no TOML: {error}") from error


def fetch_document(url: str, storage_options: Mapping[str, Any] | None = None) -> tuple[Place, bytes]:
    """Where the file lies that `url` names, and its bytes.

    Raises:
        StoreError: it cannot be read.
    """
    for source in expand([url], **(storage_options or {})):
        if isinstance(source, Input) and source.keys:
            key = source.keys[0]
            return Place(source.store.url_of(key), key), source.store.get(key)
    raise AbsentError(url, "no such file", remedy="check the path")
