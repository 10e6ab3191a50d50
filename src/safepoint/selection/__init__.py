"""Which findings count: the codes that are asked for, what is ignored where and why, and what was known before.

Decided here: in which order these are asked, and that nothing ever hides that something could not be looked at.
Not decided here: where a selection is written down (``settings``, ``cli``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from safepoint.core.finding import Finding
from safepoint.selection.baseline import Baseline, BaselineError, Known
from safepoint.selection.codes import NEVER_HIDDEN, CodesError, parse_codes, parse_ignored
from safepoint.selection.paths import PathIgnore, Scope, file_name, parse_pattern

__all__ = [
    "NEVER_HIDDEN",
    "Baseline",
    "BaselineError",
    "CodesError",
    "Known",
    "PathIgnore",
    "Scope",
    "Selection",
    "file_name",
    "parse_codes",
    "parse_ignored",
    "parse_pattern",
]

UNSELECTED, IGNORED, KNOWN = "unselected", "ignored", "baseline"
"""Why a finding is suppressed."""


class Selection:
    """The findings that count. It remembers what its baseline has taken, so it serves one validation.

    Example::

        found = safepoint.validate("store", selection=safepoint.Selection(select=["SP3", "SP4"], ignore=["SP409"]))
    """

    def __init__(
        self,
        *,
        select: str | Iterable[str] | None = None,
        ignore: str | Iterable[str] = (),
        per_path: Sequence[PathIgnore] = (),
        folder: str = ".",
        baseline: Baseline | None = None,
    ) -> None:
        """A selection.

        Args:
            select: the only codes that count, as ``SP214``, ``SP2`` for all that begin so, or by name; None: all of
                them.
            ignore: codes that do not count, written likewise; they win over `select`. SP001 and SP002 always count.
            per_path: codes that do not count in some files.
            folder: the folder that the patterns of `per_path` start from.
            baseline: what was known before.

        Raises:
            CodesError: `select` or `ignore` has something that is no code; it is a ValueError.
        """
        self._select = None if select is None else parse_codes(select)
        self._ignore = parse_codes(ignore)
        self._per_path, self._folder = tuple(per_path), folder
        self._baseline = baseline
        self._used: set[PathIgnore] = set()

    def admit(self, finding: Finding) -> str | None:
        """None where `finding` counts; else why it is suppressed: ``unselected``, ``ignored`` or ``baseline``.

        Asked once for each finding, in the order of the report: a baseline knows how often a finding was there.
        """
        if finding.code in NEVER_HIDDEN:
            return None
        hidden = self._hides(finding.code, finding.url, finding.key)
        if hidden == IGNORED:
            self._used.update(self._covering(finding.code, finding.url, finding.key))
        if hidden is None and self._baseline is not None and self._baseline.takes(finding):
            return KNOWN
        return hidden

    def unused(self) -> Iterator[PathIgnore]:
        """The entries of `per_path` that nothing was ignored by so far, though it could have been."""
        if self._select is None:
            asked = (entry for entry in self._per_path if not entry.codes & self._ignore)
            yield from (entry for entry in asked if entry not in self._used)

    def looks_for(self, code: str, file: str) -> bool:
        """Whether a finding of `code` in `file`, as a baseline names it, could reach the baseline at all."""
        return self._hides(code, file, "") is None

    def _hides(self, code: str, url: str, key: str) -> str | None:
        if code in self._ignore:
            return IGNORED
        if self._select is not None and code not in self._select:
            return UNSELECTED
        return IGNORED if self._covering(code, url, key) else None

    def _covering(self, code: str, url: str, key: str) -> list[PathIgnore]:
        entries = [entry for entry in self._per_path if code in entry.codes]
        names = (file_name(url, self._folder), key) if entries else ()
        return [entry for entry in entries if any(map(entry.covers, names))]
