"""Where no claim can be made, nobody starts a run, goes on with one, or settles what is open in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from journals import Journal

from safepoint.recorder import ResolutionRefused, ResumeRefused, resolve_action, resume_run, start_run
from safepoint.store import UnsupportedError


@pytest.fixture
def archived(tmp_path: Path) -> str:
    """A run with an effect in doubt whose lease lapsed long ago, in an archive."""
    store = tmp_path / "store"
    store.mkdir()
    Journal().begin().checkpoint(2).ledger(3, "attempting").write(store)
    shutil.make_archive(str(tmp_path / "archive"), "zip", store)
    return f"zip://::{tmp_path / 'archive.zip'}"


def test_a_run_in_an_archive_is_not_resumed(archived: str) -> None:
    with pytest.raises(ResumeRefused) as refused:
        resume_run(archived, "run-1", holder="w")
    assert refused.value.decision.verdict == "hand_over"
    assert "SP725" in {reason.code for reason in refused.value.decision.reasons}


def test_what_is_open_in_an_archive_is_not_given_up_there(archived: str) -> None:
    with pytest.raises(ResolutionRefused) as refused:
        resolve_action(archived, "run-1", "send", outcome="abandoned", by="ann", evidence="ticket 7")
    assert "SP725" in {reason.code for reason in refused.value.decision.reasons}


def test_evidence_is_not_written_into_an_archive(archived: str) -> None:
    with pytest.raises(UnsupportedError):
        resolve_action(archived, "run-1", "send", outcome="committed", by="ann", evidence="ticket 7")


def test_no_run_is_started_in_an_archive(archived: str) -> None:
    with pytest.raises(UnsupportedError):
        start_run(archived, "run-2", workflow="publish", holder="w")
