"""Findings: how grave each code is, what is checked on a folded run, and where a fault shows in its file.

One module a code, ``spNNN_name.py``: its docstring explains the code, its ``check`` (where it has one) looks
at a run. Codes of a single text or record are found by ``core`` and ``schemas``, those of a migration by
``migrate``; here they only have their explanation and their severity.
"""

from __future__ import annotations

from collections.abc import Iterator

from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding, Severity
from safepoint.core.locate import line_and_column, offset_of
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
    place = fault.place or Place("")
    line, column = place.line, 1
    if text is not None:
        offset = fault.offset
        if offset is None:
            offset = offset_of(text, fault.pointer, name=fault.code in _ABOUT_A_NAME)
        line, column = line_and_column(text, offset)
        line += place.line - 1
    return Finding(
        fault.code, severity(fault.code), place.url, place.key, fault.pointer, line, column, fault.message
    )
