"""Completion as a user has it: an interactive bash on a terminal of its own, with the line of docs/ci.md, and a TAB."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

BASH = shutil.which("bash")
DOCUMENT = Path(__file__).parents[2] / "docs/ci.md"
SECONDS = 15
"""Far more than a completion takes on a slow machine."""


def is_old(bash: str | None) -> bool:
    """Whether it is the bash of macOS, for which there is no completion."""
    if bash is None:
        return True
    ask = [bash, "-c", "echo ${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}"]
    return int(subprocess.run(ask, capture_output=True, check=True).stdout) < 44


pytestmark = pytest.mark.skipif(is_old(BASH), reason="no bash 4.4 or later")


class Terminal:
    """What was typed, and what the shell shows of it."""

    def __init__(self, main: int) -> None:
        self._main = main
        self._shown = ""

    def type(self, keys: str) -> None:
        self._shown = ""
        os.write(self._main, keys.encode())

    def shows(self, pattern: str) -> str:
        """All that came up to a match of `pattern`; waits for it."""
        end = time.monotonic() + SECONDS
        while not re.search(pattern, self._shown):
            if not select.select([self._main], [], [], max(0.0, end - time.monotonic()))[0]:
                pytest.fail(f"expected {pattern!r}, the terminal shows {self._shown!r}")
            self._shown += os.read(self._main, 65536).decode(errors="replace")
        return self._shown


def source_line(shell: str) -> str:
    """The line that docs/ci.md has for `shell`."""
    [line] = re.findall(
        rf'^eval "\$\(_SAFEPOINT_COMPLETE={shell}_source safepoint\)"$', DOCUMENT.read_text(), re.MULTILINE
    )
    return str(line)


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[Terminal]:
    """An interactive bash in a folder with a store, with completion set up."""
    (tmp_path / "store-of-mine/runs/run-1").mkdir(parents=True)
    (tmp_path / "policy-of-mine.json").write_text("{}")
    main, terminal = os.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")} | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "TERM": "dumb",
        "HISTFILE": os.devnull,
        "INPUTRC": os.devnull,
        "COLUMNS": "200",
    }
    process = subprocess.Popen(
        [str(BASH), "--norc", "--noprofile", "-i"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=tmp_path,
        env=environment,
        start_new_session=True,
    )
    os.close(terminal)
    shell = Terminal(main)
    shell.type(f"PS1='> '; {source_line('bash')}; echo ready$((40 + 2))\n")
    shell.shows(r"ready42\r?\n> $")
    yield shell
    process.kill()
    process.wait()
    os.close(main)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("safepoint val", "safepoint validate "),
        ("safepoint --ver", "safepoint --version "),
        ("safepoint validate --fail", "safepoint validate --fail-on "),
        ("safepoint validate --fail-on w", "safepoint validate --fail-on warning "),
        ("safepoint validate --format sa", "safepoint validate --format sarif "),
        ("safepoint validate sto", "safepoint validate store-of-mine/"),
        ("safepoint validate --fail-on error ./sto", "safepoint validate --fail-on error ./store-of-mine/"),
        ("safepoint guard sto", "safepoint guard store-of-mine/"),
        ("safepoint explain bad-tim", "safepoint explain bad-time "),
        ("safepoint schema chec", "safepoint schema checkpoint "),
        ("safepoint show store-of-mine --run ru", "safepoint show store-of-mine --run run-1 "),
        ("safepoint guard . --policy pol", "safepoint guard . --policy policy-of-mine.json "),
    ],
)
def test_a_tab_completes(bash: Terminal, typed: str, completed: str) -> None:
    bash.type(typed + "\t")
    bash.shows(re.escape(completed))


def test_two_tabs_list_the_commands(bash: Terminal) -> None:
    bash.type("safepoint \t\t")
    # in columns, whose rows come one after the other: any of the names may be in the last one
    assert all(name in bash.shows(name) for name in ("validate", "guard"))


def test_the_other_shells_get_a_script_that_names_the_command() -> None:
    for shell in ("zsh", "fish"):
        environment = os.environ | {"_SAFEPOINT_COMPLETE": f"{shell}_source"}
        done = subprocess.run(
            [sys.executable, "-m", "safepoint"], env=environment, capture_output=True, text=True, check=True
        )
        assert "safepoint" in done.stdout
