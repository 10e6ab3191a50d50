"""Retracting: what is hidden stays hidden, and only bytes that nobody sees any more are deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from closed import LATER, PICTURE, PLAN, filled, finished, objects, reference, said
from crashing import Watched, kills, objects_of
from journals import START, Journal

import safepoint
from safepoint import api
from safepoint.core.digest import digest_bytes
from safepoint.core.timestamp import SECOND
from safepoint.recorder import IllegalRecord
from safepoint.store import AbsentError, Store, UnsupportedError
from safepoint.store.capabilities import capabilities_of
from safepoint.store.layout import artifact_key, journal_key
from safepoint.upkeep.pack import pack
from safepoint.upkeep.prune import prune
from safepoint.upkeep.retract import NotRetractedError, Retraction, retract

BOTH = pytest.mark.parametrize("kind", ["local", "memory"])
PLAN_KEY, PICTURE_KEY = (artifact_key("run-1", digest_bytes(data)) for data in (PLAN, PICTURE))


def hide(store: Store, *, now: int = LATER, **asked: Any) -> Retraction:
    return retract(store, "run-1", **{"by": "ann", "reason": "erasure", "clock": lambda: now, **asked})


def codes(store: Store) -> list[str]:
    return [finding.code for finding in api.findings_of(api.load(store, "run-1"))]


def crashed() -> Journal:
    """Interrupted behind its second checkpoint, with an artifact in each."""
    journal = Journal().begin().checkpoint(2, "cp-1", artifactRefs=[reference("plan", PLAN)])
    return journal.checkpoint(3, "cp-2", artifactRefs=[reference("picture", PICTURE)])


@BOTH
def test_a_retraction_is_a_record_behind_the_last_one(kind: str, tmp_path: Path) -> None:
    content = objects(finished())
    store = filled(kind, tmp_path, content)
    done = hide(store, checkpoints=["cp-1"], artifacts=["plan-again"])
    assert (done.sequence, done.targets, done.deleted, done.kept) == (8, ("cp-1", "plan-again"), (), {})
    record = said(store.get(journal_key("run-1", 8)))
    assert {name: record[name] for name in ("recordType", "targets", "reason", "by", "leaseEpoch")} == {
        "recordType": "retract",
        "targets": ["cp-1", "plan-again"],
        "reason": "erasure",
        "by": "ann",
        "leaseEpoch": 0,
    }
    assert codes(store) == []
    assert content.items() < objects_of(store).items()


def test_what_is_retracted_already_is_not_retracted_again(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    hide(store, checkpoints=["cp-1"])
    again = hide(store, checkpoints=["cp-1"])
    assert (again.sequence, again.before) == (None, ("cp-1",))
    more = hide(store, checkpoints=["cp-1", "cp-2"])
    assert (more.sequence, more.before) == (9, ("cp-1",))
    assert said(store.get(journal_key("run-1", 9)))["targets"] == ["cp-2"]


def test_the_guard_goes_on_from_the_checkpoint_before(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(crashed()))
    hide(store, checkpoints=["cp-2"])
    decision = safepoint.guard(store, "run-1", now=LATER)
    assert (decision.verdict, decision.checkpoint_id) == ("resume", "cp-1")
    assert [reason.code for reason in decision.reasons] == ["SP703"]


@BOTH
def test_bytes_that_only_hidden_references_name_are_deleted(kind: str, tmp_path: Path) -> None:
    store = filled(kind, tmp_path, objects(finished()))
    done = hide(store, artifacts=["picture"], delete_artifacts=True)
    assert (done.deleted, done.kept) == ((PICTURE_KEY,), {})
    assert PICTURE_KEY not in objects_of(store)
    assert PLAN_KEY in objects_of(store)
    assert not [f.code for f in safepoint.validate(store.url, artifacts=True)] or kind == "memory"


def test_bytes_that_another_artifact_has_too_are_kept(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    done = hide(store, checkpoints=["cp-1"], delete_artifacts=True)
    assert done.deleted == (PICTURE_KEY,)
    assert done.kept == {"plan": "the artifact plan-again, which is not retracted, has the same bytes"}
    assert not done.whole
    assert PLAN_KEY in objects_of(store)
    rest = hide(store, checkpoints=["cp-1"], artifacts=["plan-again"], delete_artifacts=True)
    assert (rest.deleted, rest.kept) == ((PLAN_KEY,), {})


def test_an_artifact_of_a_hidden_checkpoint_that_another_one_names_is_kept(tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2, "cp-1", artifactRefs=[reference("plan", PLAN)])
    journal.checkpoint(3, "cp-2", artifactRefs=[reference("plan", PLAN)]).add("run", 4, status="completed")
    store = filled("memory", tmp_path, objects(journal))
    done = hide(store, checkpoints=["cp-1"], delete_artifacts=True)
    assert (done.deleted, list(done.kept)) == ((), ["plan"])


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("s3://bucket/plan", "its bytes lie elsewhere, or nobody knows where"),
        ("notes/plan.txt", "runs/run-1/notes/plan.txt is not named by its content: others may use it"),
    ],
)
def test_bytes_that_do_not_lie_under_their_digest_are_kept(uri: str, why: str, tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2, artifactRefs=[{**reference("plan", PLAN), "uri": uri}])
    store = filled("memory", tmp_path, objects(journal.add("run", 4, status="completed")))
    assert hide(store, artifacts=["plan"], delete_artifacts=True).kept == {"plan": why}


def test_no_bytes_are_deleted_beside_an_owner_who_may_be_alive(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(crashed()))
    done = hide(store, artifacts=["plan"], delete_artifacts=True, now=START + 30 * SECOND)
    assert done.sequence == 5
    assert done.deleted == ()
    assert "may be writing a record" in done.kept["plan"]
    assert hide(store, artifacts=["plan"], delete_artifacts=True).deleted == (PLAN_KEY,)


def test_a_run_without_a_lease_that_has_not_ended_may_have_a_worker(tmp_path: Path) -> None:
    journal = Journal().add("run", 0, status="started", workflow="w", epoch=0)
    journal.checkpoint(2, "cp-1", epoch=1, artifactRefs=[reference("plan", PLAN)])
    journal.checkpoint(3, "cp-2", epoch=1, artifactRefs=[])
    store = filled("memory", tmp_path, objects(journal))
    with pytest.raises(NotRetractedError, match="no lease says whether somebody is at work on it"):
        hide(store, checkpoints=["cp-2"])
    done = hide(store, artifacts=["plan"], delete_artifacts=True)
    assert (done.sequence, done.deleted) == (4, ())
    assert "no lease says" in done.kept["plan"]
    ended = filled("memory", tmp_path, objects(journal.add("run", 4, status="completed", epoch=1)))
    assert hide(ended, artifacts=["plan"], delete_artifacts=True).deleted == (PLAN_KEY,)


@pytest.mark.parametrize("digest", [True, False], ids=["with its digest", "without a digest"])
@pytest.mark.parametrize(
    "uri",
    [
        "artifacts/sha256/HEX",
        "./artifacts/sha256/HEX",
        "artifacts//sha256/HEX",
        "artifacts/sha256/%2e/HEX",
        "artifacts/sha256/HEX?x=1",
        "https://host/runs/run-1/artifacts/sha256/HEX",
        "Artifacts/sha256/HEX",
    ],
)
def test_bytes_are_kept_however_a_visible_reference_is_spelled(
    uri: str, digest: bool, tmp_path: Path
) -> None:
    other = {**reference("other", PLAN), "uri": uri.replace("HEX", digest_bytes(PLAN)[7:])}
    journal = Journal().begin().checkpoint(2, "cp-1", artifactRefs=[reference("plan", PLAN)])
    other |= {} if digest else {"digest": None, "size": None}
    journal.checkpoint(3, "cp-2", artifactRefs=[other]).add("run", 4, status="completed")
    store = filled("memory", tmp_path, objects(journal))
    done = hide(store, artifacts=["plan"], delete_artifacts=True)
    assert (done.deleted, list(done.kept)) == ((), ["plan"])
    assert "the artifact other, which is not retracted, " in done.kept["plan"]
    assert PLAN_KEY in objects_of(store)


def test_no_bytes_are_deleted_where_a_text_cannot_be_read(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, {**objects(finished()), "runs/run-1/more.jsonl": b"{torn\n"})
    done = hide(store, artifacts=["picture"], delete_artifacts=True)
    assert done.kept == {"picture": "more.jsonl cannot be read, and may name the same bytes"}


def test_a_dry_run_says_all_and_does_nothing(tmp_path: Path) -> None:
    content = objects(finished())
    store = filled("memory", tmp_path, content)
    done = hide(store, checkpoints=["cp-1"], delete_artifacts=True, dry_run=True)
    assert (done.sequence, done.deleted, list(done.kept)) == (None, (PICTURE_KEY,), ["plan"])
    assert objects_of(store) == content


def test_one_id_for_two_things_is_said(tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2, "cp-1", artifactRefs=[reference("cp-1", PLAN)])
    store = filled("memory", tmp_path, objects(journal.add("run", 4, status="completed")))
    assert hide(store, checkpoints=["cp-1"]).also == (
        "the artifact cp-1, which bears the id of the checkpoint",
    )


# What is refused


def test_the_newest_checkpoint_of_an_owner_who_may_be_alive_is_not_hidden(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(crashed()))
    with pytest.raises(NotRetractedError, match="would go on from what is hidden"):
        hide(store, checkpoints=["cp-2"], now=START + 30 * SECOND)
    assert hide(store, checkpoints=["cp-1"], now=START + 30 * SECOND).sequence == 5


@pytest.mark.parametrize("asked", [{"checkpoints": ["cp-9"]}, {"artifacts": ["cp-1"]}])
def test_what_the_run_does_not_have_is_not_hidden(asked: dict[str, Any], tmp_path: Path) -> None:
    content = objects(finished())
    store = filled("memory", tmp_path, content)
    with pytest.raises(NotRetractedError, match=r"its (checkpoint|artifact)s are: "):
        hide(store, **asked)
    assert objects_of(store) == content


def test_a_packed_run_must_be_unpacked_first(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    list(pack(store, now=LATER))
    with pytest.raises(NotRetractedError, match="safepoint unpack "):
        hide(store, checkpoints=["cp-1"])


def test_of_a_deleted_run_and_of_none_there_is_nothing_to_hide(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    list(prune(store, closed_before=LATER, now=LATER, by="ann"))
    with pytest.raises(NotRetractedError, match="was deleted"):
        hide(store, checkpoints=["cp-1"])
    with pytest.raises(AbsentError):
        retract(store, "run-9", checkpoints=["cp-1"], by="ann", reason="erasure")


@pytest.mark.parametrize("wrong", [{"by": ""}, {"reason": ""}, {"reason": "x" * 5000}])
def test_what_no_record_could_hold_is_refused(wrong: dict[str, str], tmp_path: Path) -> None:
    content = objects(finished())
    store = filled("memory", tmp_path, content)
    with pytest.raises(IllegalRecord):
        hide(store, checkpoints=["cp-1"], **wrong)
    assert objects_of(store) == content


def test_a_store_that_cannot_claim_is_refused(tmp_path: Path) -> None:
    store = Watched(filled("memory", tmp_path, objects(finished())), lambda what, key: None)
    store.capabilities = capabilities_of("http")
    with pytest.raises(UnsupportedError):
        hide(store, checkpoints=["cp-1"])


# Kills


@pytest.mark.parametrize(("kind", "every"), [("local", 4), ("memory", 1)])
def test_a_kill_at_any_moment_hides_it_once_or_not_at_all_and_the_next_time_finishes(
    kind: str, every: int, tmp_path: Path
) -> None:
    content = objects(finished())

    def work(store: Store) -> None:
        hide(store, artifacts=["picture"], delete_artifacts=True)

    for moment, store in kills(lambda: filled(kind, tmp_path, content), work, every):
        left = objects_of(store)
        # bytes are only gone once the record that allows it is there
        assert PICTURE_KEY in left or journal_key("run-1", 8) in left, moment
        assert codes(store) == []
        work(store)
        left = objects_of(store)
        assert PICTURE_KEY not in left
        assert journal_key("run-1", 8) in left
        assert journal_key("run-1", 9) not in left
