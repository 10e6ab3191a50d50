"""Copies of a run: whether they are whole, and whether their original has given its authority away."""

from __future__ import annotations

from collections.abc import Iterator

from copied import origin, seal
from journals import Journal
from questions import PAY, dead, facts, request, started

from conformance.case import DEAD, LATER, Case


def cases() -> Iterator[Case]:
    yield from whole()
    yield from authority()
    yield from nothing_to_give()


def whole() -> Iterator[Case]:
    longer = started().ledger(3, "attempting").ledger(4, "committed")
    yield Case(
        "copy-cut-short",
        "The copy lacks the last record that was copied, which may be that of an effect.",
        started(),
        "hand_over",
        ["SP330"],
        files={**origin(longer), **seal(longer)},
    )
    yield Case(
        "copy-not-begun",
        "Nothing but the origin has arrived: that is no run without records, but a copy without them.",
        Journal(),
        "hand_over",
        ["SP330", "SP723", "SP705", "SP726"],
        files=origin(started()),
    )
    yield Case(
        "copy-that-went-on",
        "The copy was claimed and has gone on since: more than was copied is no fault.",
        started().claim(100, purpose="recovery").checkpoint(101, "cp-2"),
        "resume",
        ["SP799"],
        files={**origin(started()), **seal(started())},
        now=400,
    )
    yield Case(
        "copy-sealed-behind-another-head",
        "The original was sealed, but for a copy that was made before it went on.",
        longer,
        "hand_over",
        ["SP331", "SP726", "SP760"],
        files={**origin(longer), **seal(started())},
        now=400,
    )
    yield Case(
        "copy-seal-without-origin",
        "A seal lies there, and nothing says of which copy.",
        started(),
        "hand_over",
        ["SP331"],
        files=seal(started()),
    )
    yield Case(
        "copy-origin-unreadable",
        "The document that says what was copied cannot be read.",
        started(),
        "hand_over",
        ["SP103"],
        files={"runs/run-1/origin.json": b'{"recordType":"origin"', **seal(started())},
    )


def authority() -> Iterator[Case]:
    yield Case(
        "copy-not-sealed",
        "The lease in the copy lapsed, but the original may have been claimed again, where nobody here can see it.",
        started(),
        "reconcile",
        ["SP726"],
        files=origin(started()),
    )
    yield Case(
        "copy-sealed",
        "The same copy, and its original was sealed behind the record that was copied last.",
        started(),
        "resume",
        ["SP799"],
        files={**origin(started()), **seal(started())},
    )
    yield Case(
        "copy-owner-dead",
        "The same copy, and its original's worker is proven dead; the decision says that it rests on that alone.",
        started(),
        "resume",
        ["SP799"],
        files=origin(started()),
        facts=facts(199, **DEAD),
    )
    yield Case(
        "copy-claimed-since",
        "The same copy, in which a worker has claimed the run since.",
        started().claim(100, purpose="recovery"),
        "resume",
        ["SP799"],
        files=origin(started()),
        now=400,
    )
    yield Case(
        "copy-claimed-before-it-was-made",
        "The newest claim was copied with all else.",
        started().claim(100, purpose="recovery"),
        "reconcile",
        ["SP726"],
        files=origin(started().claim(100, purpose="recovery")),
        now=400,
    )
    yield Case(
        "copy-claimed-since-owner-dead",
        "Whoever claimed the copy is proven dead: the original was settled before that, and is not named again.",
        started().claim(100, purpose="recovery"),
        "resume",
        ["SP799"],
        files=origin(started()),
        facts=facts(199, owners=[dead(2, 110)]),
    )
    paid = started().ledger(3, "attempting", declares=PAY).ledger(4, "committed")
    yield Case(
        "copy-not-sealed-unwind",
        "What was paid could be undone here, and at the original as well.",
        paid,
        "reconcile",
        ["SP726", "SP742", "SP760"],
        files=origin(paid),
        request=request("unwind"),
    )
    yield Case(
        "copy-of-a-live-run",
        "The original's worker is at work by its lease; when that has lapsed the copy still needs a seal.",
        started(),
        "wait",
        ["SP721", "SP726"],
        files=origin(started()),
        now=20,
    )
    unleased = Journal().add("run", 0, status="started", workflow="publish").checkpoint(1, epoch=1)
    yield Case(
        "copy-without-a-lease",
        "No lease ever said who owns the run, so that it is asked for the worker and for the seal.",
        unleased,
        "reconcile",
        ["SP723", "SP726"],
        files=origin(unleased),
    )


def nothing_to_give() -> Iterator[Case]:
    ended = started().ledger(3, "attempting").ledger(4, "committed").add("run", 5, status="completed")
    yield Case(
        "copy-of-a-completed-run",
        "Nobody goes on with a run that is over, here or there.",
        ended,
        "no_op",
        ["SP710", "SP760"],
        files=origin(ended),
    )
    open_still = started().ledger(3, "attempting").add("run", 5, status="completed")
    yield Case(
        "copy-of-a-completed-run-with-an-open-effect",
        "Whoever settles what is open has to claim the run for it, here or there.",
        open_still,
        "reconcile",
        ["SP712", "SP726", "SP766"],
        files=origin(open_still),
    )
    yield Case(
        "copy-not-sealed-inspect",
        "Whoever only looks claims nothing.",
        started(),
        "no_op",
        ["SP716"],
        files=origin(started()),
        request=request("inspect"),
        now=LATER,
    )
