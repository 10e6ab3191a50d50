"""The rooms of the code and the direction of their imports, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/safepoint"

LEVELS = (
    {"cli"},
    {"api", "settings"},
    {"validation", "demo", "audit", "judging"},
    {"moving"},
    {"upkeep"},
    {"recorder"},
    {"reader", "selection"},
    {"rules", "guard", "render"},
    {"policy", "model"},
    {"migrate"},
    {"store"},
    {"schemas", "payloads"},
    {"core", "processes"},
)
"""From the terminal down: a room imports only rooms of later lines, and none of its own line."""

PURE = {"rules", "guard", "model", "render"}
"""Rooms that are handed everything: they never see a store."""

FACE = {"__init__": {"api"}, "__main__": {"cli"}}
"""The modules of the package itself and the one room that each of them opens."""

ONLY_IN = {
    "fsspec": {"store"},
    "obstore": {"store"},
    "jsonschema": {"schemas", "payloads"},
    "jsonschema_rs": {"schemas", "payloads"},
    "referencing": {"schemas", "payloads"},
    "click": {"cli", "demo"},
    "rich": {"render", "cli", "demo"},
    "aiosmtpd": {"demo"},
}
"""Packages of others and the rooms that may know them."""

LAZY = {"fsspec", "obstore", "rich", "aiosmtpd"}
"""Imported where they are used, never at the top of a module: most commands do without."""

LONG = {
    "tests/mutation/damage/harmless.py": "one list: a line for each damage that harms nothing",
    "src/safepoint/model/ordinary.py": "one machine, whose states and steps are read together",
}
"""Files over 400 lines, relative to the project, each with its reason."""


@dataclass(frozen=True)
class Import:
    path: Path
    line: int
    target: str
    lazy: bool

    @property
    def room(self) -> str:
        return room_of(self.path.relative_to(SOURCE).with_suffix("").parts)

    @property
    def package(self) -> str:
        return self.target.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {self.target}"


def room_of(parts: tuple[str, ...]) -> str:
    return parts[0] if parts else "__init__"


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides its direction"
            # `from safepoint import api` names a room; `from safepoint.api import validate` a thing in it
            base = str(node.module)
            targets = [f"{base}.{alias.name}" for alias in node.names] if base == "safepoint" else [base]
        else:
            continue
        for target in targets:
            yield Import(path, node.lineno, target, id(node) in inside)


FILES = sorted(SOURCE.rglob("*.py"))
IMPORTS = [found for path in FILES for found in imports_of(path)]
OWN = [found for found in IMPORTS if found.package == "safepoint"]


def level(room: str) -> int:
    return next(index for index, rooms in enumerate(LEVELS) if room in rooms)


def test_every_module_lies_in_a_known_room() -> None:
    rooms = {room_of(path.relative_to(SOURCE).with_suffix("").parts) for path in FILES}
    assert rooms <= set().union(*LEVELS) | FACE.keys() | {"version"}


def test_rooms_import_only_rooms_below_them() -> None:
    wrong = []
    for found in OWN:
        target = room_of(tuple(found.target.split(".")[1:]))
        if target in {found.room, "version"}:
            continue
        if found.room in FACE:
            allowed = target in FACE[found.room]
        else:
            allowed = target not in FACE and level(target) > level(found.room)
        if not allowed:
            wrong.append(str(found))
    assert not wrong


def test_pure_rooms_never_see_a_store() -> None:
    pure = [found for found in OWN if found.room in PURE]
    assert not [str(found) for found in pure if found.target.startswith("safepoint.store")]


def test_packages_of_others_are_imported_only_in_their_rooms() -> None:
    known = [found for found in IMPORTS if found.package in ONLY_IN]
    assert not [str(found) for found in known if found.room not in ONLY_IN[found.package]]


def test_slow_packages_are_imported_where_they_are_used() -> None:
    assert not [str(found) for found in IMPORTS if found.package in LAZY and not found.lazy]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("__init__.py")), ids=lambda path: path.parent.name)
def test_every_package_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_module_is_called_utils() -> None:
    assert not [path for path in FILES if path.stem in {"utils", "util", "helpers", "misc", "common"}]


def test_no_file_is_longer_than_400_lines_without_a_reason() -> None:
    paths = [*FILES, *sorted((ROOT / "tests").rglob("*.py"))]
    long = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if len(path.read_text(encoding="utf-8").splitlines()) > 400
    }
    assert long == LONG.keys()


def test_asking_for_the_version_imports_no_slow_package() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "safepoint", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "safepoint" in imported
    assert not imported & (LAZY | {"jsonschema", "jsonschema_rs", "referencing"})
