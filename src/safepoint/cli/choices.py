"""What the options of ``safepoint validate`` and a project's settings come to.

Decided here: that an option wins over a setting, and which mistakes end the command before anything is read. Not
decided here: which options there are (``cli.validate``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from safepoint.cli.console import CannotEvaluate, note, read_input
from safepoint.cli.output import write_file
from safepoint.render.overview import quote
from safepoint.render.terminal import count, plain
from safepoint.settings import Settings, SettingsError, find_settings, load_settings

if TYPE_CHECKING:
    from safepoint.payloads import PayloadSchemas
    from safepoint.selection import Known, Selection

STDIN = "-"
NAMED = 5
"""Findings of a baseline that are named when they are gone."""


class Unusable(click.ClickException):
    """The settings, or a file that they name, cannot be used: wrong usage, exit status 2."""

    exit_code = click.UsageError.exit_code


def settings_of(given: Mapping[str, Any]) -> Settings:
    """The project's settings, and over them what the user gave.

    Args:
        given: option to value; None, or an empty tuple, where the user gave none.
    """
    if given["config"] and given["no_config"]:
        raise click.UsageError(
            "--config names the settings and --no-config refuses them: give one of the two"
        )
    path = None if given["no_config"] else given["config"] or _found()
    try:
        project = Settings() if path is None else load_settings(path)
    except SettingsError as error:
        raise Unusable(str(error)) from error
    chosen = {name: value for name, value in given.items() if name in _SETTABLE and value is not None}
    if "select" in chosen:
        # whoever asks for these codes wants to see them, whatever the project ignores everywhere
        chosen = {"ignore": frozenset(), **chosen}
    return replace(project, **chosen)


_SETTABLE = frozenset(Settings.__slots__) - {"path", "per_path", "payload_schemas"}


def _found() -> str | None:
    try:
        return find_settings()
    except SettingsError as error:
        raise Unusable(str(error)) from error


def inputs_of(inputs: Iterable[str], files_from: str | None, *, null: bool) -> tuple[str, ...]:
    """What is to be checked, each once: the arguments, and then the names in a list.

    Args:
        inputs: the arguments.
        files_from: path of the list; ``-`` is standard input, None: there is none.
        null: the names end with NUL, and not with a line feed.
    """
    names = list(inputs)
    if files_from is None:
        if null:
            raise click.UsageError("--null says how the names in --files-from end: give that too")
        if not names:
            raise click.UsageError("name what is to be checked: INPUT..., or --files-from FILE")
        return tuple(dict.fromkeys(names))
    if files_from == STDIN and STDIN in names:
        raise click.UsageError("standard input is either a record (-) or the list of names (--files-from -)")
    listed = _listed(files_from).split(b"\0" if null else b"\n")
    # a name in a list is a name: one that happens to be - is no standard input
    names += (
        f"./{STDIN}" if name == STDIN.encode() else os.fsdecode(name) for name in listed if name.strip()
    )
    if not names:
        raise CannotEvaluate(f"{files_from}: the list names no file: there is nothing to check")
    return tuple(dict.fromkeys(names))


def _listed(path: str) -> bytes:
    if path == STDIN:
        return read_input()
    from pathlib import Path

    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CannotEvaluate(f"{path}: {error.strerror}") from error


def engine_of(settings: Settings) -> Literal["auto", "jsonschema"]:
    """What judges records, and payloads, by their schemas."""
    return "jsonschema" if settings.schema_engine == "jsonschema" else "auto"


def payloads_of(settings: Settings) -> PayloadSchemas | None:
    """The project's payload schemas, compiled; None where it has none."""
    if not settings.payload_schemas:
        return None
    from safepoint.payloads import PayloadSchemaError, PayloadSchemas

    try:
        return PayloadSchemas.load(settings.payload_schemas, engine=engine_of(settings))
    except PayloadSchemaError as error:
        raise Unusable(f"{settings.path}: payload-schemas: {error}") from error


class Accepted:
    """The baseline of one validation: what it takes, and what is done with it afterwards."""

    def __init__(
        self, settings: Settings, inputs: Iterable[str], run_id: str | None, write_to: str | None
    ) -> None:
        from pathlib import Path

        from safepoint.selection import Baseline, BaselineError

        self._path, self._write_to = settings.baseline or "", write_to
        self._before: Baseline | None = None
        try:
            if write_to is None:
                self.baseline = Baseline.load(self._path)
            else:
                self.baseline = Baseline(str(Path(write_to).parent))
                self._before = Baseline.load(write_to) if Path(write_to).exists() else None
        except BaselineError as error:
            raise Unusable(str(error)) from error
        self._inputs = () if run_id is not None else tuple(inputs)

    def settle(self, selection: Selection, *, evaluated: bool, quiet: bool) -> None:
        """Writes the baseline where that was asked for; else says which of its findings are gone.

        Args:
            selection: what could reach the baseline.
            evaluated: whether everything could be looked at; what was not looked at is not known.
            quiet: say nothing.
        """
        from safepoint.selection import Scope

        # One run of a store is not the files that hold it: nothing is known of what its neighbours have.
        scope = Scope(self._inputs)

        def looked_for(known: Known) -> bool:
            return selection.looks_for(known.code, known.file) and scope.reaches(
                known.file, self.baseline.folder
            )

        if self._write_to is None:
            gone = self.baseline.stale(looked_for)
            if gone and evaluated and not quiet:
                note(_gone(self._path, gone))
        elif not evaluated:
            note(f"{self._write_to}: not written, since not everything could be looked at")
        else:
            write_file(self._write_to, self.baseline.encode(looked_for, self._before), "the baseline")
            if not quiet:
                number = self.baseline.found.total()
                them = "it" if number == 1 else "them"
                note(f"{self._write_to}: {count(number, 'finding')} accepted; --baseline takes {them}")


def _gone(path: str, gone: Mapping[Known, int]) -> str:
    number = sum(gone.values())
    lines = [
        f"  {known.code} in {plain(known.file)}{f' at {plain(known.pointer)}' if known.pointer else ''}"
        for known in sorted(gone)[:NAMED]
    ]
    more = [f"  and {len(gone) - NAMED} more places"] if len(gone) > NAMED else []
    verb = "is" if number == 1 else "are"
    remedy = f"--write-baseline {quote(path)} takes {'it' if number == 1 else 'them'} out"
    said = f"{path}: {count(number, 'finding')} of it {verb} no longer there; {remedy}"
    return "\n".join([said, *lines, *more])


def unlooked_for(settings: Settings) -> Iterator[str]:
    """What was selected and cannot be found as things are set, a line for each reason."""
    selected = settings.select or frozenset()
    unmet = {
        "as no payload schemas are configured": _OF_PAYLOADS if not settings.payload_schemas else frozenset(),
        "without --artifacts": _OF_ARTIFACTS if not settings.artifacts else frozenset(),
    }
    for why, codes in unmet.items():
        if missed := sorted(selected & codes):
            yield f"{', '.join(missed)}: selected, but not looked for {why}"


_OF_PAYLOADS = frozenset({"SP231", "SP232"})
_OF_ARTIFACTS = frozenset({"SP515", "SP516", "SP517"})


def idle(settings: Settings, selection: Selection, inputs: Iterable[str]) -> Iterator[str]:
    """The per-path entries for what was checked that nothing was ignored by, a line for each."""
    from safepoint.selection import Scope

    scope = Scope(inputs)
    for entry in selection.unused():
        if scope.reaches(entry.top, settings.folder):
            yield f"{settings.path}: per-path {plain(entry.written)}: nothing was found there that it ignores"


def selection_of(settings: Settings, accepted: Accepted | None) -> Selection | None:
    """Which findings count; None where all of them do."""
    if settings.select is None and not settings.ignore and not settings.per_path and accepted is None:
        return None
    from safepoint.selection import Selection

    return Selection(
        select=settings.select,
        ignore=settings.ignore or frozenset(),
        per_path=settings.per_path,
        folder=settings.folder,
        baseline=accepted.baseline if accepted else None,
    )
