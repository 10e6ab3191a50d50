"""The findings that a project already has and accepts for now, in a file beside its code.

Decided here: two findings are the same one if file, code and pointer are, whatever line they stand on: lines move, and
a message's wording is nobody's promise. A baseline counts them, so that one more of the same is new. Not decided here:
which findings get this far (`Selection`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from safepoint.core.finding import Finding
from safepoint.core.strictjson import parse
from safepoint.selection.paths import file_name

FORMAT = 1

_MEMBERS: Mapping[str, type] = {"file": str, "code": str, "pointer": str, "count": int}


class BaselineError(ValueError):
    """A baseline that is not there, or is none."""


@dataclass(frozen=True, order=True, slots=True)
class Known:
    """What makes a finding the same one as before."""

    file: str
    """Relative to the baseline's folder, or a URL."""
    code: str
    pointer: str


class Baseline:
    """What is known, and how much of it has turned up in this validation."""

    def __init__(self, folder: str, known: Mapping[Known, int] | None = None) -> None:
        """A baseline.

        Args:
            folder: the folder that its file lies in, which its names start from.
            known: how often each finding is known to be there; None: whatever is found is taken, to be written.
        """
        self.folder = folder
        self.found: Counter[Known] = Counter()
        """Findings that it has taken."""
        self.known = known

    @classmethod
    def load(cls, path: str) -> Self:
        """The baseline in the file at `path`.

        Raises:
            BaselineError: it cannot be read, or is none.
        """
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError as error:
            problem = f"{path}: there is no such baseline; --write-baseline {path} makes one"
            raise BaselineError(problem) from error
        except OSError as error:
            raise BaselineError(f"{path}: {error.strerror}") from error
        value, faults = parse(data)
        if faults:
            raise BaselineError(f"{path}: no baseline: {faults[0].message}")
        return cls(str(Path(path).parent), _parse(value, path))

    def takes(self, finding: Finding) -> bool:
        """Whether `finding` is known, and was not met as often as it is known; then it is met once more."""
        key = Known(file_name(finding.url, self.folder), finding.code, finding.pointer)
        if self.known is not None and self.found[key] >= self.known.get(key, 0):
            return False
        self.found[key] += 1
        return True

    def stale(self, looked_for: Callable[[Known], bool]) -> Counter[Known]:
        """What is known and did not turn up, among what was `looked_for`."""
        missing = Counter(self.known or {})
        missing.subtract(self.found)
        return Counter({key: n for key, n in missing.items() if n > 0 and looked_for(key)})

    def encode(self, looked_for: Callable[[Known], bool], before: Self | None) -> bytes:
        """The file's new content: what was found, and of `before` what this time was not `looked_for`.

        One finding a line, in an order of its own, so that versions of the file compare well.
        """
        kept = {} if before is None else {k: n for k, n in (before.known or {}).items() if not looked_for(k)}
        lines = [
            orjson.dumps({"file": key.file, "code": key.code, "pointer": key.pointer, "count": number})
            for key, number in sorted({**kept, **self.found}.items())
        ]
        listed = b"\n    " + b",\n    ".join(lines) + b"\n  " if lines else b""
        return b'{\n  "baseline": %d,\n  "findings": [%s]\n}\n' % (FORMAT, listed)


def _parse(value: Any, path: str) -> dict[Known, int]:
    if not isinstance(value, dict) or not isinstance(value.get("findings"), list):
        raise BaselineError(f"{path}: no baseline: expected an object with a list of findings")
    if value.get("baseline") != FORMAT:
        raise BaselineError(
            f"{path}: expected a baseline of format {FORMAT}; write it anew with --write-baseline"
        )
    known: dict[Known, int] = {}
    for number, entry in enumerate(value["findings"], 1):
        if not isinstance(entry, dict) or any(type(entry.get(n)) is not t for n, t in _MEMBERS.items()):
            wanted = ", ".join(_MEMBERS)
            raise BaselineError(f"{path}: finding {number} of the list: expected the members {wanted}")
        key = Known(entry["file"], entry["code"], entry["pointer"])
        known[key] = known.get(key, 0) + entry["count"]  # a merge of two branches may list one twice
    return known
