"""Findings: how grave each code is, what is checked on a folded run, and where a fault shows in its file.

One module a code, ``spNNN_name.py``: its docstring explains the code, its ``check`` (where it has one) looks
at a run. Codes of a single text or record are found by ``core`` and ``schemas``, those of a migration by
``migrate``; here they only have their explanation and their severity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding, Severity
from safepoint.core.locate import lines_and_columns, offsets_of
from safepoint.model.run import Run
from safepoint.rules import catalogue

RUN_RULES: tuple[str, ...] = ("SP409", "SP503", "SP504", "SP506")
"""The codes whose module has a ``check``, in the order of their reports. A list that a test compares with the
modules: finding out by importing all of them would cost every start a tenth of its time."""

_ABOUT_A_NAME = frozenset({"SP203", "SP204", "SP205", "SP219"})
"""Codes that accuse a member's name, not its value: their finding points at the name."""


def severity(code_id: str) -> Severity:
    """How grave `code_id` is.

    Raises:
        KeyError: no such code.
    """
    return catalogue.code(code_id).severity


def check(run: Run) -> Iterator[Fault]:
    """Everything wrong with `run` as a whole: what the fold met, then each rule's faults."""
    yield from run.faults
    for code_id in RUN_RULES:
        yield from catalogue.module(code_id).check(run)


def to_finding(fault: Fault, text: bytes | None) -> Finding:
    """`fault` as a user meets it.

    Args:
        fault: with its place, where a file is to blame.
        text: the stored bytes of the JSON text at that place; without them the finding points at the text's
            first character.
    """
    return to_findings([fault], text)[0]


def to_findings(faults: Iterable[Fault], text: bytes | None) -> list[Finding]:
    """As `to_finding` for each of the `faults` of one text, which is read only once for all of them."""
    faults = list(faults)
    found: dict[str, tuple[int, int]] = {}
    places: dict[int, tuple[int, int]] = {}
    if text is not None:
        found = offsets_of(text, (fault.pointer for fault in faults if fault.offset is None))
        places = lines_and_columns(text, (_offset(fault, found) for fault in faults))
    return [
        _finding(fault, places[_offset(fault, found)] if text is not None else (1, 1)) for fault in faults
    ]


def _offset(fault: Fault, found: Mapping[str, tuple[int, int]]) -> int:
    if fault.offset is not None:
        return fault.offset
    name, value = found[fault.pointer]
    return name if fault.code in _ABOUT_A_NAME else value


def _finding(fault: Fault, where: tuple[int, int]) -> Finding:
    place, (line, column) = fault.place or Place(""), where
    return Finding(
        fault.code,
        severity(fault.code),
        place.url,
        place.key,
        fault.pointer,
        place.line + line - 1,
        column,
        fault.message,
    )
