"""The gate for what a caller brings along: facts, policy and request, checked before anything is judged by them.

Decided here: that a document with an error in it is refused whole. A misspelt or half-filled fact that counted as
absent would give a verdict that nobody asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from safepoint import rules, schemas
from safepoint.core.digest import encode_record
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding
from safepoint.core.kind import Identity, recognise
from safepoint.core.strictjson import parse
from safepoint.core.version import V3
from safepoint.store import AbsentError
from safepoint.store.inputs import Input, expand

Document = Mapping[str, Any] | str | os.PathLike[str]
"""A document as a caller gives it: its value, or the path or URL of its file."""


class InputRefusedError(ValueError):
    """A facts, policy or request document that is not sound, so that nothing was judged by it."""

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        self.findings = tuple(findings)
        """What is wrong with it, where it could be read that far."""
        shown = [
            f"{f.url}:{f.line}:{f.column}: {f.code} {f.message} (at {f.pointer or '/'})"
            for f in self.findings[:5]
        ]
        super().__init__("\n".join([message, *shown]))


@dataclass(frozen=True, slots=True)
class Documents:
    """Everything that a decision takes from its caller; None where nothing was given."""

    facts: Mapping[str, Any] | None
    policy: Mapping[str, Any] | None
    request: Mapping[str, Any] | None


def load_documents(
    run_id: str,
    *,
    facts: Document | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Documents:
    """The three documents for a decision on run `run_id`, each sound.

    Raises:
        InputRefusedError: one of them is not, or the facts are another run's.
        StoreError: one cannot be read.
    """
    known = load_document("facts", facts, storage_options)
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
        kind: ``facts``, ``policy`` or ``request``.
        given: its value, or the path or URL of a file: JSON, or TOML by its name.
        storage_options: handed to fsspec.

    Raises:
        InputRefusedError: it is not sound, or of another kind.
        StoreError: it cannot be read.
    """
    if given is None:
        return None
    place, faults = Place(kind), tuple[Fault, ...]()
    value: Any
    if isinstance(given, Mapping):
        value, data = dict(given), _encode(f"the {kind} document", given)
    else:
        place, data = _fetch(os.fspath(given), dict(storage_options or {}))
        if place.key.endswith(".toml"):
            value, data = _parse_toml(place.url, data), b""
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
    findings = rules.to_findings((fault.at(place) for fault in faults), data or None)
    wrong = [finding for finding in findings if finding.severity == "error"]
    if wrong:
        raise InputRefusedError(
            f"{place.url}: the {kind} document is not sound, so nothing was judged by it", wrong
        )
    found: Mapping[str, Any] = value
    return found


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


def _fetch(url: str, options: dict[str, Any]) -> tuple[Place, bytes]:
    for source in expand([url], **options):
        if isinstance(source, Input) and source.keys:
            key = source.keys[0]
            return Place(source.store.url_of(key), key), source.store.get(key)
    raise AbsentError(url, "no such file", remedy="check the path")
