"""A small scripted run with its world: a store that can be hooked, a provider that counts, and the process to kill.

Run as a program it works on a store on disk and kills itself where it is told to; the tests load it as a module.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import Declares, Receipt, RecordedRun, resume_run, start_run
from safepoint.store import AbsentError, Entry, Outcome, Store, open_store
from safepoint.store.capabilities import MEMORY

RUN_ID = "run-1"
STEPS = ("pay", "note")

TOOLS = {
    "unkeyed": Declares(effect="payment"),
    "probe": Declares(effect="payment", probe="byQuery"),
    "keyed": Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400),
}


class CrashError(BaseException):
    """The process ends here; like a kill, nothing that catches exceptions may see it."""


class MemoryStore(Store):
    """Objects in a dictionary, for the many runs of the exhaustive tests."""

    capabilities = MEMORY

    def __init__(self) -> None:
        self.url = "memory"
        self.objects: dict[str, bytes] = {}

    def get(self, key: str, limit: int | None = None) -> bytes:
        if key not in self.objects:
            raise AbsentError(self.url, "nothing is there", key)
        return self.objects[key]

    def list(self, prefix: str = "") -> Iterator[Entry]:
        yield from (
            Entry(key, len(self.objects[key])) for key in sorted(self.objects) if key.startswith(prefix)
        )

    def folders(self, prefix: str = "") -> Iterator[str]:
        below = (key.removeprefix(prefix) for key in self.objects if key.startswith(prefix))
        yield from sorted({key.split("/")[0] for key in below if "/" in key})

    def exists(self, key: str) -> bool:
        return key in self.objects

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        if key in self.objects:
            return Outcome.WON if self.objects[key] == data else Outcome.LOST
        self.objects[key] = data
        return Outcome.WON

    def replace(self, key: str, data: bytes) -> None:
        self.objects[key] = data

    def delete(self, key: str) -> None:
        self.objects.pop(key, None)

    def url_of(self, key: str) -> str:
        return f"{self.url}/{key}"


class HookedStore(Store):
    """Passes everything on, and tells `hook` of each operation before and after it."""

    def __init__(self, inner: Store, hook: Callable[[str], None]) -> None:
        self.inner = inner
        self.url, self.capabilities = inner.url, inner.capabilities
        self.hook = hook

    def _do(self, operation: str, function: Callable[[], Any]) -> Any:
        self.hook(f"before {operation}")
        answer = function()
        self.hook(f"after {operation}")
        return answer

    def get(self, key: str, limit: int | None = None) -> bytes:
        return self._do("get", lambda: self.inner.get(key, limit))

    def list(self, prefix: str = "") -> Iterator[Entry]:
        return iter(self._do("list", lambda: [*self.inner.list(prefix)]))

    def folders(self, prefix: str = "") -> Iterator[str]:
        return iter(self._do("folders", lambda: [*self.inner.folders(prefix)]))

    def exists(self, key: str) -> bool:
        return self._do("exists", lambda: self.inner.exists(key))

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        return self._do("put", lambda: self.inner.put_if_absent(key, data))

    def replace(self, key: str, data: bytes) -> None:
        self._do("replace", lambda: self.inner.replace(key, data))

    def delete(self, key: str) -> None:
        self._do("delete", lambda: self.inner.delete(key))

    def url_of(self, key: str) -> str:
        return self.inner.url_of(key)


class Countdown:
    """Counts the moments at which a process may die, and dies at the one that it is told."""

    def __init__(self, at: int | None, die: Callable[[], None]) -> None:
        self.moments = 0
        self.at = at
        self.die = die

    def __call__(self, _moment: str) -> None:
        self.moments += 1
        if self.moments == self.at:
            self.die()


class Provider:
    """Applies payments and counts what it truly applied; one line a payment in `book`, or in memory."""

    def __init__(
        self, store: Store, hook: Callable[[str], None], *, keyed: bool, book: Path | None = None
    ) -> None:
        self.store = store
        self.hook = hook
        self.keyed = keyed
        self.book = book
        self.applied: list[str] = book.read_text().split() if book and book.exists() else []
        self.notes = 0

    def pay(self, run: RecordedRun, key: str) -> Receipt:
        require_attempt(self.store, "pay", run.epoch)
        self.hook("before send")
        if not (self.keyed and key in self.applied):
            self.applied.append(key)
            if self.book:
                with self.book.open("a") as book:
                    book.write(key + "\n")
        self.hook("after send")
        return Receipt(result={"paid": 5}, external_ref=f"payment-{key}")

    def note(self, run: RecordedRun) -> None:
        require_attempt(self.store, "note", run.epoch)
        self.notes += 1


def require_attempt(store: Store, action_id: str, epoch: int) -> None:
    """Property 3: every send has an earlier durable attempt of this epoch."""
    run = stored(store)
    assert run is not None
    attempt = run.actions[action_id].attempts[-1]
    assert (attempt.status, attempt.epoch) == ("attempting", epoch)


def stored(store: Store) -> Run | None:
    """The run as anybody would read it now."""
    try:
        return load_run(store, RUN_ID).run
    except AbsentError:
        return None


def facts_of(run: Run, now: int, provider: Provider, tool: str) -> dict[str, object]:
    """What the world knows: every owner is dead, and where there is a probe, what it finds."""
    leases = run.ownership.leases if run.ownership else ()
    owners: list[dict[str, object]] = [{"leaseEpoch": lease.epoch} for lease in leases] or [{"holder": "w1"}]
    for owner in owners:
        owner |= {"state": "dead", "proof": "waitpid", "observedAt": run_end(run)}
    facts: dict[str, object] = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": RUN_ID,
        "observedAt": format_time(now),
        "owners": owners,
    }
    if tool == "probe" and "pay" in run.actions:
        result = "applied" if provider.applied else "notApplied"
        facts["probes"] = {
            "pay": {
                "result": result,
                "consistency": "strong",
                "observedAt": format_time(now),
                "externalRef": provider.applied[0] if provider.applied else None,
            }
        }
    return facts


def run_end(run: Run) -> str:
    return format_time(max(record.created or 0 for record in run.records))


def begin(store: Store, clock: Callable[[], int]) -> RecordedRun:
    return start_run(store, RUN_ID, workflow="billing", holder="w1", ttl_seconds=10, clock=clock)


def go_on(store: Store, clock: Callable[[], int], facts: dict[str, object]) -> RecordedRun:
    return resume_run(store, RUN_ID, holder="w2", ttl_seconds=10, facts=facts, clock=clock)


def work(run: RecordedRun, provider: Provider, tool: str) -> None:
    """The scripted run: a payment, a checkpoint, a note."""
    if run.last_checkpoint is None:
        run.checkpoint(
            "cp_01", state="started", step_name="begin", next_steps=["pay", "note"], reason="beforeEffect"
        )
    if "pay" in run.next_steps:
        key = "run-1_pay_v1" if tool == "keyed" else None
        with run.effect(
            "pay", step_name="pay", request={"amount": 5}, key=key, declares=TOOLS[tool]
        ) as effect:
            effect.call(provider.pay, run, "run-1_pay_v1")
        run.checkpoint("cp_02", state="paid", step_name="pay", next_steps=["note"], reason="afterEffect")
    natural = Declares(effect="write", idempotency="natural")
    with run.effect("note", step_name="note", request={"note": "paid"}, declares=natural) as effect:
        effect.call(provider.note, run)
    run.complete()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("tool")
    parser.add_argument("at", type=int)
    given = parser.parse_args()
    hook = Countdown(given.at, lambda: os.kill(os.getpid(), signal.SIGKILL))
    store = HookedStore(open_store(str(given.folder / "store")), hook)
    provider = Provider(store.inner, hook, keyed=given.tool == "keyed", book=given.folder / "book")
    now = [json.loads((given.folder / "clock").read_text())]

    def clock() -> int:
        now[0] += 1_000_000
        (given.folder / "clock").write_text(str(now[0]))
        return int(now[0])

    run = stored(store.inner)
    facts = facts_of(run, clock(), provider, given.tool) if run else {}
    opened = go_on(store, clock, facts) if run else begin(store, clock)
    work(opened, provider, given.tool)


if __name__ == "__main__":
    main()
