"""A journal's bytes to "certainly sound", or "not certain": the fast way that most runs of a store take.

Decided here: that the bytes are strict JSON and fit their schemas, for all records of a run at once.
Not decided here: what is wrong where this is not certain (``texts``, the slow way), nor the records' meaning
(``model.ordinary``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import orjson

from safepoint import schemas
from safepoint.core.kind import Identity
from safepoint.core.strictjson import LIMITS
from safepoint.core.version import V3
from safepoint.model.ordinary import is_ordinary
from safepoint.reader.texts import ELSEWHERE, leads_outside
from safepoint.schemas.special import WORDS

_DEEP = 2048
"""Levels that are tried to find out how many orjson writes."""


def is_sound(run_id: str, texts: Sequence[bytes]) -> bool:
    """Whether `texts`, the whole journal of a run in its order, certainly have no fault.

    Args:
        run_id: the run that the records must name.
        texts: the stored bytes of each record, without line feeds behind them.
    """
    if ".." in run_id:
        return False
    try:
        values = [orjson.loads(text) for text in texts]
    except ValueError:
        return False
    if not values or not _is_strict(values, texts) or not _fit(run_id, values):
        return False
    digests = ["sha256:" + sha256(text).hexdigest() for text in texts]
    return is_ordinary(values, digests)


def _is_strict(values: list[Any], texts: Sequence[bytes]) -> bool:
    """Whether no name is doubled, no number is odd, and nothing is nested too deeply or too large.

    Each text is JSON by itself, so the array that they make together can only be read in one way: if it is what orjson
    writes for their values, then so is each of them.
    """
    if max(map(len, texts)) > LIMITS.size:
        return False
    nest = _nest()
    if nest is None:
        return False
    outermost, innermost, opening, closing = nest
    innermost[0] = values
    try:
        written = orjson.dumps(outermost, None, orjson.OPT_STRICT_INTEGER)
    except orjson.JSONEncodeError:
        return False
    finally:
        innermost[0] = None
    return written == b"%b[%b]%b" % (opening, b",".join(texts), closing)


@cache
def _nest() -> tuple[list[Any], list[Any], bytes, bytes] | None:
    """A list in a list in a list, so deep that orjson refuses to write more levels inside than a text may have.

    Returns:
        The outermost list, the innermost one, which has one place, and the brackets around what is in that place;
        None where orjson writes any depth.
    """
    # the first level that is refused, less one for the array of all texts
    levels = bisect_left(range(_DEEP), True, key=_refused) - 2 - LIMITS.depth  # noqa: FBT003 - what the key returns
    if not 0 < levels < _DEEP - LIMITS.depth - 1:
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


def _fit(run_id: str, values: list[Any]) -> bool:
    """Whether all are v3 records of that run's journal, and as their schemas want them."""
    groups: defaultdict[tuple[str, str | None], list[Any]] = defaultdict(list)
    try:
        for value in values[1:]:
            if value["runId"] != run_id or value["schemaVersion"] != "v3":
                return False
            kind = value["recordType"]
            groups[kind, value[WORDS[kind]] if kind in WORDS else None].append(value)
    except (KeyError, TypeError, IndexError):
        return False  # no object, without one of these members, or with an object for its kind
    first = values[0]
    if type(first) is not dict or first.get("runId") != run_id or first.get("schemaVersion") != "v3":
        return False
    return (
        first.get("recordType") == "run"
        and "requires" not in first
        and "sequence" in first
        and not any(schemas.check(Identity("run", V3), first))
        and all(schemas.all_valid(kind, word, group) for (kind, word), group in groups.items())
        and not any(map(_leads_outside, groups.get(("checkpoint", None), ())))
    )


def _leads_outside(checkpoint: dict[str, Any]) -> bool:
    for reference in checkpoint["artifactRefs"] or ():
        uri = reference["uri"]
        if uri is not None and not uri.startswith(ELSEWHERE) and leads_outside(uri):
            return True
    return False
