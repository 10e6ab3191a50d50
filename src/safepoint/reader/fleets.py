"""How the fleet fares, as a document of its own that goes with the facts of any run (SPEC.md#fleet).

Decided here: that such a document is the ``fleet`` member of a facts document and no more, that it has to say when the
fleet was looked at, and that it never stands beside another ``fleet``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from safepoint import rules, schemas
from safepoint.core.fault import Fault, Place
from safepoint.core.kind import Identity
from safepoint.core.strictjson import parse
from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT, V3
from safepoint.reader.documents import Document, InputRefusedError, fetch_document

_MEMBER = "/fleet"


def load_fleet(given: Document, storage_options: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The sound fleet document that the caller gave, or named.

    Args:
        given: its value, or the path or URL of a file that ``safepoint guard STORE --all --fleet-output FILE`` wrote.
        storage_options: handed to fsspec.

    Raises:
        InputRefusedError: it is not sound, or does not say when the fleet was looked at.
        StoreError: it cannot be read.
    """
    place, data, faults = Place("fleet"), None, tuple[Fault, ...]()
    value: Any = given
    if isinstance(given, str | os.PathLike):
        place, data = fetch_document(os.fspath(given), storage_options)
        value, faults = parse(data)
    if not faults:
        faults = tuple(_faults(value))
    findings = rules.to_findings((fault.at(place) for fault in faults), data)
    wrong = [finding for finding in findings if finding.severity == "error"]
    if wrong:
        raise InputRefusedError(
            f"{place.url}: this is no sound state of a fleet, so nothing was judged by it; "
            "safepoint guard STORE --all --fleet-output FILE writes one",
            wrong,
        )
    found: Mapping[str, Any] = value
    return found


def _faults(value: Any) -> list[Fault]:
    if isinstance(value, Mapping) and "recordType" in value:
        message = "a record: expected what facts say under fleet, without anything around it"
        return [Fault("SP203", message, "/recordType")]
    whole = facts_of("run", None, 0) | {"fleet": value}
    found = [
        replace(fault, pointer=fault.pointer.removeprefix(_MEMBER))
        for fault in schemas.check(Identity("facts", V3), whole)
    ]
    if isinstance(value, Mapping) and "observedAt" not in value:
        found.append(Fault("SP202", "it does not say when the fleet was looked at: observedAt is missing"))
    return found


def facts_of(run_id: str, facts: Mapping[str, Any] | None, observed: int) -> dict[str, Any]:
    """The run's own facts; where there are none, a document that says no more than when somebody looked.

    Args:
        run_id: whose facts they are.
        facts: what is known of the run; None: nothing.
        observed: when somebody looked (nanoseconds since the Unix epoch).
    """
    if facts is not None:
        return dict(facts)
    return {
        "recordType": "facts",
        "schemaVersion": str(CURRENT),
        "runId": run_id,
        "observedAt": format_time(observed),
    }


def with_fleet(facts: Mapping[str, Any], fleet: Mapping[str, Any]) -> dict[str, Any]:
    """The same facts, and how the fleet fares.

    Raises:
        InputRefusedError: the facts speak of a fleet already: which of the two is true is for whoever gave them.
    """
    if "fleet" in facts:
        raise InputRefusedError(
            f"the facts of run {facts['runId']!r} say how the fleet fares, and so does the fleet document: "
            "leave one out"
        )
    return {**facts, "fleet": fleet}
