"""Layer 2, ownership: leases, epochs, other recoveries, and stores that keep no two claims apart."""

from __future__ import annotations

from collections.abc import Iterator

from questions import PAY, facts, request, started

from conformance.case import DEAD, LATER, Case


def cases() -> Iterator[Case]:
    yield Case(
        "epoch-from-nowhere",
        "The caller names an epoch that the journal does not hold: records may be lost.",
        started(),
        "hand_over",
        ["SP724"],
        request=request("continue", epoch=2),
    )
    yield from unfenced()
    yield Case(
        "attempt-under-way",
        "The owner itself asks while its own call is still running.",
        started().ledger(3, "attempting"),
        "wait",
        ["SP764"],
        now=20,
        request=request("continue", epoch=1),
    )
    yield Case("lease-live", "The worker may only be slow.", started(), "wait", ["SP721"], now=30)
    yield Case(
        "lease-lapsed-within-the-skew",
        "The lease lapsed three seconds ago by this clock, which may be off by five.",
        started(),
        "wait",
        ["SP721"],
        now=2 + 60 + 3,
        source="occurrent#659",
    )
    yield Case(
        "lease-live-owner-dead",
        "The lease is live, but its owner is proven dead.",
        started(),
        "resume",
        ["SP799"],
        now=30,
        facts=facts(29, **DEAD),
    )
    yield Case(
        "caller-fenced",
        "The caller's epoch is older than the newest one.",
        started().claim(100, purpose="recovery"),
        "no_op",
        ["SP720"],
        now=LATER,
        request=request("continue", epoch=1),
    )
    yield Case(
        "two-recoveries-at-once",
        "Another recovery of this run is still deciding.",
        started().recover(190, "detected", trigger="leaseLapsed"),
        "wait",
        ["SP722"],
    )
    released = started().add("lease", 3, event="released", purpose="run", holder="worker-1", ttlSeconds=60)
    yield Case("lease-released", "The worker gave the run back.", released, "resume", ["SP799"], now=5)
    interleaved = started().claim(100, purpose="recovery").ledger(101, "attempting", epoch=1)
    yield Case(
        "stale-writer",
        "A worker of an older epoch wrote behind the fence.",
        interleaved,
        "hand_over",
        ["SP304", "SP766"],
        now=400,
        source="claude-code#39151",
    )


def unfenced() -> Iterator[Case]:
    paid = started().ledger(3, "attempting", declares=PAY).ledger(4, "committed")
    yield Case(
        "store-cannot-fence",
        "Nothing stands against going on, but nothing would keep two from doing so.",
        started(),
        "hand_over",
        ["SP725"],
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-unwind",
        "What was paid could be undone, and by two at once.",
        paid,
        "hand_over",
        ["SP725", "SP742", "SP760"],
        request=request("unwind"),
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-lease-live",
        "Another's lease is live, which comes first.",
        started(),
        "wait",
        ["SP721", "SP725"],
        now=20,
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-completed",
        "A run that is over is claimed by nobody, wherever it lies.",
        started().ledger(3, "attempting").ledger(4, "committed").add("run", 5, status="completed"),
        "no_op",
        ["SP710", "SP760"],
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-completed-with-an-open-effect",
        "Whoever settles what is open has to claim the run for it.",
        started().ledger(3, "attempting").add("run", 5, status="completed"),
        "hand_over",
        ["SP712", "SP725", "SP766"],
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-inspect",
        "Whoever only looks claims nothing.",
        started(),
        "no_op",
        ["SP716"],
        request=request("inspect"),
        claims="impossible",
    )
    yield Case(
        "store-fenced-by-word",
        "Somebody promised to be the only writer, and the decision says that it rests on that.",
        started(),
        "resume",
        ["SP799"],
        claims="assumed",
    )
