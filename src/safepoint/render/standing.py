"""Whether a stored decision stands, for a human (SPEC.md#decision).

Decided here: the words. Not decided here: what was compared (``guard.standing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from safepoint.render.asked import Asked
from safepoint.render.decision import VERDICTS
from safepoint.render.overview import short
from safepoint.render.terminal import Cell, Screen, plain

_NAMES: Mapping[str, str] = {
    "runId": "run",
    "goal": "goal",
    "evaluatedAt": "made at",
    "validUntil": "valid until",
    "notBefore": "not before",
    "requires": "requirements",
    "basis": "what ties it here",
    "journal": "journal head",
    "leaseEpoch": "lease epoch",
    "policy": "policy",
    "facts": "facts",
    "anchor": "anchor",
    "judgement": "judged again",
}

_OUTCOMES: Mapping[str, tuple[str, str]] = {
    "same": ("holds", "green"),
    "differs": ("differs", "bold red"),
    "notCompared": ("not compared", "yellow"),
}

_DATED = frozenset({"evaluatedAt", "validUntil", "notBefore"})


def standing_text(document: Mapping[str, Any], asked: Asked, screen: Screen, basis: Mapping[str, Any]) -> str:
    """The answer, every comparison, and what to do next.

    Args:
        document: a standing as JSON has it.
        asked: the question.
        screen: where it goes.
        basis: the decision's.
    """
    stands, verdict = document["standing"] == "stands", document["verdict"]
    style = "bold green" if stands else "bold red"
    why = [c["message"] for c in document["compared"] if c["outcome"] == "differs"]
    said = f"the decision still says {verdict}: {VERDICTS[verdict][1]}" if stands else "; ".join(why)
    rows: list[list[Cell]] = [
        [
            _NAMES[compared["what"]],
            _OUTCOMES[compared["outcome"]],
            _shown(compared, "decided"),
            _shown(compared, "now"),
        ]
        for compared in document["compared"]
    ]
    part = any(c["outcome"] == "notCompared" for c in document["compared"])
    word = ("stands, as far as it was compared" if part else "stands") if stands else "void"
    first, *more = screen.prose(f"{word}: {plain(said)}")
    lines = [
        first.replace(word, screen.paint(word, style), 1),
        *more,
        screen.paint(f"run {plain(document['runId'])}; compared as of {short(document['checkedAt'])}", "dim"),
        "",
        screen.table(("what", "outcome", "in the decision", "now"), rows).rstrip("\n"),
        "",
        screen.paint("what to do next", "bold"),
        *_laid_out(_next(document, asked, basis), screen),
    ]
    return "\n".join(lines) + "\n"


def _shown(compared: Mapping[str, Any], side: str) -> str:
    value = compared[side]
    if value is None:
        return _NOTHING.get((compared["what"], side), "-")
    if compared["what"] in _DATED:
        return short(value) if side == "decided" else "-"
    head, colon, rest = str(value).partition("sha256:")
    return f"{head}{colon}{rest[:12]}…" if colon else head


_NOTHING: Mapping[tuple[str, str], str] = {
    ("facts", "decided"): "made without",
    ("facts", "now"): "none given",
    ("anchor", "decided"): "made without",
    ("anchor", "now"): "none given",
    ("journal", "decided"): "not numbered",
    ("journal", "now"): "not numbered",
    ("basis", "decided"): "nothing numbered",
    ("basis", "now"): "its facts are not given",
    ("judgement", "now"): "not asked",
}
"""What the absence of a value means."""


def _next(document: Mapping[str, Any], asked: Asked, basis: Mapping[str, Any]) -> Iterator[str]:
    again = asked.again(document["runId"], asked.facts_file)
    if document["standing"] == "void":
        yield "  Do nothing by it. Ask the guard again:"
        yield f"    {again}"
        return
    for compared in document["compared"]:
        if compared["outcome"] == "notCompared":
            yield f"  Not compared: {_NAMES[compared['what']]}: {compared['message']}."
    if document["verdict"] != "resume":
        yield f"  That is no leave to go on. What {document['verdict']} asks for:"
        yield f"    {again}"
        return
    head = basis["journal"]["sequence"]
    if head is None:
        yield "  These records cannot be claimed: one worker alone may go on, and it begins a run of its own."
        return
    place = f" as journal record {head + 1}; whoever loses that number asks again" if head else ""
    yield f"  Claim the run with a lease record{place}. Nothing but that claim keeps others out."


def _laid_out(lines: Iterator[str], screen: Screen) -> Iterator[str]:
    """Wrapped, but for what is to be copied, which is set in."""
    for line in lines:
        yield from [line] if line.startswith("    ") else screen.prose(line.strip(), "  ", " " * 4)
