"""The demo, really played once: what it tells, what it leaves behind, and when it refuses."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest

import safepoint
from safepoint import demo, rules
from safepoint.core.timestamp import SECOND
from safepoint.demo import stage
from safepoint.demo.agent import APPROVAL, Agent
from safepoint.demo.mailbox import Mailbox
from safepoint.demo.post import MESSAGE_ID, RUN_ID, notification, send
from safepoint.demo.story import Story
from safepoint.guard import Decision, evaluate
from safepoint.policy import parse_policy
from safepoint.reader import load_run
from safepoint.recorder import NotApproved, reject_approval, start_run
from safepoint.store import open_store

CRASHED = {"recorded": "resume", "unkeyed": "hand_over", "probe": "reconcile", "keyed": "resume"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo") / "stores"
    out = io.StringIO()
    began = time.monotonic()
    assert demo.run(folder, out) == 0, out.getvalue()
    assert time.monotonic() - began < 60
    return folder, out.getvalue()


def judged(folder: Path, name: str, now: int, facts: dict[str, Any] | None) -> Decision:
    run = load_run(open_store(str(folder / name)), RUN_ID).run
    assert run is not None
    return evaluate(run, facts, parse_policy(None), None, now)


def facts_of(folder: Path, name: str) -> dict[str, Any]:
    known: dict[str, Any] = json.loads((folder / f"{name}-facts.json").read_bytes())
    return known


def test_the_story_counts_two_mails_and_then_one(played: tuple[Path, str]) -> None:
    counts = [line.split()[1] for line in played[1].splitlines() if line.strip().startswith("mailbox")]
    assert counts == ["2", "1", "1", "1", "1"]


@pytest.mark.parametrize(("name", "verdict"), CRASHED.items())
def test_the_crashed_stores_keep_their_verdict(played: tuple[Path, str], name: str, verdict: str) -> None:
    folder, _ = played
    now = time.time_ns()
    facts = facts_of(folder, name)
    first, second = judged(folder, name, now, facts), judged(folder, name, now, facts)
    assert first.verdict == verdict
    assert json.dumps(first.document()) == json.dumps(second.document())
    # Once the lease has lapsed nobody need prove the death of its owner.
    assert judged(folder, name, now + 20 * SECOND, None).verdict == verdict


def test_what_is_done_is_skipped_and_what_is_keyed_is_replayed(played: tuple[Path, str]) -> None:
    now = time.time_ns()
    done = judged(played[0], "recorded", now, facts_of(played[0], "recorded"))
    doubt = judged(played[0], "keyed", now, facts_of(played[0], "keyed"))
    assert ("send_notification", "skip") in [(item.action_id, item.do) for item in done.plan]
    replay = next(item for item in doubt.plan if item.action_id == "send_notification")
    assert (replay.do, replay.key) == ("replay", "publish-42_notify_v1")


@pytest.mark.parametrize("name", [*CRASHED, "recorded-resumed", "keyed-resumed"])
def test_nothing_is_wrong_with_what_it_leaves_behind(played: tuple[Path, str], name: str) -> None:
    scan = load_run(open_store(str(played[0] / name)), RUN_ID)
    assert scan.run is not None
    assert not [*scan.faults, *rules.check(scan.run)]
    assert scan.run.status == ("completed" if name.endswith("-resumed") else "started")


def checklist(folder: Path, name: str) -> dict[int, str]:
    audit = safepoint.audit(folder / name, policy=folder / "policy.toml")
    assert [one.run_id for one in audit] == [RUN_ID]
    return {verdict.point.number: verdict.result for verdict in audit.verdicts}


@pytest.mark.parametrize("name", [*CRASHED, "recorded-resumed", "keyed-resumed"])
def test_the_recorded_agent_passes_all_ten_points_of_the_checklist(
    played: tuple[Path, str], name: str
) -> None:
    assert checklist(played[0], name) == dict.fromkeys(range(1, 11), "passed")


@pytest.mark.parametrize("name", ["naive", "naive-restarted"])
def test_the_naive_agent_fails_where_nothing_was_written_down(played: tuple[Path, str], name: str) -> None:
    found = checklist(played[0], name)
    assert {number for number, result in found.items() if result == "failed"} == {3, 4, 6, 9}
    assert {number for number, result in found.items() if result == "passed"} == {8}, (
        "the policy speaks for it"
    )


def test_its_end_names_the_checklist_with_the_policy(played: tuple[Path, str]) -> None:
    folder, told = played
    assert f"safepoint audit {folder}/recorded-resumed --policy {folder}/policy.toml\n" in told


def test_the_naive_files_are_clean_and_still_no_reason_to_go_on(played: tuple[Path, str]) -> None:
    scan = load_run(open_store(str(played[0] / "naive")), RUN_ID)
    assert not scan.faults
    assert judged(played[0], "naive", time.time_ns(), None).verdict == "reconcile"


def test_a_resumed_run_tells_how_it_was_recovered(played: tuple[Path, str]) -> None:
    run = load_run(open_store(str(played[0] / "keyed-resumed")), RUN_ID).run
    assert run is not None
    assert [episode.state for episode in run.episodes.values()] == ["recovered"]
    assert [attempt.status for attempt in run.actions["send_notification"].attempts] == [
        "attempting",
        "committed",
    ]


def test_its_commands_work_in_a_folder_with_a_space(tmp_path: Path) -> None:
    out = io.StringIO()
    Story(tmp_path / "my demo", out, colour=False).look_yourself()
    assert f"safepoint validate '{tmp_path}/my demo/recorded'" in out.getvalue()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    out = io.StringIO()
    assert demo.run(tmp_path, out) == 2
    assert "not an empty folder" in out.getvalue()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_without_its_mail_server_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    out = io.StringIO()
    assert demo.run(tmp_path / "new", out) == 2
    assert "pip install 'safepoint[demo]'" in out.getvalue()
    assert not (tmp_path / "new").exists()


def test_a_demo_that_does_not_come_out_as_told_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Story, "as_people_do_it", lambda self: self.mails(Mailbox(), 2))
    for part in ("recorded", "during_the_send"):
        monkeypatch.setattr(Story, part, lambda self: None)
    out = io.StringIO()
    assert demo.run(tmp_path, out) == 1
    assert "the mailbox holds 0 mails, expected 2" in out.getvalue()


def test_an_agent_that_fails_in_another_way_is_reported(tmp_path: Path) -> None:
    child = stage.spawn(
        "safepoint.demo.agent", tmp_path, "unkeyed", tmp_path / "w", 1, "policy", "--resume", "/nothing"
    )
    with pytest.raises(stage.StageError, match="nothing"):
        stage.ended(child)


@pytest.mark.parametrize(("keyed", "count"), [(False, 2), (True, 1)])
def test_the_provider_drops_what_it_has_seen_only_where_it_honours_keys(*, keyed: bool, count: int) -> None:
    with Mailbox(keyed=keyed) as mailbox:
        assert send(notification(), mailbox.port) == MESSAGE_ID
        send(notification(), mailbox.port)
    assert mailbox.delivered == [MESSAGE_ID] * count


def test_the_agent_does_not_send_what_a_human_rejected(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    run = start_run(store, RUN_ID, workflow="publish", holder="agent-1")
    agent = Agent(run, "unkeyed", tmp_path / "website.json", 1, die_after_send=False)
    agent.draft()
    run.request_approval(APPROVAL, request=notification(), action_id="send_notification")
    reject_approval(store, RUN_ID, APPROVAL, actor="boss")
    with pytest.raises(NotApproved, match="rejected"):
        agent.approve()
    assert run.last_checkpoint is not None
    assert run.last_checkpoint["checkpointId"] == "cp_01"
