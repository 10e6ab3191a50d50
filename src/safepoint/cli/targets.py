"""Which files ``safepoint validate`` may write: none that it reads.

Decided here: that a report or a baseline never replaces what is checked, nor what the check goes by, and comes to lie
nowhere where the next check would take it for a part of what is checked. Not decided here: how a file is written
(``cli.output``).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import click

from safepoint.cli.choices import STDIN
from safepoint.cli.output import STDOUT
from safepoint.settings import Settings

_OF_RECORDS = (".json", ".jsonl")
_OF_A_STORE = ("safepoint.json", "runs")
"""What makes a folder a store."""


def check_targets(
    output: str, write_baseline: str | None, names: Iterable[str], files_from: str | None, settings: Settings
) -> None:
    """Refuses what may not be written.

    Args:
        output: path of the report; ``-`` is standard output.
        write_baseline: path of the baseline that is to be written; None: none is.
        names: what is checked.
        files_from: the list that some of the names come from.
        settings: what the check goes by.

    Raises:
        click.UsageError: it would write over something, or into something, that it reads.
    """
    targets = {} if output == STDOUT else {"--output": output}
    if write_baseline is not None:
        targets["--write-baseline"] = write_baseline
    if not targets:
        return
    names = tuple(names)
    for option, path in targets.items():
        _refuse_folder(option, path)
        if not Path(path).exists() or Path(path).is_file():  # a device holds nothing that could get lost
            others = {**_gone_by(settings, files_from), **targets}
            del others[option]
            if option == "--write-baseline":
                others.pop("the baseline", None)  # it is written anew
            _refuse_others(option, path, others)
            _refuse_checked(option, path, names)


def _refuse_folder(option: str, path: str) -> None:
    if not path or path.endswith("/") or Path(path).is_dir():
        what = f"{path} is a folder" if path else "an empty name"
        raise click.UsageError(f"{option}: {what}; expected the path of a file")


def _gone_by(settings: Settings, files_from: str | None) -> dict[str, str]:
    """The files that the check goes by, and what they are to it."""
    schemas: Mapping[str, str | Mapping[str, str]] = settings.payload_schemas
    found = {"the list of --files-from": files_from, "the settings": settings.path}
    found["the baseline"] = settings.baseline
    for name, given in schemas.items():
        paths = {name: given} if isinstance(given, str) else {f"{name} {m}": p for m, p in given.items()}
        found |= {f"the payload schema {which}": path for which, path in paths.items()}
    return {what: path for what, path in found.items() if path and path != STDIN}


def _refuse_others(option: str, path: str, others: Mapping[str, str]) -> None:
    for what, other in others.items():
        if _same(path, other):
            raise click.UsageError(f"{option}: {path} is {_described(what)}; write to another file")


def _described(what: str) -> str:
    return f"what {what} writes too" if what.startswith("--") else what


def _refuse_checked(option: str, path: str, names: tuple[str, ...]) -> None:
    if STDIN in names and _is_standard_input(path):
        raise click.UsageError(f"{option}: {path} is what standard input reads; write to another file")
    for name, place in _places(names):
        if _same(path, place):
            raise click.UsageError(f"{option}: {path} is checked, and what is checked is never changed")
        if _reaches(place, path):
            problem = f"{option}: {path} lies in {name}, which is checked; write to a file outside of it"
            if _is_in_store(Path(path).resolve(), Path(place).resolve()):
                raise click.UsageError(problem)
            if path.endswith(_OF_RECORDS):
                raise click.UsageError(f"{problem}, or to one that is not named *.json or *.jsonl")


def _places(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is checked on this machine, as it was named and as a path or pattern."""
    from safepoint.store import StoreError
    from safepoint.store.opening import local_path

    for name in names:
        # the last part of a chain such as zip://::old.zip is a file too; what names nothing is said in the report
        last = name if os.path.lexists(name) else name.rpartition("::")[2]
        with suppress(StoreError):
            path = None if name == STDIN else local_path(last)
            if path is not None:
                yield name, path


def _reaches(place: str, path: str) -> bool:
    """Whether `path` lies in the folder `place`, or is matched by that pattern; whatever links lead there."""
    from safepoint.selection import Scope

    scope = Scope({place, os.path.realpath(place)})
    return any(scope.reaches(name, os.curdir) for name in (path, os.path.realpath(path)))


def _is_in_store(path: Path, place: Path) -> bool:
    """Whether a folder of `place` that holds `path` is a store; a pattern stands for whatever it matches."""
    if not place.is_dir():
        return True
    folders = (folder for folder in path.parents if folder.is_relative_to(place))
    return any((folder / name).exists() for folder in folders for name in _OF_A_STORE)


def _same(path: str, other: str) -> bool:
    one, two = Path(path).resolve(), Path(other).resolve()
    # or the same name in other letters, where the file system takes them for equal
    return one == two or (one.is_file() and two.is_file() and one.samefile(two))


def _is_standard_input(path: str) -> bool:
    # a stream that is no file has no number, and a path that is not there is not read
    with suppress(OSError, ValueError, AttributeError):
        read = os.fstat(sys.stdin.fileno())
        return stat.S_ISREG(read.st_mode) and os.path.samestat(read, Path(path).stat())
    return False
