"""Every damage tried: the good case laid down, damaged, validated, and mended again.

Decided here: what counts as found. Not decided here: which of those that are not found do no harm (``harmless``).
"""

from __future__ import annotations

import importlib
import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import safepoint
from damage import of_bytes, of_members, of_records
from damage.store import Damage, Files, Good, Text, Wanted
from safepoint.reader.glance import Sight

FIXTURES = Path(__file__).parents[3] / "fixtures"

MEMORY = Path("/dev/shm")
"""Where a file costs least to write; where it is missing, any folder will do."""

TO_THE_BYTE = frozenset(
    {"good/run-with-an-effect", "good/v2-checkpoint", "good/objects-with-a-final-line-feed"}
)
"""Cases whose every byte is damaged where nothing is left out."""

SCAN = importlib.import_module("safepoint.reader.scan")
LOOK: Callable[..., Sight] = SCAN.look
"""The short way."""

Sample = Callable[[str, int], range]


@dataclass(frozen=True, slots=True)
class Trial:
    """One damage, and what came of it."""

    case: str
    kind: str
    what: str
    """The record and the member: ``ledger.committed /evidence``. Lists of harmless damages go by this."""
    where: str
    """The file and the line."""
    new: tuple[str, ...]
    """The codes of warnings and errors that the good case does not have."""
    crash: str = ""

    def __str__(self) -> str:
        return f"{self.case}: {self.kind}: {self.what} in {self.where}"


def every_byte(kind: str, size: int) -> range:
    """No offset is left out."""
    return range(size)


def some_bytes(kind: str, size: int) -> range:
    """A few offsets, other ones for each kind; always the same."""
    step = 61
    return range(zlib.crc32(kind.encode()) % step, size, step)


def good_cases() -> Iterator[Good]:
    """Every case of the suite that validates without error; of equal ones the first."""
    seen: set[tuple[tuple[str, bytes], ...]] = set()
    for path in sorted(FIXTURES.rglob("expect.json")):
        expect, folder = json.loads(path.read_bytes()), path.parent
        if expect["command"] == "guard":
            inputs = [expect["store"]]
        elif expect["command"] == "validate" and expect["exit"] == 0 and "pad" not in expect:
            usual = (name for name in ("input.json", "input.jsonl", "store") if (folder / name).exists())
            inputs = expect.get("inputs") or list(usual)[:1]
        else:
            continue
        good = Good.load(folder, folder.relative_to(FIXTURES).as_posix(), inputs)
        if codes(folder, good):
            continue
        key = tuple(sorted(good.files.items()))
        if key not in seen:
            seen.add(key)
            yield good.read()


class Share:
    """Each kind at each member of each record once over all cases, and of the many damages of one member only some."""

    def __init__(self, of: int) -> None:
        self.of = of
        self.seen: set[str] = set()

    def __call__(self, kind: str, text: Text, place: str) -> bool:
        key = f"{kind} {text.name} {place}"
        new = key not in self.seen
        self.seen.add(key)
        return new and zlib.crc32(key.encode()) % self.of == 0


def everywhere(kind: str, text: Text, place: str) -> bool:
    """Nothing is left out."""
    return True


def damages(
    good: Good, members: Wanted = everywhere, records: Wanted = everywhere, sample: Sample = some_bytes
) -> Iterator[Damage]:
    """The damages of `good`; the arguments are those of `tried`."""
    yield from of_records.damages(good, records)
    yield from of_members.damages(good, members)
    yield from of_bytes.damages(good, members, sample)


def tried(good: Good, members: Wanted, records: Wanted, sample: Sample) -> Iterator[Trial]:
    """The damages of `good`, tried.

    Args:
        good: what is damaged.
        members: which damages of bytes and of members are tried.
        records: which damages across records are tried.
        sample: which offsets of a text are tried.
    """
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        root = Path(folder)
        lay(root, {}, good.files)
        for damage in damages(good, members, records, sample):
            lay(root, good.files, damage[3])
            yield _try(root, good, damage)
            lay(root, damage[3], good.files)


def _try(root: Path, good: Good, damage: Damage) -> Trial:
    kind, text, place, files = damage
    what, where = f"{text.name} {place}".strip(), f"{text.key}:{text.line + 1}"
    try:
        new = codes(root, good)
        if not new and kind in of_bytes.KINDS:
            what = f"{text.name} {effect(good, text, files)}".strip()
        return Trial(good.name, kind, what, where, new)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what this test looks for
        return Trial(good.name, kind, what, where, (), repr(error)[:300])


def effect(good: Good, text: Text, files: Files) -> str:
    """What a damage of bytes did to the text, where a reader still takes it."""
    log = good.of_log(text)
    data = files.get(text.key, b"")
    if text.key.endswith(".jsonl"):
        last = log.texts[-1] if log else text
        lines = data.split(b"\n")
        if text is last and (len(lines) <= text.line or not lines[text.line].strip()):
            return "the last of its log"
        data = lines[text.line] if text.line < len(lines) else b""
    try:
        changed = list(differences(text.value, json.loads(data)))
    except ValueError:
        return ""
    return changed[0] if len(changed) == 1 else "" if changed else "the same value"


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """The places of all members and elements in which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            if name in before and name in after:
                yield from differences(before[name], after[name], f"{place}/{name}")
        if before.keys() != after.keys():
            yield f"{place}/*"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from differences(one, other, f"{place}/-")
    elif before != after or type(before) is not type(after):
        yield place


def codes(root: Path, good: Good) -> tuple[str, ...]:
    """The codes of all findings that are worth a warning.

    Raises:
        TwoAnswersError: the short way that sound runs and records take says something else than the thorough way.
    """
    inputs = [str(root / name) for name in good.inputs]
    saw: list[bool] = []

    def watched(*given: object) -> Sight:
        sight = LOOK(*given)
        saw.append(bool(sight.sound))
        return sight

    with mock.patch.object(SCAN, "look", watched):
        found = list(safepoint.validate(*inputs, artifacts=good.has_artifacts))
    if any(saw):
        with mock.patch.object(SCAN, "look", return_value=Sight([], [], set())):
            thorough = list(safepoint.validate(*inputs, artifacts=good.has_artifacts))
        if thorough != found:
            raise TwoAnswersError(*(f"{f.code} {f.pointer}" for f in thorough))
    return tuple(sorted({f.code for f in found if f.severity != "info"}))


class TwoAnswersError(AssertionError):
    """What the thorough way finds, and the short way does not."""


def lay(root: Path, before: Files, after: Files) -> None:
    """Make the files below `root` those of `after`, which were those of `before`."""
    for key in before.keys() - after.keys():
        (root / key).unlink()
    for key, data in after.items():
        if before.get(key) != data:
            path = root / key
            if key in before:
                path.unlink()  # to truncate a file takes some file systems ten times as long
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
