"""The README's program: saved as it stands there, killed, judged and resumed, as its sessions show."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from safepoint import guard
from safepoint.reader import load_run
from safepoint.recorder import reject
from safepoint.store import open_store

README = Path(__file__).parents[2] / "README.md"
PROGRAMS = {
    "python": [sys.executable, "-W", "error"],
    "safepoint": [str(Path(sys.executable).parent / "safepoint")],
}


def blocks(tag: str, within: str = "") -> list[str]:
    found = re.findall(rf"(?ms)^```{tag}\n(.*?)^```$", README.read_text(encoding="utf-8"))
    return [block for block in found if within in block]


def pattern(shown: str) -> str:
    """What is shown, as an expression: an ellipsis stands for any text, a line of its own for any lines."""
    lines = [
        "(.*\n)*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n"
        for line in shown.splitlines()
    ]
    return "".join(lines)


def play(session: str, folder: Path) -> None:
    for part in re.split(r"(?m)^\$ ", session)[1:]:
        line, _, shown = part.partition("\n")
        program, *arguments = shlex.split(line)
        done = subprocess.run(
            [*PROGRAMS[program], *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert re.fullmatch(pattern(shown), done.stdout), f"{line}\n{done.stdout}"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_the_readmes_program_survives_the_kill_that_the_readme_shows(tmp_path: Path) -> None:
    (program,) = blocks("python", "def open_run")
    (tmp_path / "publish.py").write_text(program, encoding="utf-8")
    crash, recovery = blocks("shell-session", "publish.py")
    play(crash, tmp_path)
    time.sleep(1)  # the death is noted in whole seconds, and proves nothing before the worker's last record
    (command,) = blocks("sh", "facts.json")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    play(recovery, tmp_path)
    run = load_run(open_store(str(tmp_path / "my-runs")), "run-7").run
    assert run is not None
    assert run.status == "completed"
    assert [(a.epoch, a.status) for a in run.actions["mail-1"].attempts] == [
        (1, "attempting"),
        (2, "committed"),
    ]


def ask_for_the_bill(folder: Path) -> tuple[str, str]:
    """The README's ``pay.py`` in `folder`, its session played up to the answer; what is left of the session."""
    (program,) = blocks("python", "pay-1")
    (folder / "pay.py").write_text(program, encoding="utf-8")
    (session,) = blocks("shell-session", "pay.py")
    before, approve, after = session.partition("$ safepoint approve")
    play(before, folder)
    return approve + after, str(folder / "my-bills")


def test_the_readmes_question_waits_without_its_process_and_its_yes_is_spent_once(tmp_path: Path) -> None:
    answered, store = ask_for_the_bill(tmp_path)
    play(answered, tmp_path)
    run = load_run(open_store(store), "bill-7").run
    assert run is not None
    assert run.status == "completed"
    assert (run.approvals["ap-1"].event, run.approvals["ap-1"].action_id) == ("consumed", "pay-1")
    assert run.actions["pay-1"].status == "committed"


def test_the_readmes_question_refused_goes_to_a_human(tmp_path: Path) -> None:
    _, store = ask_for_the_bill(tmp_path)
    reject(store, "bill-7", by="bob", approval_id="ap-1")
    assert guard(store, "bill-7").verdict == "hand_over"
