"""``safepoint demo``: the command only hands over; what the demo does is tested in its own room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_a_folder_that_holds_something_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = run("demo", tmp_path)
    assert result.exit_code == 2
    assert str(tmp_path) in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_place_where_nothing_can_be_written_is_said_in_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "safepoint-demo")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "mkdir", refuse)
    result = run("demo")
    assert result.exit_code == 2
    assert result.stderr == "The demo cannot be played here: [Errno 13] Permission denied: 'safepoint-demo'\n"
