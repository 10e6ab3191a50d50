"""One run in a world where anything may go wrong: each store operation and each send is a moment, and has its faults.

A world is a store in memory, a provider that counts what it truly applied, a clock that nobody waits for, and processes
that work on one run until it ends or reaches a human. What breaks a property of SPEC.md's crash model is collected in
`World.broken`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from safepoint.core.timestamp import SECOND, format_time
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    CancelRequested,
    Declares,
    Fenced,
    IllegalRecord,
    Receipt,
    RecordedRun,
    RecorderError,
    ResumeRefused,
    RunEnded,
    TooLate,
    request_cancel,
    resume_run,
    start_run,
)
from safepoint.store import AbsentError, Entry, Outcome, Store, StoreError, UnreachableError
from safepoint.store.capabilities import MEMORY

RUN = "run-1"
START = 1_800_000_000 * SECOND
ROUNDS = 10
LONG = 4000
"""Seconds: beyond every lease, deadline and cooldown here."""
NAP = 300
"""Seconds: beyond the shortest window, and within every lease and deadline."""
LEASE = DEADLINE = 600

TOOLS: Mapping[str, Declares] = {
    "unkeyed": Declares(effect="payment"),
    "probe": Declares(effect="payment", probe="byQuery"),
    "keyed": Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400),
    "brief": Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=200),
}
NOTE = Declares(effect="write", idempotency="natural")

OFTEN = ("crash before", "error", "overtaken", "nap", "cancel")
FAULTS: Mapping[str, tuple[str, ...]] = {
    "read": OFTEN,
    "write": (*OFTEN, "crash after", "answer lost", "never arrived", "called a conflict", "silence"),
    "send": (*OFTEN, "crash after", "answer lost", "never arrived"),
}
"""What may go wrong at each kind of moment."""


class CrashError(BaseException):
    """The process ends here; like a kill, nothing that catches exceptions may see it."""


class Clock:
    """Nanoseconds; a millisecond passes with every look."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now

    def sleep(self, seconds: int) -> None:
        self.now += seconds * SECOND


class World:
    """All that there is: `play` lets processes work until the run ends or reaches a human."""

    def __init__(self, tool: str, faults: Iterable[tuple[int, str]] = (), *, retries: bool) -> None:
        self.tool = tool
        self.faults = dict(faults)
        self.retries = retries
        self.clock = Clock()
        self.objects: dict[str, bytes] = {}
        self.store = FaultyStore(self, faulty=False)
        self.applied: list[int] = []
        """When the provider truly applied the payment."""
        self.notes = 0
        self.moments: list[str] = []
        self.broken: list[str] = []

    def moment(self, kind: str) -> str | None:
        """One more moment; the fault that it has."""
        self.moments.append(kind)
        fault = self.faults.pop(len(self.moments), None)
        if fault == "nap":
            self.clock.sleep(NAP)
        elif fault == "overtaken":
            # The process is held up for longer than its lease, and another one takes over meanwhile.
            self.clock.sleep(LONG)
            self.process(proven=False)
        elif fault == "cancel" and self.run():
            with suppress(RunEnded):
                request_cancel(self.store, RUN, by="somebody", clock=self.clock)
        elif fault == "crash before":
            raise CrashError
        return fault

    def run(self) -> Run | None:
        """The run as anybody would read it now."""
        try:
            return load_run(self.store, RUN).run
        except AbsentError:
            return None

    def play(self) -> str:
        """Let one process after the other work; how it ended."""
        for _ in range(ROUNDS):
            end = self.process(proven=True)
            self.check(end)
            if end in {"done", "human", "gave up"}:
                return end
            self.clock.sleep(LONG)
        self.broken.append("9: neither ended nor reached a human")
        return "nothing"

    def process(self, *, proven: bool) -> str:
        """One process; `proven`: whether whoever started it saw all earlier ones die."""
        store = FaultyStore(self, faulty=True)
        run = None
        try:
            if any(key.startswith("runs/") for key in self.objects):
                known = self.facts(proven=proven)
                run = resume_run(store, RUN, holder="w2", ttl_seconds=LEASE, facts=known, clock=self.clock)
            else:
                run = start_run(
                    store, RUN, workflow="billing", holder="w1", ttl_seconds=LEASE, clock=self.clock
                )
            with run:
                self.work(run)
        except CrashError:
            return "crash"
        except ResumeRefused as refused:
            verdict = refused.decision.verdict
            return {"no_op": "done", "hand_over": "human", "give_up": "gave up"}.get(verdict, verdict)
        except (RecorderError, StoreError, OSError) as error:
            return type(error).__name__
        return "done"

    def facts(self, *, proven: bool) -> dict[str, Any]:
        """What somebody knows of the world: who is dead, and what the probe finds."""
        now, run = format_time(self.clock()), self.run()
        facts = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now}
        if run is None:
            return facts
        if proven:
            leases = run.ownership.leases if run.ownership else ()
            owners: list[dict[str, Any]] = [{"leaseEpoch": lease.epoch} for lease in leases]
            end = format_time(max(record.created or 0 for record in run.records))
            seen = {"state": "dead", "proof": "waitpid", "observedAt": end}
            facts["owners"] = [owner | seen for owner in owners or [{"holder": "w1"}]]
        if self.tool == "probe" and "pay" in run.actions:
            found = {"result": "applied", "externalRef": "p-1"} if self.applied else {"result": "notApplied"}
            facts["probes"] = {"pay": {**found, "consistency": "strong", "observedAt": now}}
        return facts

    def work(self, run: RecordedRun) -> None:
        """The scripted agent: a checkpoint, a payment, a checkpoint, a note."""
        try:
            if run.last_checkpoint is None:
                steps = ["pay", "note"]
                self.step(
                    lambda: run.checkpoint(
                        "cp_01", state="s", step_name="a", next_steps=steps, reason="beforeEffect"
                    )
                )
            if "pay" in run.next_steps:
                self.step(lambda: self.pay(run))
                self.step(
                    lambda: run.checkpoint(
                        "cp_02", state="s", step_name="pay", next_steps=["note"], reason="afterEffect"
                    )
                )
            self.step(lambda: self.note(run))
            self.step(run.complete)
        except CancelRequested:
            run.cancelled()

    def step(self, act: Callable[[], None]) -> None:
        """Take a step, and try again as a patient program does."""
        for left in (2, 1, 0) if self.retries else (0,):
            try:
                return act()
            except (Fenced, RunEnded, CancelRequested, TooLate):
                raise
            except (RecorderError, StoreError, OSError) as error:
                if isinstance(error, IllegalRecord) and any(fault.code == "SP311" for fault in error.faults):
                    return None  # the checkpoint is there, its answer was lost
                if not left:
                    raise
        return None

    def pay(self, run: RecordedRun) -> None:
        tool = TOOLS[self.tool]
        with run.effect(
            "pay",
            step_name="pay",
            request={"amount": 5},
            key="k" if tool.idempotency == "keyed" else None,
            declares=tool,
            deadline_seconds=DEADLINE,
            definite=(ConnectionRefusedError,),
        ) as effect:
            effect.call(self.send, run)

    def note(self, run: RecordedRun) -> None:
        with run.effect("note", step_name="note", request=1, declares=NOTE) as effect:
            effect.call(lambda: None)

    def send(self, run: RecordedRun) -> Receipt:
        """The provider."""
        found = self.run()
        action = found.actions.get("pay") if found else None
        attempts = [a for a in action.attempts if a.epoch == run.epoch] if action else []
        if not any(attempt.status == "attempting" for attempt in attempts):
            self.broken.append("3: sent without a durable attempt of this epoch")
        # A process that is held up between its last look and its send cannot be stopped by any record: excepted.
        held_up = self.tool == "brief" and self.faults.get(len(self.moments) + 1) in {"nap", "overtaken"}
        if held_up:
            del self.faults[len(self.moments) + 1]
        fault = self.moment("send")
        if fault == "error":
            raise ConnectionRefusedError("refused")
        if fault == "never arrived":
            raise OSError("lost before it was applied")
        window = TOOLS[self.tool].dedupe_window_seconds
        if window is None or not any(self.clock.now - at < window * SECOND for at in self.applied):
            self.applied.append(self.clock.now)
        if fault == "crash after":
            raise CrashError
        if fault == "answer lost":
            raise OSError("lost after it was applied")
        return Receipt({"paid": 5}, external_ref="p-1")

    def check(self, end: str) -> None:
        """The properties, on what anybody can read now."""
        run = self.run()
        if run is None:
            return
        if len(self.applied) > 1:
            self.broken.append("1: applied twice")
        pay = run.actions.get("pay")
        if pay and pay.status == "committed" and not self.applied:
            self.broken.append("2: committed, and never applied")
        if pay and pay.status == "failed" and self.applied:
            self.broken.append("2: failed, and applied")
        if run.faults:
            self.broken.append(f"4, 5: {[(fault.code, fault.message) for fault in run.faults]}")
        if [record.sequence for record in run.records] != list(range(1, len(run.records) + 1)):
            self.broken.append("5: the journal is not one sequence")
        if end == "gave up" and run.open_actions:
            self.broken.append("6: gave up, and something is open")
        if run.status == "completed" and len(self.applied) != 1:
            self.broken.append("2: completed, and not applied once")
        self.check_cancel(run)

    def check_cancel(self, run: Run) -> None:
        wish = run.cancel_requested
        behind = (
            record
            for record in run.records
            if wish
            and (record.sequence or 0) > (wish.sequence or 0)
            and record.value.get("status") == "attempting"
        )
        if any(behind):
            self.broken.append("4: an attempt behind a wish to stop")


class FaultyStore(Store):
    """The world's objects as one process reaches them."""

    capabilities = MEMORY

    def __init__(self, world: World, *, faulty: bool) -> None:
        self.url = "memory"
        self._world = world
        self._faulty = faulty
        self._silent = 0

    def _moment(self, kind: str) -> str | None:
        if not self._faulty:
            return None
        if self._silent:
            self._silent -= 1
            raise UnreachableError(self.url, "no answer")
        fault = self._world.moment(kind)
        if fault == "error":
            raise UnreachableError(self.url, "no answer")
        return fault

    def get(self, key: str, limit: int | None = None) -> bytes:
        self._moment("read")
        if key not in self._world.objects:
            raise AbsentError(self.url, "nothing is there", key)
        return self._world.objects[key]

    def list(self, prefix: str = "") -> Iterator[Entry]:
        self._moment("read")
        objects = self._world.objects
        yield from (Entry(key, len(objects[key])) for key in sorted(objects) if key.startswith(prefix))

    def folders(self, prefix: str = "") -> Iterator[str]:
        self._moment("read")
        below = (key.removeprefix(prefix) for key in self._world.objects if key.startswith(prefix))
        yield from sorted({key.split("/")[0] for key in below if "/" in key})

    def exists(self, key: str) -> bool:
        self._moment("read")
        return key in self._world.objects

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        fault = self._moment("write")
        if fault == "never arrived":
            return Outcome.UNKNOWN
        there = self._world.objects.setdefault(key, data)
        if fault == "crash after":
            raise CrashError
        if fault == "silence":
            self._silent = 10  # beyond all tries of one record
        if fault in {"answer lost", "silence"}:
            return Outcome.UNKNOWN
        return Outcome.WON if there == data and fault != "called a conflict" else Outcome.LOST

    def replace(self, key: str, data: bytes) -> None:
        self._moment("write")
        self._world.objects[key] = data

    def delete(self, key: str) -> None:
        self._moment("write")
        self._world.objects.pop(key, None)

    def url_of(self, key: str) -> str:
        return f"{self.url}/{key}"


def singles(tool: str, *, retries: bool) -> Iterator[tuple[tuple[int, str], ...]]:
    """Every fault at every moment of the run in which nothing goes wrong."""
    whole = World(tool, retries=retries)
    assert whole.play() == "done"
    for number, kind in enumerate(whole.moments, start=1):
        for fault in FAULTS[kind]:
            yield ((number, fault),)


def pairs(tool: str, *, retries: bool, reach: int = 40) -> Iterator[tuple[tuple[int, str], ...]]:
    """Every single fault, and any second one at one of the `reach` moments after it."""
    for (first,) in singles(tool, retries=retries):
        for number in range(first[0] + 1, first[0] + 1 + reach):
            for fault in FAULTS["write"]:
                yield first, (number, fault)


def sample(seed: int, count: int) -> Iterator[tuple[str, bool, tuple[tuple[int, str], ...]]]:
    """`count` random pairs, over all tools."""
    chance = random.Random(seed)
    everything = {
        (tool, retries): [*pairs(tool, retries=retries)] for tool in TOOLS for retries in (False, True)
    }
    for _ in range(count):
        (tool, retries), known = chance.choice([*everything.items()])
        yield tool, retries, chance.choice(known)
