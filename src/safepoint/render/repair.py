"""A repair: what did not simply stay what it was, and the counts of all.

Decided here: that objects which lie behind one break of one log are told in one line, and how much is told in text; in
JSON nothing is left out.

``--format json`` is one document: ``done``, ``dryRun``, ``source``, ``copy`` (null: none was named), ``totals``
(``objects``, ``copied``, ``rebuilt``, ``setAside``, ``unreadable``, ``bytes``), ``runs`` (folders of the runs that the
guard hands over in the copy; empty text: those in loose files), ``report`` (its key in the copy), ``objects`` (every
object, as the report of the copy lists it) and ``findings`` (why nothing was written).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from safepoint.render.terminal import Screen, count, plain

SHOWN = 100
"""Lines of objects that text shows; all are counted, and listed in the report."""

_VERBS = {"rebuilt": "rebuilt", "setAside": "set aside", "unreadable": "left out"}
_STYLES = {"rebuilt": "yellow", "setAside": "yellow", "unreadable": "bold red"}

Named = Callable[[str], str]
"""The name in words of a code."""


def objects_text(objects: Sequence[Mapping[str, Any]], name: Named, screen: Screen) -> str:
    """A line for each object that is not what it was.

    Args:
        objects: as the report lists them, in its order.
        name: gives the name of a code in words.
        screen: where it goes.
    """
    lines = list(_lines(objects, name, screen))
    hidden = len(lines) - SHOWN
    more = [f"and {hidden:,} more like these: the report lists all"] if hidden > 0 else []
    return "".join(f"{line}\n" for line in [*lines[:SHOWN], *more])


def _lines(objects: Iterable[Mapping[str, Any]], name: Named, screen: Screen) -> Iterator[str]:
    changed = (one for one in objects if one["fate"] != "copied")
    for _, group in groupby(changed, key=_together):
        same = list(group)
        first = same[0]
        others = f" to {plain(same[-1]['key'].rpartition('/')[2])}" if len(same) > 1 else ""
        verb = screen.paint(_VERBS[first["fate"]], _STYLES[first["fate"]])
        number = f" ({count(len(same), 'object')})" if len(same) > 1 else ""
        yield f"{screen.paint(plain(first['key']) + others, 'bold')}: {verb}{number}: {_why(first, name)}"


def _together(one: Mapping[str, Any]) -> tuple[Any, ...]:
    """Equal for neighbours that are told in one line: whole objects of one folder behind one break of their log."""
    folder, _, own = one["key"].rpartition("/")
    texts = one.get("texts", ())
    behind = texts[0].get("behind") if len(texts) == 1 and "line" not in texts[0] else None
    return folder, one["fate"], behind, None if behind is not None else own


def _why(one: Mapping[str, Any], name: Named) -> str:
    reasons = [_reason(text, name) for text in one.get("texts", ())]
    left = len(reasons) - 3 + one.get("more", 0)
    return "; ".join([*reasons[:3], *([f"and {left:,} more"] if left > 0 else [])])


def _reason(text: Mapping[str, Any], name: Named) -> str:
    code = f"{text['code']} {name(text['code'])}"
    where = ""
    if "lastLine" in text:
        where = f"lines {text['line']} to {text['lastLine']}: "
    elif "line" in text:
        where = f"line {text['line']}: "
    if "behind" in text:
        return f"{where}sound, but behind the break at {text['behind']} ({code})"
    pointer = f" (at {plain(text['pointer'])})" if "pointer" in text else ""
    return f"{where}{code}{pointer}"


def summary_text(
    totals: Mapping[str, int], runs: Sequence[str], *, done: bool, dry_run: bool, report: str, screen: Screen
) -> str:
    """The counts, and what they mean for whoever goes on with the copy; some lines.

    Args:
        totals: how many objects came to what.
        runs: folders of the runs that lost something.
        done: whether the copy is whole.
        dry_run: whether nothing was to be written.
        report: where the report lies.
        screen: where it goes.
    """
    numbers = ", ".join(f"{totals[key]:,} {words}" for key, words in _COUNTED.items() if totals[key])
    all_of_it = f"{count(totals['objects'], 'object')}: {numbers}"
    if not done:
        refused = screen.paint("nothing was written", "bold red")
        return f"{refused} ({all_of_it})" if totals["objects"] else refused
    lines = [f"{'would be' if dry_run else 'done'}: {all_of_it}"]
    if runs:
        named = ", ".join(plain(run) if run else "those in loose files" for run in runs[:5])
        more = f" and {len(runs) - 5:,} more" if len(runs) > 5 else ""
        what = f"{count(len(runs), 'run')} lost something: the guard hands over {named}{more} (SP011)"
        lines.append(screen.paint(what, "yellow"))
    if not dry_run:
        lines.append(f"report: {plain(report)}")
        lines.append(
            "a run that has not ended could go on in both places now: make sure that nobody writes the original"
        )
    return "\n".join(lines)


_COUNTED = {
    "copied": "copied",
    "rebuilt": "rebuilt",
    "setAside": "set aside",
    "unreadable": "left out unread",
}
