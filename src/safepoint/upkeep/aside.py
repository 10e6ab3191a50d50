"""What became of each object of a repaired store, and the documents that say so (SPEC.md#repair).

Decided here: what the copy keeps of it: a document in the folder of each run that lost something, so that no guard
lets it go on unseen, and a report of all objects. Both hold no time and no path of a run's folder, so that a repair
which is taken up again writes the same bytes. Not decided here: what becomes of what (``triage``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from safepoint.core.digest import encode_record
from safepoint.upkeep.soundness import Flaw
from safepoint.version import __version__

_AT_MOST = 1 << 20
"""Bytes of one text of these documents, about: far below the limit of a text."""

_RANGES = 100
"""Ranges of lines that are told of one object."""

_LONGEST = 1024
"""Characters of a pointer that are told; a longer one is left out."""

_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,256}").fullmatch


@dataclass(frozen=True, slots=True)
class Range:
    """Lines of a JSON Lines file that are set aside for one reason; of any other object the whole."""

    flaw: Flaw
    line: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one object."""

    key: str
    fate: Literal["copied", "rebuilt", "setAside", "unreadable"]
    size: int | None = None
    """Bytes in the source; None where they cannot be read."""
    digest: str | None = None
    """Of those bytes."""
    quarantine: str | None = None
    """Where the bytes lie in the copy as they were, if not under their own key alone."""
    ranges: tuple[Range, ...] = ()
    problem: str = ""
    """Why it cannot be read, in words for people."""

    def document(self) -> dict[str, Any]:
        """The same for JSON."""
        told: dict[str, Any] = {
            "key": self.key,
            "fate": self.fate,
            "size": self.size,
            "digest": self.digest,
            "quarantine": self.quarantine,
        }
        if self.ranges:
            told["texts"] = [_range(found) for found in self.ranges[:_RANGES]]
        if len(self.ranges) > _RANGES:
            told["more"] = len(self.ranges) - _RANGES
        return told


def _range(found: Range) -> dict[str, Any]:
    told: dict[str, Any] = {"code": found.flaw.code}
    if 0 < len(found.flaw.pointer) <= _LONGEST:
        told["pointer"] = found.flaw.pointer
    if found.line is not None:
        told["line"] = found.line
    if found.last is not None and found.last != found.line:
        told["lastLine"] = found.last
    if found.flaw.behind is not None:
        told["behind"] = found.flaw.behind
    return told


def ranges(lines: Iterable[tuple[int, Flaw]]) -> tuple[Range, ...]:
    """Lines with their flaws, those that follow each other and have the same one together."""
    found: list[Range] = []
    for line, flaw in lines:
        if found and found[-1].flaw == flaw and found[-1].last == line - 1:
            found[-1] = Range(flaw, found[-1].line, line)
        else:
            found.append(Range(flaw, line, line))
    return tuple(found)


def marker(run_id: str | None, fates: Sequence[Fate]) -> bytes:
    """The document that lies beside what is left of a run, and says what was set aside of it."""
    first = next(_pages(fate.document() for fate in fates))
    document: dict[str, Any] = {
        "recordType": "quarantine",
        "schemaVersion": "v3",
        "runId": run_id if run_id is not None and _ID(run_id) else None,
        "objects": first,
    }
    if len(fates) > len(first):
        document["more"] = len(fates) - len(first)
    return encode_record(document)


def totals(fates: Iterable[Fate]) -> Mapping[str, int]:
    """How many objects came to what; together they are all objects of the source."""
    counts: Counter[str] = Counter()
    size = 0
    for fate in fates:
        counts[fate.fate] += 1
        size += fate.size or 0
    named = {name: counts[name] for name in ("copied", "rebuilt", "setAside", "unreadable")}
    return {"objects": counts.total(), **named, "bytes": size}


def report(source: str, fates: Sequence[Fate], runs: int) -> bytes:
    """The report: one `repair` document a line, each with the totals of all and some of the objects.

    Args:
        source: where the repaired store lies.
        fates: of all its objects, in the order of the report.
        runs: how many runs have a document that marks them.
    """
    head = {
        "recordType": "repair",
        "schemaVersion": "v3",
        "source": source,
        "tool": f"safepoint {__version__}",
        "totals": dict(totals(fates)),
        "runs": runs,
    }
    pages = _pages(fate.document() for fate in fates)
    return b"".join(encode_record({**head, "objects": page}) + b"\n" for page in pages)


def _pages(documents: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The documents in lists that fit into one text each; one empty list where there are none."""
    page: list[dict[str, Any]] = []
    size = yielded = 0
    for document in documents:
        page.append(document)
        size += len(encode_record(document))
        if size > _AT_MOST:
            yield page
            page, size, yielded = [], 0, yielded + 1
    if page or not yielded:
        yield page
