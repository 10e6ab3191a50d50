"""What was done to stored runs, for people and for programs: packed, unpacked, deleted, retracted.

Decided here: the words. Not decided here: what is done, and what is refused (``upkeep``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from safepoint.render.terminal import Screen, count, plain, to_json

_VERBS: Mapping[str, tuple[str, str]] = {
    "pack": ("packed", "would pack"),
    "unpack": ("unpacked", "would unpack"),
    "prune": ("deleted", "would delete"),
}
"""Of each command what it has done, and what it would do."""

_STYLES = {"done": "green", "would": "cyan", "already": "dim", "passed": "dim", "left": "bold yellow"}

_OBJECTS = {"pack": "removed", "unpack": "written", "prune": "removed"}


class Change(Protocol):
    """What became of one run, as ``upkeep`` says it."""

    @property
    def run_id(self) -> str:
        """Which run."""

    @property
    def outcome(self) -> str:
        """``done``, ``would``, ``already``, ``passed`` or ``left``."""

    @property
    def message(self) -> str:
        """What was done, or why it was not."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How much, by name."""

    @property
    def brief(self) -> str:
        """Why it was passed over, in few words."""


class Retraction(Protocol):
    """What was retracted, as ``upkeep`` says it."""

    @property
    def run_id(self) -> str:
        """Which run."""

    @property
    def targets(self) -> Sequence[str]:
        """What was asked for."""

    @property
    def before(self) -> Sequence[str]:
        """What was retracted already."""

    @property
    def sequence(self) -> int | None:
        """Of the new record."""

    @property
    def also(self) -> Sequence[str]:
        """What else it hides."""

    @property
    def deleted(self) -> Sequence[str]:
        """Keys of artifacts."""

    @property
    def kept(self) -> Mapping[str, str]:
        """Artifacts whose bytes stay, each with the reason."""

    @property
    def dry_run(self) -> bool:
        """Whether it was only tried."""


def change_text(command: str, change: Change, screen: Screen) -> str:
    """One line for one run.

    Args:
        command: ``pack``, ``unpack`` or ``prune``.
        change: what became of it.
        screen: where it goes.
    """
    done, would = _VERBS[command]
    word = {"done": done, "would": would, "already": "nothing to do", "passed": "passed over"}
    head = screen.paint(word.get(change.outcome, "left"), _STYLES[change.outcome])
    said = change.message if change.outcome in {"already", "passed", "left"} else _counts(command, change)
    return f"{head}  {plain(change.run_id)}: {plain(said)}\n"


def _counts(command: str, change: Change) -> str:
    number = change.counts.get("objects", 0)
    held = [count(n, name[:-1]) for name, n in change.counts.items() if name != "objects" and n]
    will = "to be " if change.outcome == "would" else ""
    objects = f"{count(number, 'object')} {will}{_OBJECTS[command]}" if "objects" in change.counts else ""
    return "; ".join(filter(None, (", ".join(held), objects)))


def summary_text(command: str, changes: Iterable[Change], *, dry_run: bool) -> str:
    """How many runs came to what."""
    listed = list(changes)
    outcomes = [change.outcome for change in listed]
    done, would = _VERBS[command]
    words = {
        "done": done,
        "would": would.replace("would", "to"),
        "already": "with nothing to do",
        "left": "left",
    }
    parts = [f"{outcomes.count(name)} {word}" for name, word in words.items() if name in outcomes]
    if passed := Counter(change.brief for change in listed if change.outcome == "passed"):
        why = ", ".join(f"{number} {brief}" for brief, number in sorted(passed.items()))
        parts.append(f"{passed.total()} passed over ({why})")
    dry = "; nothing was changed" if dry_run else ""
    return f"{count(len(outcomes), 'run')}: {', '.join(parts)}{dry}"


def changes_json(command: str, changes: Iterable[Change], *, dry_run: bool) -> bytes:
    """The document that ``--format json`` prints."""
    listed = list(changes)
    runs = [
        {"runId": c.run_id, "outcome": c.outcome, "message": c.message, "counts": dict(c.counts)}
        for c in listed
    ]
    outcomes = [change.outcome for change in listed]
    names = ("done", "would", "already", "passed", "left")
    return to_json(
        {
            "command": command,
            "dryRun": dry_run,
            "runs": runs,
            "summary": {name: outcomes.count(name) for name in names},
        }
    )


def retraction_text(retraction: Retraction, screen: Screen) -> str:
    """What was hidden, what of the bytes was deleted, and what stays and why."""
    lines = []
    new = [target for target in retraction.targets if target not in retraction.before]
    if new:
        record = "" if retraction.sequence is None else f"  (record {retraction.sequence} of the journal)"
        lines.append(f"{_said(retraction, 'retracted', screen)}  {_listed(new)}{record}")
    if retraction.before:
        lines.append(f"{screen.paint('retracted before', 'dim')}  {_listed(retraction.before)}")
    lines += [f"{screen.paint('hidden with it', 'dim')}  {plain(what)}" for what in retraction.also]
    lines += [f"{_said(retraction, 'deleted', screen)}  {plain(key)}" for key in retraction.deleted]
    for name, why in retraction.kept.items():
        lines.append(f"{screen.paint('kept', 'bold yellow')}  the bytes of {plain(name)}: {plain(why)}")
    return "".join(f"{line}\n" for line in lines)


def _said(retraction: Retraction, done: str, screen: Screen) -> str:
    return screen.paint(f"to be {done}", "cyan") if retraction.dry_run else screen.paint(done, "green")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(plain, names))


def retraction_json(retraction: Retraction) -> bytes:
    """The document that ``--format json`` prints."""
    document: dict[str, Any] = {
        "command": "retract",
        "dryRun": retraction.dry_run,
        "runId": retraction.run_id,
        "targets": list(retraction.targets),
        "retractedBefore": list(retraction.before),
        "sequence": retraction.sequence,
        "alsoHidden": list(retraction.also),
        "deleted": list(retraction.deleted),
        "kept": [{"name": name, "reason": why} for name, why in retraction.kept.items()],
    }
    return to_json(document)
