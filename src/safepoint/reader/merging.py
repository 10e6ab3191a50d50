"""Several facts documents as one (SPEC.md#the-facts-document).

Decided here: what counts as agreement, and that a contradiction is refused: which of two answers is true is for whoever
gave them. No fact comes out of it younger or older than it was observed, and neither order nor repetition matters.
Not decided here: whether a single document is sound (``documents``), nor what a fact means (``guard``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safepoint.core.digest import canonical
from safepoint.core.pointer import join
from safepoint.core.timestamp import parse_time
from safepoint.core.version import Version
from safepoint.reader.documents import Document, FactsGiven, InputRefusedError, Loaded, read_document

_DATED = ("external", "artifacts", "approvals")
"""Maps whose entries may say when they were observed, and else were when their document was."""

_BY_KEY = frozenset({*_DATED, "guardContext", "outbox", "probes", "heads", "fleet", "requires"})
"""Members that are maps of facts, each for itself."""

_WHOLE = frozenset({"knownSteps", "knownPayloadSchemas"})
"""Lists that name all that there are; their order says nothing."""

_UNITED = frozenset({("requires", "read"), ("requires", "resume")})
"""Lists whose order says nothing."""

_SHOWN = frozenset({"result", "consistency", "state", "sequence", "ledgerComplete"})
"""Members whose values are words of the format, and no payload."""

_LISTED = 5
"""Contradictions that are told."""


def load_facts(
    given: FactsGiven | None, storage_options: Mapping[str, Any] | None = None
) -> Mapping[str, Any] | None:
    """What all the facts documents that the caller gave, or named, say together; None where there is none.

    Args:
        given: a value, a path or URL, or a sequence of these.
        storage_options: handed to fsspec.

    Raises:
        InputRefusedError: one is not sound, they contradict each other, or they are of several runs.
        StoreError: one cannot be read.
    """
    if given is None:
        return None
    loaded = _load([given] if isinstance(given, str | os.PathLike | Mapping) else given, storage_options)
    return merge(loaded) if loaded else None


def group_facts(
    given: Sequence[Document], storage_options: Mapping[str, Any] | None = None
) -> dict[str, Mapping[str, Any]]:
    """As `load_facts`, for documents of many runs: each run's facts, by its id.

    Raises:
        InputRefusedError: one is not sound, or those of one run contradict each other.
        StoreError: one cannot be read.
    """
    by_run: dict[str, list[Loaded]] = {}
    for document in _load(given, storage_options):
        by_run.setdefault(str(document.value["runId"]), []).append(document)
    return {run_id: merge(documents) for run_id, documents in by_run.items()}


def _load(given: Sequence[Document], options: Mapping[str, Any] | None) -> list[Loaded]:
    several = len(given) > 1
    return [
        read_document("facts", document, options, name=f"facts[{number}]" if several else None)
        for number, document in enumerate(given)
    ]


def merge(documents: Sequence[Loaded]) -> Mapping[str, Any]:
    """What sound facts documents of one run say together; one alone stays as it is.

    Raises:
        InputRefusedError: they contradict each other, or are of several runs.
    """
    different = list({canonical(document.value): document for document in documents}.values())
    first, *others = different
    if not others:
        return first.value
    for other in others:
        if other.value["runId"] != first.value["runId"]:
            raise InputRefusedError(
                f"{first.url} is about run {first.value['runId']!r}, and {other.url} about run "
                f"{other.value['runId']!r}: facts of one run are asked for"
            )
    merging = _Merging(different)
    merged: dict[str, Any] = merging.join((), [(d, (), _dated(d.value)) for d in different])
    if merging.contradictions:
        more = len(merging.contradictions) - _LISTED
        told = [contradiction.words() for contradiction in merging.contradictions[:_LISTED]]
        if more > 0:
            told.append(f"and {more} more")
        raise InputRefusedError(
            "\n".join(["facts that contradict each other, so nothing was judged by them:", *told])
        )
    return merged


def _dated(value: Mapping[str, Any]) -> dict[str, Any]:
    """The same facts, each entry that can say when it was observed saying it."""
    when = {"observedAt": value["observedAt"]}
    dated = dict(value)
    for name in _DATED:
        if name in value:
            dated[name] = {subject: {**when, **entry} for subject, entry in value[name].items()}
    if "fleet" in value:
        dated["fleet"] = {**when, **value["fleet"]}
    for name in _WHOLE & value.keys():
        # What is not among them does not exist: two lists are one answer, or contradict each other.
        dated[name] = sorted(value[name])
    if "owners" in value:
        dated["owners"] = [{**when, **owner} for owner in value["owners"]]
    return dated


Path = tuple[str | int, ...]

Claim = tuple[Loaded, Path, Any]
"""A document, where in it something is said, and what."""


@dataclass(frozen=True, slots=True)
class _Contradiction:
    """Two documents, or two places of one, that cannot both be right."""

    one: Claim
    other: Claim

    def words(self) -> str:
        """Both places, and what to do."""
        (first, path, value), (second, there, another) = self.one, self.other
        said = f"{first.place_of(join(*path))} and {second.place_of(join(*there))}: {join(*path)}"
        if path != there:
            said += f" and {join(*there)}"
        if _is_word(path, value) and _is_word(there, another):
            said += f" is {_word(value)}, and is {_word(another)}"
        return f"{said}; {self._remedy(path, (value, another))}"

    def _remedy(self, path: Path, values: tuple[Any, Any]) -> str:
        times = [_observed(claim) for claim in (self.one, self.other)]
        if path[0] == "probes":
            more = ", and count both in its attempts" if _results(values) else ""
            if None in times or times[0] != times[1]:
                return f"keep the newer probe of the two{_which(self, times)}{more}"
            return f"both are of one time: find out which is true, and delete the other{more}"
        if None not in times and times[0] != times[1]:
            return f"keep the newer one{_which(self, times)}, and delete the other"
        return "find out which is true, and delete the other"


def _which(found: _Contradiction, times: Sequence[int | None]) -> str:
    one, other = times
    if one is None or other is None or one == other:
        return ""
    return f" ({(found.one if one > other else found.other)[0].url})"


def _results(values: Iterable[Any]) -> bool:
    """Whether these are two probes with the same answer."""
    results = {value.get("result") for value in values if isinstance(value, Mapping)}
    return len(results) == 1


def _observed(claim: Claim) -> int | None:
    """When the entry was observed that a claim lies in; None where such an entry has no time of its own."""
    document, path, _ = claim
    entry: Any = document.value
    if path[0] not in {*_DATED, "probes", "owners", "fleet"}:
        return None
    for token in path[:1] if path[0] == "fleet" else path[:2]:
        entry = entry[token]
    return parse_time(entry.get("observedAt") or document.value["observedAt"])


def _is_word(path: Path, value: Any) -> bool:
    shown = path[-1] in _SHOWN or path[0] == "outbox"
    return shown and isinstance(value, str | int)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Merging:
    """Looks at what all documents say of one place at once, so that their order cannot count."""

    def __init__(self, documents: Sequence[Loaded]) -> None:
        self.documents = documents
        self.contradictions: list[_Contradiction] = []

    def join(self, path: Path, claims: Sequence[Claim]) -> Any:
        """What `claims`, all of the same place, say together; what contradicts is noted."""
        if path == ("owners",):
            return self._list(claims, _owner, ("state",))
        if path == ("fleet", "breakers"):
            return self._list(claims, _breaker, ("state", "until", "trialRunId"))
        values = {canonical(value): value for _, _, value in claims}
        if len(values) == 1:
            return claims[0][2]
        if path[-1:] == ("observedAt",) and (len(path) == 1 or path[0] in {*_DATED, "fleet"}):
            return min(values.values(), key=lambda text: (parse_time(text), text))
        if path == ("schemaVersion",):
            return max(values.values(), key=lambda text: (Version.parse(text), text))
        if path in _UNITED:
            return sorted({item for value in values.values() for item in value})
        if self._is_map(path):
            names = sorted({name for value in values.values() for name in value})
            return {
                name: self.join(
                    (*path, name), [(d, (*p, name), value[name]) for d, p, value in claims if name in value]
                )
                for name in names
            }
        self._note(path, claims)
        return claims[0][2]

    @staticmethod
    def _is_map(path: Path) -> bool:
        return not path or (len(path) == 1 and path[0] in _BY_KEY) or (len(path) == 2 and path[0] in _DATED)

    def _note(self, path: Path, claims: Sequence[Claim]) -> None:
        """The first two claims that differ; of two entries, the member in which they do."""
        one = claims[0]
        other = next(c for c in claims if canonical(c[2]) != canonical(one[2]))
        if isinstance(one[2], Mapping) and isinstance(other[2], Mapping):
            names = [n for n in one[2] if n in other[2] and canonical(one[2][n]) != canonical(other[2][n])]
            # where the answers agree, it is the two entries as wholes that do not
            for name in (n for n in names if n in _SHOWN):
                one, other = ((d, (*path, name), value[name]) for d, _, value in (one, other))
                break
        self.contradictions.append(_Contradiction(one, other))

    def _list(self, claims: Sequence[Claim], name_of: Any, members: Sequence[str]) -> list[Any]:
        """All entries of all lists, each once; entries of one name must agree in `members`."""
        entries: dict[bytes, Any] = {}
        said: dict[Any, Claim] = {}
        for document, path, items in claims:
            for index, item in enumerate(items):
                entries[canonical(item)] = item
                one = said.setdefault(name_of(item), (document, (*path, index), item))
                for member in members:
                    if one[2].get(member) != item.get(member):
                        pair = (one, (document, (*path, index), item))
                        first, second = ((d, (*p, member), value.get(member)) for d, p, value in pair)
                        self.contradictions.append(_Contradiction(first, second))
                        break
        return [entries[key] for key in sorted(entries)]


def _owner(owner: Mapping[str, Any]) -> Any:
    """An epoch tells owners apart; a holder's name only where there is none."""
    epoch = owner.get("leaseEpoch")
    return epoch if epoch is not None else (owner.get("holder"),)


def _breaker(breaker: Mapping[str, Any]) -> Any:
    return tuple(breaker.get(name) for name in ("workflow", "codeDigest", "failureSignature"))
