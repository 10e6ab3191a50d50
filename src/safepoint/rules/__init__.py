"""Findings: how grave each code is, what is checked on a folded run, and where a fault shows in its file.

One module a code, ``spNNN_name.py``: its docstring explains the code, its ``check`` (where it has one) looks
at a run. Codes of a single text or record are found by ``core`` and ``schemas``, those of a migration by
``migrate``; here they only have their explanation and their severity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from safepoint.core.excerpt import excerpts as excerpts_of
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Excerpt, Finding, Severity
from safepoint.core.locate import lines_and_columns, offsets_of
from safepoint.model.run import Run
from safepoint.rules import catalogue
from safepoint.rules.needs import RULES, Contents, lacking, skipped

__all__ = ["RUN_RULES", "Excerpts", "check", "severity", "skipped", "to_finding", "to_findings"]

RUN_RULES: tuple[str, ...] = (
    "SP306", "SP312", "SP315", "SP316", "SP317", "SP318", "SP319", "SP320", "SP321", "SP322", "SP323", "SP324",
    "SP409", "SP411", "SP412", "SP413", "SP414", "SP415", "SP416", "SP417", "SP418", "SP419", "SP420", "SP421",
    "SP503", "SP504", "SP506", "SP510", "SP511", "SP512", "SP513", "SP514", "SP518", "SP519", "SP520", "SP521",
    "SP522", "SP523", "SP524", "SP525", "SP526", "SP527",
)  # fmt: skip
"""The codes whose module has a ``check``, in the order of their reports. A list that a test compares with the
modules: finding out by importing all of them would cost every start a tenth of its time."""

_ABOUT_A_NAME = frozenset({"SP203", "SP204", "SP205", "SP219"})
"""Codes that accuse a member's name, not its value: their finding points at the name."""

Excerpts = Literal["none", "masked", "plain"]
"""Whether a finding comes with the accused line: not at all, with every value masked, or as it is stored."""


def severity(code_id: str) -> Severity:
    """How grave `code_id` is.

    Raises:
        KeyError: no such code.
    """
    return catalogue.code(code_id).severity


def check(run: Run) -> Iterator[Fault]:
    """Everything wrong with `run` as a whole: what the fold met, then each rule's faults.

    What a rule needs and `run` does not have makes its faults guesses: they are left out, and `skipped` lists the rule.
    """
    missing = lacking(run)
    for fault in run.faults:
        known = RULES.get(fault.code)
        if known is None or missing.isdisjoint(known.needs):
            yield fault
    holds = Contents(run)
    for code_id in RUN_RULES:
        rule = RULES[code_id]
        if holds(rule.about) and missing.isdisjoint(rule.needs):
            yield from catalogue.module(code_id).check(run)


def speaks_true(run: Run) -> bool:
    """Whether a run from `fold_around` certainly has no fault in or around its recovery log."""
    return not run.faults and not any(
        next(iter(catalogue.module(code_id).check(run)), None)
        for code_id in RUN_RULES
        if "recovery" in {RULES[code_id].about, *RULES[code_id].needs}
    )


def to_finding(fault: Fault, text: bytes | None, excerpts: Excerpts = "none") -> Finding:
    """`fault` as a user meets it.

    Args:
        fault: with its place, where a file is to blame.
        text: the stored bytes of the JSON text at that place; without them the finding points at the text's
            first character.
        excerpts: what is shown of the accused line.
    """
    return to_findings([fault], text, excerpts)[0]


def to_findings(faults: Iterable[Fault], text: bytes | None, excerpts: Excerpts = "none") -> list[Finding]:
    """As `to_finding` for each of the `faults` of one text, which is read only once for all of them."""
    faults = list(faults)
    if text is None:
        return [_finding(fault, (1, 1), None) for fault in faults]
    found = offsets_of(text, (fault.pointer for fault in faults if fault.offset is None))
    offsets = [_offset(fault, found) for fault in faults]
    places = lines_and_columns(text, offsets)
    shown: Iterable[Excerpt | None] = [None] * len(faults)
    if excerpts != "none":
        shown = excerpts_of(text, [(offset, None) for offset in offsets], show_values=excerpts == "plain")
    return [
        _finding(fault, places[offset], cut)
        for fault, offset, cut in zip(faults, offsets, shown, strict=True)
    ]


def _offset(fault: Fault, found: Mapping[str, tuple[int, int]]) -> int:
    if fault.offset is not None:
        return fault.offset
    name, value = found[fault.pointer]
    return name if fault.code in _ABOUT_A_NAME else value


def _finding(fault: Fault, where: tuple[int, int], excerpt: Excerpt | None) -> Finding:
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
        excerpt,
    )
