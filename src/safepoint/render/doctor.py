"""What came of a trial of storage, for whoever has to decide whether to rely on it (SPEC.md#promises).

Decided here: the conclusion, what follows from a broken promise, and what to do about it. Not decided here: what is
tried, and how (``store``). The input is the document that ``--format json`` prints.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.render.terminal import Screen, count, plain

VERDICTS: Mapping[str, tuple[int, str, str]] = {
    "proven": (0, "bold green", "PROVEN HERE"),
    "notEnforceable": (1, "bold red", "NOT ENFORCEABLE HERE"),
    "notTried": (3, "bold yellow", "NOT PROVEN"),
}
"""Each verdict: exit status, style and words."""

_HERE: Mapping[str, tuple[str, str]] = {
    "yes": ("yes", "green"),
    "no": ("NO", "bold red"),
    "untried": ("not tried", "yellow"),
}
_PROMISED: Mapping[bool | None, str] = {True: "yes", False: "no", None: "-"}

_TWO_WIN = (
    "Two workers can both be told that they own one run. Both send, and the record of the first is overwritten by that "
    "of the second: nothing is left to show that it happened twice."
)
_GO_ELSEWHERE = (
    "Keep records on a local disk, in S3, Google Cloud Storage or Azure Blob Storage, or on a server of their kind for "
    "which this command says proven. What lies here already can be read."
)
_STALE = "A worker can judge a run by a history that lacks what another has just recorded, and do it again."

_FIRST = frozenset({"answers", "writes"})
_SEVERAL_WIN = ("oneWinner", "race")
_OF_A_CLAIM = frozenset({"oneWinner", "empty", "lostAnswer", "race"})
_WORD = "that there is one writer rests on your word alone."

_NOT_KNOWN = (
    "Safepoint does not write there, and the guard lets nobody go on with a run that is read from there (SP725).",
    (
        "Open the store by the URL that its records were written to: a path, s3://, gs:// or az://, with nothing "
        "before it. For looking, this place will do."
    ),
)
_NOT_WRITTEN = ("Safepoint does not write there.", _GO_ELSEWHERE)

_MEANS: Mapping[str, tuple[str, str]] = {
    "libraries": (
        "A library that is older may drop the condition on its way, and overwrite what is there.",
        "Install newer ones: pip install --upgrade, with the versions above.",
    ),
    "answers": ("Nothing can be said of storage that does not answer.", "Try again when it does."),
    "reads": ("What was recorded cannot be relied on.", _GO_ELSEWHERE),
    "writes": ("What is recorded may not be there.", _GO_ELSEWHERE),
    "lists": ("Runs that are there are not found.", _GO_ELSEWHERE),
    "oneWinner": (_TWO_WIN, _GO_ELSEWHERE),
    "empty": ("Whoever writes an empty object wipes out what another has written.", _GO_ELSEWHERE),
    "lostAnswer": (
        "A worker whose answer was lost on the way cannot tell whether it had won.",
        _GO_ELSEWHERE,
    ),
    "race": (_TWO_WIN, _GO_ELSEWHERE),
    "whole": ("A reader takes an attempt for a torn record, and the run for damaged.", _GO_ELSEWHERE),
    "freshReads": (_STALE, f"Take away any cache between. {_GO_ELSEWHERE}"),
    "freshListings": (
        (
            "Commands that only look (runs, validate, guard) can miss the newest records. Nobody goes on by that: the "
            "claim of a run asks for names, and not for a listing."
        ),
        "Take away any cache between.",
    ),
    "deletes": ("What was pruned or erased can still be read.", "Take away any cache between."),
    "rewrites": (
        "A long step cannot show that it is alive, so that another worker may take the run over once its lease lapses.",
        "Allow heartbeats to be overwritten, or give leases that outlast the longest step.",
    ),
}
"""What a broken promise leads to, and the way out."""


def verdict_of(proofs: Sequence[Mapping[str, Any]]) -> str:
    """A key of `VERDICTS`; that nobody can try durability is no reason against anything."""
    seen = {proof["proven"] for proof in proofs if proof["name"] != "durable"}
    return "notEnforceable" if "no" in seen else "notTried" if "untried" in seen else "proven"


def doctor_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The report as a human reads it.

    Args:
        document: what was found.
        screen: where it goes.
    """
    reached = [proof for proof in document["proofs"] if proof["how"]]
    rows = [
        [proof["promise"], _PROMISED[proof["promised"]], _HERE[proof["proven"]], proof["how"]]
        for proof in reached
    ]
    table = screen.table(("what it must do", "promised", "here", "how"), rows)
    if left_out := [proof["promise"] for proof in document["proofs"] if not proof["how"]]:
        table += "\n" + _paragraph("not reached", "; ".join(left_out), screen)
    return "".join([*_head(document, screen), "\n", table, "\n", *_conclusion(document, screen)])


def _head(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    yield f"{screen.paint(plain(document['url']), 'bold')}\n"
    used = ", ".join(f"{library['name']} {library['version']}" for library in document["libraries"])
    yield f"storage   {plain(document['backend'])}{f', through {used}' if used else ''}\n"
    yield f"claims    {document['claim'] or 'no way is known to give a name to one writer only'}\n"
    if document["scratch"]:
        left = "but not all of it could be removed" if document["left"] else "and removed again"
        yield f"tried in  {plain(document['scratch'])}, {left}\n"
    else:
        yield "tried in  nothing was written\n"


def _conclusion(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    _, style, words = VERDICTS[document["verdict"]]
    proofs = document["proofs"]
    broken = [proof for proof in proofs if proof["proven"] == "no"]
    open_ = [proof for proof in proofs if proof["proven"] == "untried" and proof["name"] != "durable"]
    first, *more = _wrapped(f"{words}: {_said(document, broken, open_)}", screen, 2)
    yield f"{screen.paint(words, style)}{first.removeprefix(words)}\n"
    yield from (f"  {line}\n" for line in more)
    if broken:
        yield from _broken(document, broken, screen)
    if document["verdict"] == "notTried":
        yield _paragraph("what to do", _remedy(document, open_), screen)
    elif document["verdict"] == "proven":
        yield _paragraph("remember", _limits(document), screen)
    if left := document["left"]:
        what = left[0] if len(left) == 1 else f"{len(left):,} objects below {document['scratch']}"
        yield _paragraph("left behind", f"{what}; readers pass over that, remove it by hand", screen)


def _broken(
    document: Mapping[str, Any], broken: Sequence[Mapping[str, Any]], screen: Screen
) -> Iterator[str]:
    names = [proof["name"] for proof in broken]
    if not document["scratch"]:
        means = [_NOT_WRITTEN if document["claim"] else _NOT_KNOWN]
    else:
        # where two can win, nothing worse can be said
        first = [name for name in names if name in _SEVERAL_WIN][:1]
        means = [_MEANS[name] for name in names if not (first and name in _OF_A_CLAIM) or name in first]
    for consequence in dict.fromkeys(consequence for consequence, _ in means):
        yield _paragraph("that means", consequence, screen)
    for remedy in dict.fromkeys(remedy for _, remedy in means):
        yield _paragraph("what to do", remedy, screen)


def _said(
    document: Mapping[str, Any], broken: Sequence[Mapping[str, Any]], open_: Sequence[Mapping[str, Any]]
) -> str:
    if broken:
        if not document["scratch"]:
            return f"{broken[0]['how']}."
        if any(proof["name"] in _SEVERAL_WIN for proof in broken):
            return (
                f"the condition ({document['claim']}) is accepted, and not kept."
                if document["claim"]
                else _WORD
            )
        return "this storage does not keep all that a journal needs."
    if open_:
        first = min((proof for proof in open_ if proof["how"]), key=lambda proof: proof["name"] not in _FIRST)
        if not document["scratch"]:
            return f"{first['how']}; nothing more can be proven."
        return f"{first['promise']}? Not tried: {first['how']}{_more(open_)}"
    return "storage held whatever a journal asks of it, as far as anybody can try."


def _more(proofs: Sequence[object]) -> str:
    return f"; {count(len(proofs) - 1, 'more line')} above." if len(proofs) > 1 else "."


def _remedy(document: Mapping[str, Any], open_: Sequence[Mapping[str, Any]]) -> str:
    reached = {proof["name"] for proof in open_ if proof["how"]}
    if "answers" in reached:
        return "Run this again when it answers."
    if "lists" in reached and document["backend"] == "local":
        return f"Make the folder, so that the place that will be used is tried: mkdir -p {document['url']}"
    if "lists" in reached and not reached & {"writes", "oneWinner"}:
        return (
            "Check its name and these credentials; what is not there must be made first. Then run this again."
        )
    if "writes" in reached:
        refused = any("credentials" in proof["how"] for proof in open_)
        if refused:
            return "Run this again with the credentials of a worker, which may read, write and delete there."
        return "See to it that the place is there and can be written to, and run this again."
    if reached == {"deletes"}:
        return (
            "Nothing, where nothing shall ever be pruned or erased; else allow these credentials to delete."
        )
    return "Run this again, with more --rounds."


def _limits(document: Mapping[str, Any]) -> str:
    lines = ["What a trial shows holds for this place, with these credentials and libraries, today."]
    if document["durable"]:
        lines.append(f"That records survive a crash was not tried; it is promised: {document['durableBy']}")
    elif document["durable"] is False:
        lines.append("Nothing here survives the end of the process.")
    return " ".join(lines)


def _paragraph(title: str, text: str, screen: Screen) -> str:
    first, *rest = _wrapped(text, screen, 15)
    return "".join([f"  {title:11}  {first}\n", *(f"{'':15}{line}\n" for line in rest)])


def _wrapped(text: str, screen: Screen, indent: int) -> list[str]:
    """`text` in lines for a terminal, or in one line."""
    if screen.width is None:
        return [plain(text)]
    width = max(screen.width - indent, 30)
    return textwrap.wrap(plain(text), width, break_long_words=False, break_on_hyphens=False)
