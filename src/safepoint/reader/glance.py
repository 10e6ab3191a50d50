"""A journal's bytes to "certainly sound", or "not certain": the fast way that most records of a store take.

Decided here: which texts are strict JSON and fit their schemas, told for all records of a run at once.
Not decided here: what is wrong where this is not certain (``texts``, the slow way), nor the records' meaning
(``model.ordinary``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import orjson

from safepoint import schemas
from safepoint.core.kind import Identity
from safepoint.core.strictjson import LIMITS, is_compact
from safepoint.core.version import V3
from safepoint.model.ordinary import is_ordinary
from safepoint.reader.texts import Known, escaping
from safepoint.schemas.special import WORDS

_PLAIN_ID = re.compile(r"[ -~]{1,256}").fullmatch
"""What nearly every run is called, and the schemas let pass; the records of any other run are looked at one by one."""

_DEEP = 2048
"""Levels that are tried to find out how many orjson writes."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a journal."""

    values: list[Any]
    """Of each text; None where it is no JSON."""
    digests: list[str]
    """Of each text's bytes."""
    sound: set[int]
    """Indices of the texts that are certainly records without a fault of their own, each in its place in the chain."""

    @property
    def ordinary(self) -> bool:
        """Whether the whole run certainly has no fault."""
        return len(self.sound) == len(self.values) > 0 and is_ordinary(self.values, self.digests)

    def known(self) -> dict[int, Known]:
        """The texts that need not be read again, by their numbers from 1."""
        return {
            index + 1: Known(value, self.digests[index])
            for index in self.sound
            if not any(schemas.check_guard(value := self.values[index]))
        }


def is_sound(run_id: str, texts: Sequence[bytes]) -> bool:
    """Whether `texts`, the whole journal of a run in its order, certainly have no fault."""
    return look(run_id, texts).ordinary


def look(run_id: str, texts: Sequence[bytes]) -> Sight:
    """Look at the whole journal of a run.

    Args:
        run_id: the run that the records must name.
        texts: the stored bytes of each record in their order, without line feeds behind them.
    """
    values = [_parse(text) for text in texts]
    digests = ["sha256:" + sha256(text).hexdigest() for text in texts]
    if ".." in run_id or not _PLAIN_ID(run_id):
        return Sight(values, digests, set())
    sound = set(_strict(values, texts))
    sound.intersection_update(_fit(run_id, values, digests))
    return Sight(values, digests, sound)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _strict(values: list[Any], texts: Sequence[bytes]) -> Iterable[int]:
    """The indices of texts in which no name is doubled, no number is odd, and nothing too deep or too large.

    Each text is JSON by itself, so the array that they make together can only be read in one way: if it is what orjson
    writes for their values, then so is each of them.
    """
    nest = _nest()
    if nest is not None and None not in values and max(map(len, texts), default=0) <= LIMITS.size:
        outermost, innermost, opening, closing = nest
        innermost[0] = values
        try:
            written = orjson.dumps(outermost, None, orjson.OPT_STRICT_INTEGER)
        except orjson.JSONEncodeError:
            written = b""
        finally:
            innermost[0] = None
        if written == b"%b[%b]%b" % (opening, b",".join(texts), closing):
            return range(len(values))
    return (
        index for index, value in enumerate(values) if value is not None and is_compact(texts[index], value)
    )


@cache
def _nest() -> tuple[list[Any], list[Any], bytes, bytes] | None:
    """A list in a list in a list, so deep that orjson refuses to write more levels inside than a text may have.

    Returns:
        The outermost list, the innermost one, which has one place, and the brackets around what is in that place;
        None where orjson writes any depth.
    """
    # the first level that is refused, less one for the array of all texts
    levels = bisect_left(range(_DEEP), True, key=_refused) - 2 - LIMITS.depth  # noqa: FBT003 - what the key returns
    if not 0 < levels < _DEEP - LIMITS.depth - 2:
        return None
    outermost, innermost = _nested(levels)
    return outermost, innermost, b"[" * levels, b"]" * levels


def _nested(levels: int) -> tuple[list[Any], list[Any]]:
    innermost: list[Any] = [None]
    outermost = innermost
    for _ in range(levels - 1):
        outermost = [outermost]
    return outermost, innermost


def _refused(levels: int) -> bool:
    try:
        orjson.dumps(_nested(levels)[0])
    except orjson.JSONEncodeError:
        return True
    return False


def _fit(run_id: str, values: list[Any], digests: list[str]) -> set[int]:
    """The indices of v3 records of that run's journal, in their place in its chain and as their schemas want them."""
    groups: defaultdict[tuple[str, str | None], list[int]] = defaultdict(list)
    before: str | None = None
    for index, value in enumerate(values):
        try:
            number = value["sequence"]
            if (
                value["previousDigest"] == before
                and number == index + 1
                and type(number) is int
                and value["runId"] == run_id
                and value["schemaVersion"] == "v3"
            ):
                kind = value["recordType"]
                groups[kind, value[WORDS[kind]] if kind in WORDS else None].append(index)
        except (KeyError, TypeError, IndexError):
            pass  # no object, without one of these members, or with an object for its kind
        before = digests[index]
    sound: set[int] = set()
    for (kind, word), indices in groups.items():
        if indices[0] == 0:
            if (
                kind == "run"
                and "requires" not in values[0]
                and schemas.is_valid(Identity(kind, V3), values[0])
            ):
                sound.add(0)
            del indices[0]
        if not indices:
            continue
        if schemas.all_valid(kind, word, [values[index] for index in indices]):
            sound.update(indices)
        else:
            sound.update(index for index in indices if schemas.all_valid(kind, word, [values[index]]))
    named = (index for index in sound if values[index].get("artifactRefs") or values[index].get("resultRef"))
    return sound.difference([index for index in named if any(escaping(values[index]))])
