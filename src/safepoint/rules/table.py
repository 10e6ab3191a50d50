"""SPEC.md's table of codes: ``python -m safepoint.rules.table`` prints it, a test compares the two."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby

from safepoint.rules.catalogue import Code, codes

GROUPS = {
    "0": "SP0xx: inputs and places",
    "1": "SP1xx: JSON text",
    "2": "SP2xx: structure of one record",
    "3": "SP3xx: journal and run",
    "4": "SP4xx: side-effect ledger",
    "5": "SP5xx: checkpoints, approvals and recovery",
    "6": "SP6xx: migration",
    "7": "SP7xx: the guard's reasons",
    "8": "SP8xx: the checklist",
}


def table() -> str:
    """Markdown: one table for each hundred, one row for each code."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for hundred, group in groupby(codes(), key=lambda known: known.id[2]):
        yield f"### {GROUPS[hundred]}\n"
        yield "| code | name | severity | means | see |\n|---|---|---|---|---|"
        yield from map(_row, group)
        yield ""


def _row(known: Code) -> str:
    meaning, link = known.summary.replace("|", r"\|"), f"[{known.section}](#{known.section})"
    return f"| {known.id} | {known.name} | {known.severity} | {meaning} | {link} |"


if __name__ == "__main__":
    sys.stdout.write(table())
