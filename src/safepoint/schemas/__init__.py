"""JSON Schemas, and what is structurally wrong with one record or document.

Decided here: that a schema comes first, and what no schema can say of one record is looked at behind it. Not decided
here: what a value is (``core.kind``), how grave a code is (``rules``), and everything that takes more than one record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from safepoint.core import pointer
from safepoint.core.digest import digest_value
from safepoint.core.fault import Fault
from safepoint.core.kind import Identity
from safepoint.core.status import OLD_STATUSES
from safepoint.schemas.engines import JOURNAL, Engine, all_valid, is_valid
from safepoint.schemas.files import kinds, schema

__all__ = ["JOURNAL", "Engine", "all_valid", "check", "check_guard", "is_valid", "kinds", "schema"]


def check(identity: Identity, value: Any, *, engine: Engine = "auto") -> Iterator[Fault]:
    """Everything structurally wrong with `value`, a record or document of that kind and version.

    Yields:
        Faults without a place, ordered by pointer. A value of the wrong type has one fault, not one for each
        rule that it breaks as well. Unknown members of an older version or a newer minor are faults too, of
        codes that are no errors. Of one code at most `MOST_FAULTS` come; the last says how many more there are.
    """
    faults = [] if is_valid(identity, value, engine) else _explained(identity, value)
    yield from faults
    if identity.kind == "checkpoint" and identity.version.major >= 3:
        if not any(fault.pointer.startswith("/guard") for fault in faults):
            yield from check_guard(value)
    elif identity.kind == "ledger" and identity.version.major < 3:
        yield from _old_status(value, faults)


def _explained(identity: Identity, value: Any) -> list[Fault]:
    from safepoint.schemas.faults import explain

    return explain(identity, value)


def check_guard(value: Any) -> Iterator[Fault]:
    """Whether the guard context of a record, if it has one, has the digest that stands beside it."""
    if not isinstance(value, dict):
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
    from safepoint.schemas.faults import did_you_mean, found_word

    status = value.get("status")
    if isinstance(status, str) and status not in OLD_STATUSES:
        known, hint = ", ".join(OLD_STATUSES), did_you_mean(status, OLD_STATUSES)
        message = f"{found_word(status)} is none of the words that are understood, so it is read as inDoubt"
        yield Fault("SP220", f"{message}{hint or f': {known}'}", pointer.join("status"))
