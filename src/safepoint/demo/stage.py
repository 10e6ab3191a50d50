"""The demo's machinery: real processes, a real kill, a human who approves, and the proof of death.

Decided here: how each run is made to crash. Not decided here: what is told of it (``story``).
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from safepoint import rules
from safepoint.core.digest import digest_value
from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT
from safepoint.demo import agent, naive
from safepoint.demo.mailbox import Mailbox
from safepoint.demo.post import POLICY, RUN_ID, STEPS, notification
from safepoint.guard import Decision, evaluate
from safepoint.model.run import Run
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.documents import load_document
from safepoint.recorder import grant_approval
from safepoint.store import AbsentError, Store, open_store

PATIENCE = 30
"""Seconds after which something that should take milliseconds has failed."""

HUMAN = "editor@example.org"
POLICY_FILE = "policy.toml"


class StageError(Exception):
    """Something that the demo relies on did not happen."""


@dataclass(frozen=True, slots=True)
class Crash:
    """What a killed agent left behind."""

    store: Path
    facts: Path
    website: Path
    policy: Path


def spawn(module: str, *arguments: object) -> subprocess.Popen[bytes]:
    """An agent in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603 - our own agent


def ended(child: subprocess.Popen[bytes]) -> int:
    """The child's exit status, once it has one; negative for the signal that killed it."""
    try:
        _, said = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise StageError(f"an agent did not end within {PATIENCE} s") from None
    if child.returncode not in {0, -signal.SIGKILL}:
        raise StageError(f"an agent failed: {said.decode(errors='replace').strip()[-2000:]}")
    return child.returncode


def crash_naive(folder: Path, website: Path, mailbox: Mailbox) -> None:
    """The naive agent, killed after the send."""
    folder.mkdir(parents=True)
    child = spawn(naive.__name__, folder, website, mailbox.port, "--die-after-send")
    require_killed(ended(child))


def restart_naive(folder: Path, website: Path, mailbox: Mailbox) -> None:
    """The naive agent once more."""
    ended(spawn(naive.__name__, folder, website, mailbox.port))


def crash(folder: Path, name: str, provider: str, mailbox: Mailbox, *, during_send: bool) -> Crash:
    """The recorded agent, approved by a human and killed: after the send, or while the server still owes its answer."""
    made = Crash(
        folder / name, folder / f"{name}-facts.json", folder / f"{name}-website.json", folder / POLICY_FILE
    )
    children: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    if during_send:

        def kill() -> None:
            child = children.get()
            child.kill()
            child.wait()

        mailbox.before_answer = kill
    options = [] if during_send else ["--die-after-send"]
    child = spawn(agent.__name__, made.store, provider, made.website, mailbox.port, made.policy, *options)
    children.put(child)
    approve(open_store(str(made.store)), child)
    status = ended(child)
    require_killed(status)
    prove_death(made, child.pid)
    return made


def approve(store: Store, child: subprocess.Popen[bytes]) -> None:
    """Be the human: read what is asked, and say yes to exactly that."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and child.poll() is None:
        try:
            run = load_run(store, RUN_ID).run
        except AbsentError:
            run = None
        if run and agent.APPROVAL in run.approvals:
            digest = digest_value(notification())
            grant_approval(store, RUN_ID, agent.APPROVAL, actor=HUMAN, content_digest=digest)
            return
        time.sleep(0.02)
    child.kill()
    raise StageError(f"the agent never asked for approval: {child.communicate()[1].decode(errors='replace')}")


def require_killed(status: int) -> None:
    """The crash must be the one that the demo is about."""
    if status != -signal.SIGKILL:
        raise StageError(f"the agent should have been killed, but ended with status {status}")


def prove_death(crashed: Crash, process: int) -> None:
    """The parent waited for the process, so it knows; that is what facts are for."""
    now = format_time(time.time_ns())
    facts = {
        "recordType": "facts",
        "schemaVersion": str(CURRENT),
        "runId": RUN_ID,
        "observedAt": now,
        "knownSteps": list(STEPS),
        "owners": [
            {
                "leaseEpoch": 1,
                "state": "dead",
                "proof": f"waitpid: process {process} was ended by signal 9",
                "observedAt": now,
            }
        ],
    }
    crashed.facts.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def resume(store: Path, crashed: Crash, provider: str, mailbox: Mailbox) -> Run:
    """A new process goes on with the run in `store`; the run as it is then."""
    given = (store, provider, crashed.website, mailbox.port, crashed.policy)
    ended(spawn(agent.__name__, *given, "--resume", crashed.facts))
    run = load_run(open_store(str(store)), RUN_ID).run
    assert run is not None
    return run


def write_policy(folder: Path) -> None:
    """The project's policy, by which both the agent and the guard go."""
    (folder / POLICY_FILE).write_text(POLICY, encoding="utf-8")


def judge(store: Path, facts: Path | None) -> Decision:
    """What ``safepoint guard`` says of the run in `store` now, by the policy beside it."""
    opened = open_store(str(store))
    run = load_run(opened, RUN_ID).run
    assert run is not None
    known: dict[str, Any] | None = json.loads(facts.read_bytes()) if facts else None
    policy = parse_policy(load_document("policy", store.with_name(POLICY_FILE)), workflow="publish")
    return evaluate(run, known, policy, None, time.time_ns(), artifacts=gather_artifacts(opened, run))


def validate(store: Path) -> tuple[int, int]:
    """What ``safepoint validate`` counts in `store`: records and findings."""
    scan = load_run(open_store(str(store)), RUN_ID)
    return scan.records, len(scan.faults) + (len(list(rules.check(scan.run))) if scan.run else 0)
