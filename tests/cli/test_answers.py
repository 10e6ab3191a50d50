"""A human says what became of an effect, or ends a run: each answer changes what the guard says next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from halted import (
    ANN,
    RUN,
    Run,
    asked,
    attempting,
    checkpoint,
    claimed,
    done,
    journal,
    ledger,
    now,
    planned,
    sound,
    started,
    store_of,
    verdict,
    write_run,
)


@pytest.fixture
def dead(tmp_path: Path) -> str:
    """Facts that prove the death of epoch 1's worker."""
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": now()}
    facts = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": RUN,
        "observedAt": now(),
        "owners": [owner],
    }
    file = tmp_path / "dead.json"
    file.write_text(json.dumps(facts))
    return str(file)


# resolve


def test_what_happened_is_skipped_from_then_on(run: Run, crashed: Path) -> None:
    assert verdict(run, crashed)[0] == "hand_over"
    said = done(
        run, crashed, "resolve", "--action", "notify_1", "--as", "committed", "--evidence", "ticket 7"
    )
    assert said.stdout.startswith("recorded  record 5, no epoch needed: notify_1 was applied, as ann says\n")
    assert verdict(run, crashed)[0] == "resume"
    sound(run, crashed)


def test_what_never_happened_is_tried_again(run: Run, crashed: Path, dead: str) -> None:
    done(run, crashed, "resolve", "--action", "notify_1", "--as", "failed", "--facts", dead)
    assert [record["recordType"] for record in journal(crashed)[4:]] == ["lease", "ledger", "lease"]
    assert verdict(run, crashed) == ("resume", ["SP768"])
    sound(run, crashed)


def test_what_nobody_will_know_needs_a_policy_that_lets_it_pass(
    run: Run, crashed: Path, tmp_path: Path
) -> None:
    done(run, crashed, "resolve", "--action", "notify_1", "--as", "abandoned", "--reason", "the log is gone")
    assert verdict(run, crashed) == ("hand_over", ["SP771"])
    policy = tmp_path / "policy.json"
    policy.write_text('{"recordType": "policy", "schemaVersion": "v3", "abandonedMaySkip": true}')
    assert verdict(run, crashed, "--policy", str(policy))[0] == "resume"
    sound(run, crashed)


def test_what_failed_for_good_is_given_up(run: Run, tmp_path: Path) -> None:
    error = {"class": "Refused", "message": None, "retryable": False, "sent": "no"}
    store = store_of(tmp_path, checkpoint("cp_1"), attempting(4), ledger("failed", error=error))
    assert verdict(run, store)[1][-1] == "SP769"
    shown = run("guard", store, "--run", RUN).stdout
    assert (
        f"safepoint resolve {store} --run {RUN} --action notify_1 --as cancelled --by 'FILL IN: you'" in shown
    )
    done(run, store, "resolve", "--action", "notify_1", "--as", "cancelled", "--reason", "by post instead")
    assert verdict(run, store)[0] == "resume"
    sound(run, store)


def test_a_dry_run_prints_what_would_be_stored_and_stores_nothing(run: Run, crashed: Path, dead: str) -> None:
    options = ("--action", "notify_1", "--as", "failed", "--facts", dead, "--dry-run")
    result = run("resolve", crashed, *ANN, *options)
    assert result.exit_code == 0
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["sequence"] for record in records] == [5, 6, 7]
    assert [record.get("event") or record["status"] for record in records] == [
        "claimed",
        "failed",
        "released",
    ]
    assert result.stderr == "nothing was written; 3 records would be, as printed but for nonce and times\n"
    assert len(journal(crashed)) == 4
    document = json.loads(run("resolve", crashed, *ANN, *options, "--format", "json").stdout)
    assert (document["dryRun"], len(document["records"])) == (True, 3)
    assert run("resolve", crashed, *ANN, *options[:-1]).exit_code == 0
    names = [[name for name in record if name not in {"nonce", "createdAt"}] for record in records]
    assert [
        [name for name in record if name not in {"nonce", "createdAt"}] for record in journal(crashed)[4:]
    ] == names


def test_a_no_without_proof_is_refused_with_the_facts_that_it_takes(run: Run, crashed: Path) -> None:
    result = run("resolve", crashed, *ANN, "--action", "notify_1", "--as", "failed")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"refused, nothing was recorded: run {RUN}: ")
    assert "SP775 the worker of attempt 1, epoch 1, may still be at it" in result.stderr
    begin, end = result.stderr.index("  {\n"), result.stderr.index("and answer again:")
    facts = json.loads(result.stderr[begin:end])
    assert facts["owners"][0]["leaseEpoch"] == 1
    assert result.stderr.endswith(
        f"  safepoint resolve {crashed} --run {RUN} --action notify_1 --as failed --by ann --facts facts.json\n"
    )
    assert len(journal(crashed)) == 4


def test_while_a_worker_may_live_the_time_is_named_from_which_on_it_is_taken(run: Run, late: Path) -> None:
    write_run(
        late.parent / "live", [started(), claimed() | {"ttlSeconds": 10**9}, checkpoint("cp_1"), planned()]
    )
    store = late.parent / "live"
    result = run("resolve", store, *ANN, "--action", "notify_1", "--as", "cancelled")
    assert result.exit_code == 1
    assert "SP721" in result.stderr
    assert "Nobody need wait for it in " in result.stderr
    assert (
        result.stderr.count(f"  safepoint resolve {store} --run {RUN} --action notify_1 --as cancelled") == 2
    )


@pytest.mark.parametrize("gap", [("--by", "FILL IN: you"), ("--evidence", "FILL IN: where to look it up")])
def test_a_gap_that_was_only_copied_is_wrong_usage(gap: tuple[str, str], run: Run, crashed: Path) -> None:
    options = ("--run", RUN, "--action", "notify_1", "--as", "committed", "--by", "ann")
    result = run("resolve", crashed, *options, *gap)
    assert result.exit_code == 2
    assert f"{gap[0]} is still to be filled in" in result.stderr
    assert run("resolve", crashed, *ANN, "--action", "notify_1", "--as", "FILL IN: x").exit_code == 2


def test_what_cannot_be_resolved_names_what_is_there(run: Run, crashed: Path, committed: Path) -> None:
    unknown = run("resolve", crashed, *ANN, "--action", "x", "--as", "committed")
    assert unknown.exit_code == 1
    assert "its effects are: notify_1" in unknown.stderr
    assert f"What the guard says to do:\n  safepoint guard {crashed} --run {RUN}\n" in unknown.stderr
    settled = run("resolve", committed, *ANN, "--action", "notify_1", "--as", "failed")
    assert settled.exit_code == 1
    assert "there is no doubt to resolve" in settled.stderr
    assert (
        run("resolve", crashed, "--run", "nobody", *ANN[2:], "--action", "x", "--as", "failed").exit_code == 3
    )


def test_facts_of_another_run_cannot_be_used(run: Run, crashed: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(
        json.dumps({"recordType": "facts", "schemaVersion": "v3", "runId": "x", "observedAt": now()})
    )
    result = run("resolve", crashed, *ANN, "--action", "notify_1", "--as", "failed", "--facts", str(file))
    assert result.exit_code == 3


# cancel


def test_a_run_without_a_worker_is_ended(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"))
    result = done(run, store, "cancel", "--reason", "customer left")
    assert [line.partition(": ")[2] for line in result.stdout.splitlines()[:3]] == [
        "the run is asked to stop, by ann",
        "claimed, so that no earlier worker can contradict",
        "the run is cancelled, by ann",
    ]
    end = journal(store)[-1]
    assert (end["status"], end["by"], end["reason"]) == ("cancelled", "ann", "customer left")
    assert verdict(run, store) == ("give_up", ["SP711"])
    sound(run, store)
    again = done(run, store, "cancel")
    assert again.stdout.startswith("nothing to do: the run is cancelled already\n")


def test_open_effects_are_named_and_the_second_call_ends_the_run(run: Run, crashed: Path, dead: str) -> None:
    first = run("cancel", crashed, *ANN)
    assert first.exit_code == 1
    assert "not ended: say first what became of notify_1:\n" in first.stdout
    assert f"  safepoint resolve {crashed} --run {RUN} --action notify_1 --as 'FILL IN: " in first.stdout
    assert f"  safepoint cancel {crashed} --run {RUN} --by ann\n" in first.stdout
    assert verdict(run, crashed)[0] == "hand_over"
    assert (
        run("resolve", crashed, *ANN, "--action", "notify_1", "--as", "failed", "--facts", dead).exit_code
        == 0
    )
    assert run("guard", crashed, "--run", RUN).exit_code == 14
    second = done(run, crashed, "cancel")
    assert "asked to stop" not in second.stdout
    assert [r["status"] for r in journal(crashed) if r["recordType"] == "run"] == [
        "started",
        "cancelRequested",
        "cancelled",
    ]
    sound(run, crashed)


def test_a_run_whose_worker_may_live_is_only_asked(run: Run, tmp_path: Path) -> None:
    lease = claimed() | {"ttlSeconds": 10**9}
    store = write_run(tmp_path / "store", [started(), lease, checkpoint("cp_1"), asked()])
    result = done(run, store, "cancel")
    assert "its worker may live until " in result.stdout
    assert f"safepoint reject {store} --run {RUN} --approval ap_1" in result.stdout
    assert [record["recordType"] for record in journal(store)[4:]] == ["run"]
    document = json.loads(run("cancel", store, *ANN, "--format", "json").stdout)
    assert (document["ended"], document["records"], document["stillAsked"]) == (False, [], ["ap_1"])


def test_a_failed_run_is_ended_so_that_prune_reaches_it(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"), {"recordType": "run", "status": "failed"})
    done(run, store, "cancel")
    assert verdict(run, store) == ("give_up", ["SP711"])
    sound(run, store)
    pruned = run(
        "prune", store, "--run", RUN, "--closed-before", "2027-01-01T00:00:00Z", "--by", "a", "--dry-run"
    )
    assert "the lease of epoch 2 is live" in pruned.stdout  # a minute later it is not


def test_a_dry_run_of_an_end_writes_nothing(run: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, checkpoint("cp_1"))
    result = run("cancel", store, *ANN, "--dry-run")
    assert [json.loads(line)["sequence"] for line in result.stdout.splitlines()] == [4, 5, 6]
    assert len(journal(store)) == 3


def test_what_is_over_cannot_be_cancelled_and_damage_stops_every_answer(
    run: Run, completed: Path, crashed: Path
) -> None:
    over = run("cancel", completed, *ANN)
    assert over.exit_code == 1
    assert "there is nothing left to stop" in over.stderr
    (crashed / "runs" / RUN / "journal/0000000003.json").write_bytes(b"{")
    damaged = run("cancel", crashed, *ANN)
    assert damaged.exit_code == 1
    assert f"What is wrong, and where:\n  safepoint validate {crashed} --run {RUN}\n" in damaged.stderr
    assert run("resolve", crashed, *ANN, "--action", "notify_1", "--as", "committed").exit_code == 1


@pytest.mark.parametrize("name", ["resolve", "approve", "reject", "cancel"])
def test_every_answer_needs_a_run_and_a_name(name: str, run: Run, crashed: Path) -> None:
    extra = ("--action", "notify_1", "--as", "committed") if name == "resolve" else ()
    assert "--by" in run(name, crashed, "--run", RUN, *extra).stderr
    without = run(name, crashed, "--by", "ann", *extra)
    assert without.exit_code == 2
    assert f"  safepoint {name} {crashed} --run {RUN} " in without.stderr


def test_a_dry_run_of_an_end_says_what_has_to_be_settled_first(run: Run, crashed: Path, dead: str) -> None:
    result = run("cancel", crashed, *ANN, "--facts", dead, "--dry-run")
    assert result.exit_code == 1
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == ["cancelRequested"]
    assert "it would not be ended: say first what became of notify_1:\n  safepoint resolve" in result.stderr
    last = result.stderr.partition("and then end it:\n")[2].splitlines()[0]
    assert last.startswith("  safepoint cancel")
    assert "--dry-run" not in last
