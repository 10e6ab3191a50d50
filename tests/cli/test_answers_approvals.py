"""A human's yes and no, by commands: each changes what the guard says next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from halted import ANN, RUN, Run, asked, checkpoint, done, journal, planned, sound, store_of, verdict
from journals import digest

from safepoint.reader import load_run
from safepoint.recorder import resume_run
from safepoint.store import open_store


def test_a_yes_lets_the_run_go_on(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), asked())
    assert "SP780" in run("guard", store, "--run", RUN).stdout
    said = done(run, store, "approve", "--approval", "ap_1", "--reason", "checked", "--expires", "2h")
    assert "approval ap_1 of action notify_1, granted by ann until " in said.stdout
    assert verdict(run, store)[0] == "resume"
    sound(run, store)


def test_where_only_an_answer_is_waited_for_to_answer_comes_first(run: Run, waiting: Path) -> None:
    shown = run("guard", waiting, "--run", "run_123", "--now", "2026-05-07T10:05:00Z").stdout
    assert shown.startswith("wait: ")
    first, _, second = shown.partition("what to do next\n")[2].partition("  2. ")
    assert "safepoint approve" in first
    assert "safepoint reject" in first
    assert second.startswith("Else ask again in ")
    assert "  3. " not in second


def test_the_one_question_that_waits_need_not_be_named_and_several_are_listed(
    run: Run, tmp_path: Path
) -> None:
    store = store_of(
        tmp_path, checkpoint("cp_1"), asked(), asked(approvalId="ap 2", actionId="other", actor="boss")
    )
    several = run("approve", store, *ANN)
    assert several.exit_code == 2
    assert "2 questions wait; say which one:" in several.stderr
    assert f"  safepoint approve {store} --run {RUN} --by ann --approval 'ap 2'\n" in several.stderr
    assert "action other, which boss is asked about:" in several.stderr
    done(run, store, "reject", "--approval", "ap 2")
    done(run, store, "approve")
    none = run("approve", store, *ANN)
    assert none.exit_code == 2
    assert "no question waits" in none.stderr
    assert run("approve", store, *ANN, "--action", "a", "--checkpoint", "b").exit_code == 2


def test_a_no_hands_the_run_over_until_somebody_approves_anew(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), planned(), asked())
    done(run, store, "reject", "--action", "notify_1", "--reason", "too much")
    assert verdict(run, store)[1] == ["SP781"]
    shown = run("guard", store, "--run", RUN).stdout
    assert f"safepoint approve {store} --run {RUN} --action notify_1 --by 'FILL IN: you'" in shown
    assert "--as cancelled" in shown
    again = done(run, store, "approve", "--action", "notify_1")
    assert [line.partition(": ")[2].partition(" until")[0] for line in again.stdout.splitlines()[:2]] == [
        "approval notify_1-approval-2 of action notify_1, requested",
        "approval notify_1-approval-2 of action notify_1, granted by ann",
    ]
    requested = journal(store)[-2]
    assert requested["contentDigest"] == digest("f")
    assert requested["expiresAt"] > requested["createdAt"]
    assert verdict(run, store)[0] == "resume"
    sound(run, store)
    nothing = run("approve", store, *ANN, "--action", "notify_1")
    assert nothing.exit_code == 1
    assert "is granted by ann: there is nothing to approve" in nothing.stderr


def test_a_yes_that_is_not_spent_is_taken_back(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), asked(), asked("granted"))
    done(run, store, "reject", "--action", "notify_1")
    assert journal(store)[-1]["event"] == "revoked"
    assert verdict(run, store)[1] == ["SP781"]
    gone = run("reject", store, *ANN, "--approval", "ap_1")
    assert gone.exit_code == 1
    assert "is revoked by ann: there is nothing left to refuse" in gone.stderr
    assert run("reject", store, *ANN, "--checkpoint", "cp_1").exit_code == 1


def test_a_gate_that_nobody_was_asked_about_is_passed(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1", reason="humanGate"))
    assert verdict(run, store, "--now", "2026-05-07T10:03:00Z") == ("wait", ["SP784"])
    done(run, store, "approve", "--checkpoint", "cp_1")
    assert verdict(run, store)[0] == "resume"
    run_of = load_run(open_store(str(store)), RUN).run
    assert run_of is not None
    assert run_of.approvals["cp_1-approval-1"].content_digest == run_of.checkpoints[0].digest
    sound(run, store)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([planned(), asked(expiresAt="2026-05-07T11:00:00Z")], "SP782"),
        ([planned(), asked(contentDigest=digest("0")), asked("granted", contentDigest=digest("0"))], "SP783"),
        ([planned(), asked(actor="ann"), asked("granted", actor="eve")], "SP795"),
        (
            [
                asked(actionId=None, checkpointId="cp_1"),
                asked("granted", actionId=None, checkpointId="cp_1"),
                asked("consumed", actionId=None, checkpointId="cp_1"),
            ],
            "SP794",
        ),
    ],
    ids=["expired", "another content", "granted by another", "used up"],
)
def test_a_question_that_gives_no_leave_is_asked_anew(
    records: list[dict[str, Any]], code: str, run: Run, tmp_path: Path
) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), *records)
    assert code in verdict(run, store)[1]
    named = ("--checkpoint", "cp_1") if code == "SP794" else ("--action", "notify_1")
    shown = run("guard", store, "--run", RUN).stdout
    assert f"safepoint approve {store} --run {RUN} {named[0]} {named[1]} --by 'FILL IN: you'" in shown
    refused = run("approve", store, *ANN, "--approval", "ap_1")
    assert refused.exit_code == 1
    done(run, store, "approve", *named)
    assert verdict(run, store)[0] == "resume"


def test_only_who_was_asked_by_name_may_say_yes(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), planned(), asked(actor="boss"))
    for named in (("--approval", "ap_1"), ("--action", "notify_1")):
        refused = run("approve", store, *ANN, *named)
        assert refused.exit_code == 1
        assert "approval ap_1 asks boss, and ann says yes: let boss answer" in refused.stderr
    run("reject", store, *ANN, "--approval", "ap_1")
    anew = run("approve", store, *ANN, "--action", "notify_1")
    assert anew.exit_code == 1
    assert "asks boss" in anew.stderr
    assert len(journal(store)) == 6
    assert run("approve", store, "--run", RUN, "--by", "boss", "--action", "notify_1").exit_code == 0
    assert verdict(run, store)[0] == "resume"


def test_a_yes_is_never_given_to_another_content_nor_to_what_is_done(
    run: Run, tmp_path: Path, committed: Path, completed: Path
) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), planned(), asked())
    other = run("approve", store, *ANN, "--approval", "ap_1", "--content-digest", digest("0"))
    assert other.exit_code == 1
    assert "which you say you saw" in other.stderr
    assert run("approve", store, *ANN, "--approval", "ap_1", "--content-digest", digest("f")).exit_code == 0
    for place, why in ((committed, "nothing left to approve"), (completed, "nothing in it waits")):
        refused = run("approve", place, *ANN, "--action", "notify_1")
        assert refused.exit_code == 1
        assert why in refused.stderr
    assert "nobody was asked" in run("approve", store, *ANN, "--action", "x").stderr
    assert "no checkpoint" in run("approve", store, *ANN, "--checkpoint", "x").stderr
    assert run("approve", store, *ANN, "--approval", "x", "--expires", "soon").exit_code == 2


def test_the_worker_spends_the_yes_that_was_asked_anew(run: Run, tmp_path: Path) -> None:
    from safepoint.core.digest import digest_value

    bound = {"contentDigest": digest_value({"to": "x"})}
    store = store_of(tmp_path, checkpoint("cp_1"), asked(**bound), asked("rejected", **bound))
    done(run, store, "approve", "--action", "notify_1")
    with resume_run(str(store), RUN, holder="w2") as going:
        with going.effect("notify_1", step_name="notify", request={"to": "x"}, approval="ap_1") as effect:
            effect.call(lambda: "sent")
        going.complete()
    spent = [r["approvalId"] for r in journal(store) if r.get("event") == "consumed"]
    assert spent == ["notify_1-approval-2"]
    sound(run, store)


def test_a_dry_run_of_a_yes_prints_both_records(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1", reason="humanGate"))
    result = run("approve", store, *ANN, "--checkpoint", "cp_1", "--dry-run")
    assert [json.loads(line)["event"] for line in result.stdout.splitlines()] == ["requested", "granted"]
    assert len(journal(store)) == 3
