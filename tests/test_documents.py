"""What README.md and SPEC.md show is true: their records validate, their commands run as printed.

A block ```` ```json record ```` or ```` ```json document ```` is one JSON text that must validate.
A block ```` ```console ```` is a session: every `$ safepoint …` and `$ cp -r …` runs, in the page's order, in a folder
that holds copies of `fixtures/` and `examples/`. A command succeeds unless `$ echo $?` and its number follow. With the
tag `console exact` the output must also be equal, to the letter.
A block ```` ```python ```` is a program that runs in that folder too.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from safepoint import schemas
from safepoint.core import strictjson
from safepoint.core.kind import recognise

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "SPEC.md")
SESSIONS = ("console", "console exact", "python")
SCRIPT = Path(sys.executable).parent / "safepoint"
FENCE = re.compile(r"(?ms)^```([^\n]*)\n(.*?)^```$")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    tag: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    title: str
    arguments: list[str]
    output: str
    exit: int


def blocks(*tags: str) -> list[Block]:
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for page in PAGES
        for text in [(ROOT / page).read_text(encoding="utf-8")]
        for match in FENCE.finditer(text)
        if match[1] in tags
    ]


def commands(block: Block) -> Iterator[Command]:
    if block.tag == "python":
        yield Command("python program", [sys.executable, "-W", "error", "-c", block.text], "", 0)
        return
    parts = [part.partition("\n") for part in re.split(r"(?m)^\$ ", block.text)[1:]]
    for (line, _, output), following in zip(parts, [*parts[1:], ("", "", "")], strict=True):
        if line.startswith("cp -r "):
            yield Command(line, shlex.split(line), output, 0)
        if line.startswith("safepoint "):
            arguments = [str(SCRIPT), *shlex.split(line)[1:]]
            yield Command(line, arguments, output, int(following[2]) if following[0] == "echo $?" else 0)


@pytest.mark.parametrize("block", blocks("json record", "json document"), ids=str)
def test_an_example_validates(block: Block) -> None:
    value, faults = strictjson.parse(block.text.encode())
    identity, unknown = recognise(value)
    assert (*faults, *unknown) == ()
    assert identity is not None
    assert list(schemas.check(identity, value)) == []


def test_the_pages_show_examples_and_sessions() -> None:
    assert {block.page for block in blocks("json record")} == set(PAGES)
    assert [command for block in blocks(*SESSIONS) for command in commands(block)]


@pytest.mark.parametrize("page", PAGES)
def test_a_session_runs_as_the_page_shows_it(page: str, tmp_path: Path) -> None:
    for folder in ("fixtures", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for block in blocks(*SESSIONS):
        for command in commands(block) if block.page == page else ():
            done = subprocess.run(
                command.arguments,
                cwd=tmp_path,
                env=os.environ | {"NO_COLOR": "1", "COLUMNS": "110"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == command.exit, f"{block}: {command.title}\n{done.stdout}"
            if block.tag == "console exact":
                assert done.stdout == command.output, f"{block}: {command.title}"


def test_links_to_files_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "fixtures/README.md"]
    links = (
        (path, target)
        for path in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", FENCE.sub("", path.read_text("utf-8")))
        if "://" not in target
    )
    assert [f"{path.name}: {target}" for path, target in links if not (path.parent / target).exists()] == []
