"""A project's settings: ``safepoint.toml``, or ``[tool.safepoint]`` in ``pyproject.toml``.

Decided here: where they are looked for, their names and types, and that a mistake in them is an error which names the
file, the key and the remedy: a setting that is silently passed over would be taken for one that holds. Not decided
here: what the command line says, which wins (``cli``).
"""

# Paths are text: every start looks for settings, and importing pathlib costs more than to find none.

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from safepoint.payloads.steps import PayloadStep
    from safepoint.selection import PathIgnore

FORMATS = ("text", "json", "jsonl", "sarif", "junit", "github")
"""The output formats of ``validate``."""
FAIL_ON = ("error", "warning", "info", "never")
"""The mildest severity that fails a validation."""
ENGINES = ("auto", "jsonschema")
"""What judges records by their schemas."""

OWN, SHARED = "safepoint.toml", "pyproject.toml"

_PAYLOAD_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*@[1-9][0-9]{0,8}")

_MENTION = re.compile(rb"""tool["'\s]*\.["'\s]*safepoint|\[\s*["']?tool["']?\s*]""")
"""What a file that has our table has in its bytes. Most have nothing for us, and to parse one costs a start."""


class SettingsError(ValueError):
    """The settings cannot be used; the message names the file, the key and the remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project has set; None where it has not. Paths start from the working folder."""

    path: str = ""
    """The file; empty where there is none."""
    select: frozenset[str] | None = None
    ignore: frozenset[str] | None = None
    per_path: tuple[PathIgnore, ...] = ()
    fail_on: str | None = None
    output_format: str | None = None
    limit: int | None = None
    max_findings: int | None = None
    baseline: str | None = None
    artifacts: bool | None = None
    allow_artifact_schemes: frozenset[str] | None = None
    show_values: bool | None = None
    jobs: int | None = None
    schema_engine: str | None = None
    payload_schemas: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    """Name and version of a payload schema to its file, or to a file for each snapshot."""
    payload_migrations: tuple[PayloadStep, ...] = ()
    """The steps between payload schemas."""

    @property
    def folder(self) -> str:
        """The folder that the patterns of `per_path` start from."""
        return os.path.dirname(self.path) or "."


def find_settings(start: str = ".") -> str | None:
    """The settings that hold in the folder `start`: its own, or those of the nearest folder above that has any.

    The search ends at the top of a repository: what lies above is somebody else's. A ``pyproject.toml`` counts only
    if it has a table for Safepoint; beside a ``safepoint.toml`` it does not count.
    """
    try:
        folder = os.path.abspath(start)
    except FileNotFoundError:
        return None  # the working folder was removed
    while True:
        own, shared = os.path.join(folder, OWN), os.path.join(folder, SHARED)
        if os.path.isfile(own):
            return os.path.relpath(own)
        if _speaks_of_us(shared):
            return os.path.relpath(shared)
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = above


def _speaks_of_us(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        data = file.read()
        return _MENTION.search(data) is not None and _table_of(path, data) is not None
    return False


def load_settings(path: str) -> Settings:
    """The settings in the file at `path`.

    Raises:
        SettingsError: it cannot be read, or something in it is wrong.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from error
    table = _table_of(path, data)
    if table is None:
        raise SettingsError(f"{path}: no table [tool.safepoint]; add one, or name another file")
    return _Reader(path).read(table)


def _table_of(path: str, data: bytes) -> dict[str, Any] | None:
    """The table with our settings; None where a shared file has none."""
    import tomllib

    try:
        content = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: no TOML: {error}") from error
    if os.path.basename(path) != SHARED:
        return content
    tools = content.get("tool")
    table = tools.get("safepoint") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.safepoint: expected a table, found {_found(table)}")
    return table


class _Reader:
    """Reads one file; each method is told the key, to name it where something is wrong."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._prefix = "tool.safepoint." if os.path.basename(path) == SHARED else ""
        self._folder = os.path.dirname(path)

    def read(self, table: Mapping[str, Any]) -> Settings:
        self._known("", table, ("validate", "payload-schemas", "payload-migrations"))
        own = self._table("validate", table.get("validate", {}))
        readers: Mapping[str, Callable[[str, Any], Any]] = {
            "select": self._selected,
            "ignore": self._ignored,
            "fail-on": self._one_of(FAIL_ON),
            "format": self._one_of(FORMATS),
            "limit": self._number(0),
            "max-findings": self._number(0),
            "baseline": self._file,
            "artifacts": self._flag,
            "allow-artifact-schemes": self._schemes,
            "show-values": self._flag,
            "jobs": self._number(0),
            "schema-engine": self._one_of(ENGINES),
            "per-path": self._per_path,
        }
        self._known("validate", own, readers)
        values = {_member(key): readers[key](f"validate.{key}", value) for key, value in own.items()}
        schemas = self._table("payload-schemas", table.get("payload-schemas", {}))
        return Settings(
            path=self._path,
            payload_schemas={name: self._schema(name, value) for name, value in schemas.items()},
            payload_migrations=self._migrations(table.get("payload-migrations", []), schemas),
            **values,
        )

    def _wrong(self, key: str, problem: str) -> SettingsError:
        return SettingsError(f"{self._path}: {self._prefix}{key}: {problem}")

    def _known(self, key: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        for name in table:
            if name not in known:
                place = f"{key}.{name}" if key else name
                raise self._wrong(place, f"no such key{_did_you_mean(name, known)}")

    def _table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(key, f"expected a table, found {_found(value)}")
        return value

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise self._wrong(key, f"expected text, found {_found(value)}")
        return value

    def _texts(self, key: str, value: Any) -> list[str]:
        if not isinstance(value, list):
            raise self._wrong(key, f"expected a list of texts, found {_found(value)}")
        return [self._text(f"{key}[{number}]", item) for number, item in enumerate(value)]

    def _flag(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._wrong(key, f"expected true or false, found {_found(value)}")
        return value

    def _file(self, key: str, value: Any) -> str:
        return os.path.join(self._folder, self._text(key, value))

    def _number(self, least: int) -> Callable[[str, Any], int]:
        def read(key: str, value: Any) -> int:
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise self._wrong(key, f"expected a whole number of at least {least}, found {_found(value)}")
            return value

        return read

    def _one_of(self, words: tuple[str, ...]) -> Callable[[str, Any], str]:
        def read(key: str, value: Any) -> str:
            if value not in words:
                hint = _did_you_mean(value, words, always=False) if isinstance(value, str) else ""
                raise self._wrong(key, f"expected one of {', '.join(words)}; found {_found(value)}{hint}")
            return str(value)

        return read

    def _selected(self, key: str, value: Any) -> frozenset[str]:
        from safepoint.selection import parse_codes

        codes = self._codes(key, value, parse_codes)
        if not codes:
            raise self._wrong(key, "an empty list selects nothing; leave the key out to have every code")
        return codes

    def _ignored(self, key: str, value: Any) -> frozenset[str]:
        from safepoint.selection import parse_ignored

        return self._codes(key, value, parse_ignored)

    def _schemes(self, key: str, value: Any) -> frozenset[str]:
        from safepoint.store.elsewhere import parse_schemes

        try:
            return parse_schemes(self._texts(key, value))
        except ValueError as error:
            raise self._wrong(key, str(error)) from error

    def _codes(
        self, key: str, value: Any, parse: Callable[[Iterable[str]], frozenset[str]]
    ) -> frozenset[str]:
        from safepoint.selection import CodesError

        try:
            return parse(self._texts(key, value))
        except CodesError as error:
            raise self._wrong(key, str(error)) from error

    def _tables(self, key: str, value: Any) -> list[tuple[str, Any]]:
        """The tables of a list, each with its key."""
        if not isinstance(value, list):
            raise self._wrong(key, f"expected [[{self._prefix}{key}]] tables, found {_found(value)}")
        return [(f"{key}[{number}]", entry) for number, entry in enumerate(value)]

    def _per_path(self, key: str, value: Any) -> tuple[PathIgnore, ...]:
        return tuple(self._path_ignore(place, entry) for place, entry in self._tables(key, value))

    def _path_ignore(self, key: str, value: Any) -> PathIgnore:
        from safepoint.selection import PathIgnore, parse_pattern

        entry = self._table(key, value)
        self._known(key, entry, ("path", "ignore", "reason"))
        for name, what in _PER_PATH.items():
            if name not in entry:
                raise self._wrong(key, f"{name} is missing: {what}")
        reason = entry["reason"]
        if not isinstance(reason, str) or not reason.strip():
            raise self._wrong(
                f"{key}.reason", f"expected words, found {_found(reason)}; {_PER_PATH['reason']}"
            )
        path = self._text(f"{key}.path", entry["path"])
        codes = self._ignored(f"{key}.ignore", entry["ignore"])
        return PathIgnore(parse_pattern(path), codes, reason.strip(), path)

    def _schema(self, name: str, value: Any) -> str | Mapping[str, str]:
        from safepoint.payloads import SNAPSHOTS

        key = f"payload-schemas.{_key(name)}"
        if not _PAYLOAD_NAME.fullmatch(name):
            raise self._wrong(key, 'expected a name like "support-agent/state@4", with a version')
        if isinstance(value, str):
            return self._file(key, value)
        if not isinstance(value, dict) or not value:
            found = "an empty table" if value == {} else _found(value)
            parts = " and ".join(SNAPSHOTS)
            raise self._wrong(
                key, f"expected the path of a schema, or a table with paths for {parts}; found {found}"
            )
        return self._snapshot_files(key, value)

    def _snapshot_files(self, key: str, value: dict[str, Any]) -> Mapping[str, str]:
        from safepoint.payloads import SNAPSHOTS

        self._known(key, value, SNAPSHOTS)
        return {member: self._file(f"{key}.{member}", path) for member, path in value.items()}

    def _migrations(self, value: Any, schemas: Iterable[str]) -> tuple[PayloadStep, ...]:
        tables = self._tables("payload-migrations", value)
        if not tables:
            return ()
        from safepoint.payloads.errors import PayloadMigrationError
        from safepoint.payloads.steps import check_steps

        steps = tuple(self._step(key, entry) for key, entry in tables)
        try:
            check_steps(steps, tuple(schemas))
        except PayloadMigrationError as error:
            raise SettingsError(str(error)) from error
        return steps

    def _step(self, key: str, value: Any) -> PayloadStep:
        from safepoint.payloads.steps import PayloadStep

        entry = self._table(key, value)
        self._known(key, entry, ("from", "to", "patch", "function"))
        ends = []
        for name in ("from", "to"):
            if name not in entry:
                raise self._wrong(
                    key, f"{name} is missing: name a payload schema, such as support-agent/state@4"
                )
            if not isinstance(entry[name], str) or not _PAYLOAD_NAME.fullmatch(entry[name]):
                found = _found(entry[name])
                raise self._wrong(
                    f"{key}.{name}", f"expected a name like support-agent/state@4, found {found}"
                )
            ends.append(entry[name])
        patch = entry.get("patch")
        if isinstance(patch, dict) and patch:
            patch = self._snapshot_files(f"{key}.patch", patch)
        elif patch is not None:
            patch = self._file(f"{key}.patch", patch)
        function = self._text(f"{key}.function", entry["function"]) if "function" in entry else None
        origin = f"{self._path}: {self._prefix}{key}"
        return PayloadStep(ends[0], ends[1], patch, function, self._folder or ".", origin)


_PER_PATH: Mapping[str, str] = {
    "path": "say which files, as a pattern relative to this file's folder",
    "ignore": "list the codes that do not count there",
    "reason": "say why, for whoever wonders later",
}
"""The members of a per-path entry, all of which it must have, and what to do about a missing one."""


def _member(key: str) -> str:
    return {"format": "output_format"}.get(key, key.replace("-", "_"))


def _key(name: str) -> str:
    """`name` as TOML writes it for a key."""
    import json

    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _found(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case "":
            return "an empty text"
        case str():
            return repr(value)
        case int() | float():
            return str(value)
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            return "a date or time"


def _did_you_mean(name: str, known: Iterable[str], *, always: bool = True) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, tuple(known), n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; there are {', '.join(known)}" if always else ""
