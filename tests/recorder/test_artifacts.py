"""Artifacts of a run that is recorded: durable before a checkpoint names them, read again by whoever goes on."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import safepoint
from safepoint.core.digest import digest_bytes
from safepoint.core.timestamp import format_time
from safepoint.recorder import (
    Fenced,
    IllegalRecord,
    RecordedRun,
    ResumeRefused,
    Unclear,
    artifacts,
    resume_run,
    start_run,
)
from safepoint.recorder.approvals import open_unowned
from safepoint.store import AbsentError, CorruptError, NoSpaceError, Outcome, UnreachableError, open_store
from safepoint.store.local import LocalStore

RUN = "run-1"
PLAN = b"# plan\n"
HEX = digest_bytes(PLAN).removeprefix("sha256:")
KEY = f"runs/{RUN}/artifacts/sha256/{HEX}"
REFERENCE = {
    "artifactId": "plan",
    "uri": f"artifacts/sha256/{HEX}",
    "digest": f"sha256:{HEX}",
    "size": len(PLAN),
    "mediaType": "text/markdown",
}


def begin(store: Any, clock: Any) -> RecordedRun:
    return start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)


def facts(clock: Any) -> dict[str, Any]:
    now = format_time(clock())
    dead = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    return {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": RUN,
        "observedAt": now,
        "owners": [dead],
    }


def resume(store: Any, clock: Any, **options: Any) -> RecordedRun:
    return resume_run(store, RUN, holder="w2", facts=facts(clock), clock=clock, **options)


def checkpoint(run: RecordedRun, *references: dict[str, Any], name: str = "cp-1") -> None:
    run.checkpoint(name, state="s", step_name="begin", next_steps=["pay"], artifact_refs=references)


@pytest.mark.parametrize("data", [PLAN, io.BytesIO(PLAN)], ids=["bytes", "file"])
def test_what_is_put_can_be_named_and_read_again_after_a_crash(tmp_path: Path, clock: Any, data: Any) -> None:
    run = begin(tmp_path, clock)
    reference = run.put_artifact(data, artifact_id="plan", media_type="text/markdown")
    assert reference == REFERENCE
    assert (tmp_path / KEY).read_bytes() == PLAN
    checkpoint(run, reference)
    check = safepoint.validate(tmp_path, artifacts=True)
    assert [finding for finding in check if finding.severity == "error"] == []
    later = resume(tmp_path, clock)
    assert later.last_checkpoint is not None
    [named] = later.last_checkpoint["artifactRefs"]
    assert later.read_artifact(named) == PLAN
    assert safepoint.read_artifact(tmp_path, RUN, "plan") == PLAN


def test_who_made_it_is_recorded(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    reference = run.put_artifact(b"", artifact_id="empty", produced_by="draft")
    assert (reference["producedBy"], reference["size"], reference["mediaType"]) == ("draft", 0, None)
    checkpoint(run, reference)


def test_equal_bytes_are_kept_once_under_any_number_of_names(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    first = [run.put_artifact(PLAN, artifact_id=name) for name in ("plan", "copy", "plan")]
    assert len({reference["digest"] for reference in first}) == 1
    assert len(list((tmp_path / f"runs/{RUN}/artifacts/sha256").iterdir())) == 1
    checkpoint(run, *first[:2])


def test_the_bytes_are_there_before_the_checkpoint_that_names_them(tmp_path: Path, clock: Any) -> None:
    written: list[str] = []

    class Watched(LocalStore):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            outcome = super().put_if_absent(key, data)
            written.append(key)
            return outcome

    run = begin(Watched(str(tmp_path)), clock)
    checkpoint(run, run.put_artifact(PLAN, artifact_id="plan"))
    assert written[-2:] == [KEY, f"runs/{RUN}/journal/0000000003.json"]


def test_bytes_that_somebody_changed_are_not_taken_for_written(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    reference = run.put_artifact(PLAN, artifact_id="plan")
    (tmp_path / KEY).write_bytes(b"# plot\n")
    with pytest.raises(CorruptError, match="somebody changed them"):
        run.put_artifact(PLAN, artifact_id="plan")
    with pytest.raises(CorruptError, match="another SHA-256"):
        run.read_artifact(reference)
    (tmp_path / KEY).unlink()
    with pytest.raises(AbsentError):
        run.read_artifact(reference)
    assert run.put_artifact(PLAN, artifact_id="plan") == reference


Answer = Outcome | Exception


def unsure(folder: Path, clock: Any, answers: list[Answer], monkeypatch: pytest.MonkeyPatch) -> RecordedRun:
    """A run in a store that gives these answers to artifacts; what is not WON was not written."""

    class Unsure(LocalStore):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if "/artifacts/" not in key or not answers:
                return super().put_if_absent(key, data)
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    monkeypatch.setattr(artifacts, "PAUSE", 0)
    return begin(Unsure(str(folder)), clock)


def test_an_unclear_answer_is_asked_for_again(
    tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what was lost to others and then is not there was deleted meanwhile
    answers: list[Answer] = [Outcome.UNKNOWN, UnreachableError("x", "no answer"), Outcome.LOST]
    run = unsure(tmp_path, clock, answers, monkeypatch)
    assert run.put_artifact(PLAN, artifact_id="plan")["digest"] == REFERENCE["digest"]
    assert (tmp_path / KEY).read_bytes() == PLAN


def test_an_answer_that_never_comes_is_an_error(
    tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = unsure(tmp_path, clock, [Outcome.UNKNOWN] * 5, monkeypatch)
    with pytest.raises(Unclear, match="did not say whether the artifact was written"):
        run.put_artifact(PLAN, artifact_id="plan")
    run = unsure(tmp_path / "full", clock, [NoSpaceError("x", "full")], monkeypatch)
    with pytest.raises(NoSpaceError):
        run.put_artifact(PLAN, artifact_id="plan")


@pytest.mark.parametrize(
    ("members", "member"),
    [
        ({"artifact_id": ""}, "artifactId"),
        ({"artifact_id": "a" * 257}, "artifactId"),
        ({"artifact_id": "a\nb"}, "artifactId"),
        ({"artifact_id": "a\x00"}, "artifactId"),
        ({"artifact_id": "a\ud800"}, "artifactId"),
        ({"artifact_id": 7}, "artifactId"),
        ({"artifact_id": "a", "media_type": ""}, "mediaType"),
        ({"artifact_id": "a", "produced_by": "x\x7f"}, "producedBy"),
    ],
)
def test_what_no_checkpoint_could_name_is_not_written(
    tmp_path: Path, clock: Any, members: dict[str, Any], member: str
) -> None:
    run = begin(tmp_path, clock)
    with pytest.raises(IllegalRecord, match=f"SP206 {member}"):
        run.put_artifact(PLAN, **members)
    assert not (tmp_path / f"runs/{RUN}/artifacts").exists()


def test_text_is_no_artifact(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    for data in ("plan", io.StringIO("plan")):
        with pytest.raises(TypeError, match="expected bytes"):
            run.put_artifact(data, artifact_id="plan")  # type: ignore[arg-type]


def test_an_id_never_names_two_contents(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    checkpoint(run, run.put_artifact(PLAN, artifact_id="plan"))
    with pytest.raises(IllegalRecord, match="SP513"):
        run.put_artifact(b"other", artifact_id="plan")
    later = resume(tmp_path, clock)
    with pytest.raises(IllegalRecord, match="SP513"):
        later.put_artifact(b"other", artifact_id="plan")


def test_who_no_longer_owns_the_run_puts_nothing(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    run.release()
    with pytest.raises(Fenced):
        run.put_artifact(PLAN, artifact_id="plan")
    assert not (tmp_path / f"runs/{RUN}/artifacts").exists()


def test_a_retracted_artifact_is_neither_read_nor_named_again(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    reference = run.put_artifact(PLAN, artifact_id="plan")
    checkpoint(run, reference)
    journal = open_unowned(open_store(str(tmp_path)), RUN, clock)
    journal.append_unowned({"recordType": "retract", "targets": ["plan"], "reason": "erasure", "by": "dpo"})
    with pytest.raises(safepoint.RetractedError):
        run.read_artifact(reference)
    with pytest.raises(IllegalRecord, match="was retracted"):
        run.put_artifact(PLAN, artifact_id="plan")
    with pytest.raises(ResumeRefused, match="SP786"):
        resume(tmp_path, clock)


def test_an_artifact_goes_with_the_last_checkpoint_that_names_it(tmp_path: Path, clock: Any) -> None:
    run = begin(tmp_path, clock)
    reference = run.put_artifact(PLAN, artifact_id="plan")
    checkpoint(run, reference, name="cp-1")
    checkpoint(run, reference, name="cp-2")
    journal = open_unowned(open_store(str(tmp_path)), RUN, clock)
    members = {"recordType": "retract", "reason": "erasure", "by": "dpo"}
    journal.append_unowned({**members, "targets": ["cp-1"]})
    assert run.read_artifact(reference) == PLAN
    journal.append_unowned({**members, "targets": ["cp-2"]})
    with pytest.raises(safepoint.RetractedError):
        run.read_artifact(reference)


def test_a_run_is_taken_up_with_artifacts_elsewhere_where_that_is_allowed(tmp_path: Path, clock: Any) -> None:
    elsewhere = open_store("memory://kept-elsewhere")
    elsewhere.put_if_absent("plan", PLAN)
    run = begin(tmp_path, clock)
    checkpoint(run, {**REFERENCE, "uri": "memory://kept-elsewhere/plan"})
    with pytest.raises(ResumeRefused, match="SP793"):
        resume(tmp_path, clock)
    assert resume(tmp_path, clock, allow_artifact_schemes=["memory"]).epoch == 2


def test_a_fork_goes_on_with_the_artifacts_of_the_checkpoint_that_it_begins_at(
    tmp_path: Path, clock: Any
) -> None:
    run = begin(tmp_path, clock)
    checkpoint(run, run.put_artifact(PLAN, artifact_id="plan"))
    second = run.put_artifact(b"second", artifact_id="second")
    checkpoint(run, second, name="cp-2")
    (tmp_path / f"runs/{RUN}/artifacts/sha256" / second["digest"].removeprefix("sha256:")).unlink()
    with pytest.raises(ResumeRefused, match="SP786"):
        resume(tmp_path, clock)
    request = {
        "recordType": "request",
        "schemaVersion": "v3",
        "goal": "continue",
        "checkpointId": "cp-1",
    }
    forked = resume(tmp_path, clock, request=request)
    assert forked.last_checkpoint is not None
    assert [ref["artifactId"] for ref in forked.last_checkpoint["artifactRefs"]] == ["plan"]
    (tmp_path / KEY).unlink()
    forked.release()
    with pytest.raises(ResumeRefused, match="SP786"):
        # nothing was recorded on the branch yet: the run still begins at its origin
        resume(tmp_path, clock)


def test_the_step_that_made_a_lost_artifact_comes_before_the_next_ones(store: Any, clock: Any) -> None:
    with begin(store, clock) as run:
        plan = run.put_artifact(PLAN, artifact_id="plan", produced_by="plan")
        run.checkpoint("cp-1", state="s", step_name="plan", next_steps=["write"], artifact_refs=[plan])
    store.delete(KEY)
    with resume(store, clock) as again:
        assert again.next_steps == ("plan", "write")
        plan = again.put_artifact(PLAN, artifact_id="plan", produced_by="plan")
        again.checkpoint("cp-2", state="s", step_name="plan", next_steps=["write"], artifact_refs=[plan])
        assert again.next_steps == ("write",)
