"""Damages of one member of one record: what a careless writer, an old library or an editing hand leaves behind.

The log behind the record is chained anew each time, so that the digests are right and only the member is wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from damage.store import Damage, Good, Text, Wanted, encode, rewrite

Path = tuple[str | int, ...]
Damages = Iterator[Damage]

MARK = "@@here@@"


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every member and element below `value`."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inside:
        yield (*path, step), item
        yield from places(item, (*path, step))


def pointer(path: Path) -> str:
    """The place for people: RFC 6901, with a dash for every element of a list."""
    return "".join("/-" if isinstance(step, int) else f"/{step}" for step in path)


def set_at(value: Any, path: Path, item: Any) -> Any:
    """A copy of `value` with `item` at `path`."""
    value = copy.deepcopy(value)
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = item
    return value


def drop_at(value: Any, path: Path, name: str | None = None) -> Any:
    """A copy of `value` without what lies at `path`; with `name` it lies under that name, in its old place."""
    value = copy.deepcopy(value)
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    if name is None:
        del holder[path[-1]]
    else:
        items = [(name if key == path[-1] else key, item) for key, item in holder.items()]
        holder.clear()
        holder.update(items)
    return value


def _is_time(item: Any) -> bool:
    return isinstance(item, str) and len(item) >= 20 and item[4:5] == "-" and item[10:11] == "T"


def _is_digest(item: Any) -> bool:
    return isinstance(item, str) and item.startswith("sha256:")


def _text(change: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda item: change(item) if isinstance(item, str) else item


def _number(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda item: change(item) if isinstance(item, int | float) and not isinstance(item, bool) else item


def _time(change: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda item: change(item) if _is_time(item) else item


def _digest(change: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda item: change(item) if _is_digest(item) else item


def _other_type(item: Any) -> Any:
    if isinstance(item, str | dict):
        return [item]
    if isinstance(item, list):
        return {"0": item}
    return {"value": item}


VALUES: dict[str, Callable[[Any], Any]] = {
    "null": lambda item: None,
    "other type": _other_type,
    "number as text": lambda item: str(item) if isinstance(item, int | float) else item,
    "text as number": _text(lambda item: 7),
    "true for a number": _number(lambda item: True),
    "number for a truth": lambda item: int(item) if isinstance(item, bool) else item,
    "text for a truth": lambda item: str(item).lower() if isinstance(item, bool) else item,
    "empty text": _text(lambda item: ""),
    "empty list": lambda item: [] if isinstance(item, list) else item,
    "empty object": lambda item: {} if isinstance(item, dict) else item,
    "object for null": lambda item: {"value": 1} if item is None else item,
    "text of 5000": _text(lambda item: "x" * 5000),
    "line feed at the end": _text(lambda item: item + "\n"),
    "space at the end": _text(lambda item: item + " "),
    "control character": _text(lambda item: item + "\x7f"),
    "upper case": _text(str.upper),
    "another text": _text(lambda item: "bogus"),
    "negative": _number(lambda item: -1 - abs(item)),
    "fraction": _number(lambda item: item + 0.5),
    "2^53": _number(lambda item: 2**53),
    "time with a space": _time(lambda item: item.replace("T", " ")),
    "time without a zone": _time(lambda item: item.rstrip("Z")),
    "time with an offset": _time(lambda item: item.replace("Z", "+02:00")),
    "time in lower case": _time(str.lower),
    "time of no day": _time(lambda item: item[:5] + "02-30" + item[10:]),
    "leap second": _time(lambda item: item[:17] + "60" + item[19:]),
    "time as a number": _time(lambda item: 1778148000),
    "ten digits of fraction": _time(lambda item: item.replace("Z", ".0123456789Z")),
    "digest in upper case": _digest(lambda item: "sha256:" + item[7:].upper()),
    "digest cut": _digest(lambda item: item[:-1]),
    "digest of another hash": _digest(lambda item: "md5:" + item[7:39]),
    "digest without its name": _digest(lambda item: item[7:]),
    "element twice": lambda item: [*item, item[-1]] if isinstance(item, list) and item else item,
    "element of another type": lambda item: [*item, 7] if isinstance(item, list) else item,
    "element null": lambda item: [*item, None] if isinstance(item, list) else item,
}
"""What becomes of a value. One that comes back as it was is no damage of that kind."""

TOKENS: dict[str, bytes] = {
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "1e400": b"1e400",
    "integer of 23 digits": b"12345678901234567890123",
    "leading zero": b"007",
    "lone surrogate": b'"abc\\ud83d"',
    "surrogate encoded": b'"abc\xed\xa0\xbd"',
    "raw tab": b'"a\tb"',
    "raw NUL": b'"a\0b"',
    "bad UTF-8": b'"\xe6\x87"',
    "overlong UTF-8": b'"\xc0\xaf"',
    "bad escape": b'"\\x41"',
    "no value": b"",
    "undefined": b"undefined",
    "Python's None": b"None",
    "200 levels deep": b"[" * 200 + b"]" * 200,
    "name twice": b'{"a":1,"a":1}',
    "name twice, once escaped": b'{"a":1,"\\u0061":2}',
    "hexadecimal": b"0x10",
    "comment": b"1/* one */",
}
"""What stands in the text instead of the value, and what no strict reader takes."""


def values(good: Good, text: Text, wanted: Wanted) -> Damages:
    """Every value of the record, changed in every way that applies."""
    for path, item in places(text.value):
        for kind, change in VALUES.items():
            other = change(item)
            changed = other != item or type(other) is not type(item)
            if changed and wanted(kind, text, pointer(path)):
                yield kind, text, pointer(path), rewrite(good, text, encode(set_at(text.value, path, other)))


def tokens(good: Good, text: Text, wanted: Wanted) -> Damages:
    """Every value of the record replaced by a text that is no value, or not one that may stand there."""
    for path, _ in places(text.value):
        with_mark = encode(set_at(text.value, path, MARK))
        for kind, token in TOKENS.items():
            if wanted(kind, text, pointer(path)):
                yield (
                    kind,
                    text,
                    pointer(path),
                    rewrite(good, text, with_mark.replace(f'"{MARK}"'.encode(), token)),
                )


def names(good: Good, text: Text, wanted: Wanted) -> Damages:
    """Every member lost, misspelt or given twice, and one added that nobody knows."""
    for path, item in [*places(text.value), ((), text.value)]:
        if path and isinstance(path[-1], str):
            for kind, other in _misspelt(path[-1]):
                if wanted(kind, text, pointer(path)):
                    value = drop_at(text.value, path, other)
                    yield kind, text, pointer(path), rewrite(good, text, encode(value))
            if wanted("member twice", text, pointer(path)):
                once = encode(path[-1]) + b":"
                twice = once + encode(item) + b"," + once
                data = encode(drop_at(text.value, path, MARK)).replace(f'"{MARK}":'.encode(), twice)
                yield "member twice", text, pointer(path), rewrite(good, text, data)
        if isinstance(item, dict):
            for kind, added in (("member added", "bogus"), ("type tag added", "__class__")):
                where = pointer((*path, added))
                if wanted(kind, text, where):
                    value = set_at(text.value, (*path, added), "os.system")
                    yield kind, text, where, rewrite(good, text, encode(value))


def _misspelt(name: str) -> Iterator[tuple[str, str | None]]:
    """Kinds, and what a member of that name is called then; None: it is not there."""
    yield "member lost", None
    for kind, other in (
        ("member misspelt", name + "s"),
        ("member in other case", name.upper() if name.islower() else name.lower()),
        ("member in snake case", "".join(f"_{c.lower()}" if c.isupper() else c for c in name)),
        ("member with a space", name + " "),
    ):
        if other != name:
            yield kind, other


KINDS = (
    "run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery", "heartbeat", "store",
    "deleted", "facts", "policy", "request", "decision", "report", "bogus", "Checkpoint",
)  # fmt: skip
VERSIONS = ("v1", "v2", "v4", "v3.", "v03", "3", "V3", "v3.0.1", "v0", "v9999999", "latest")


def identities(good: Good, text: Text, wanted: Wanted) -> Damages:
    """Another kind, another version, and demands that nobody knows."""
    changes: list[tuple[str, dict[str, Any]]] = []
    if "recordType" in text.value:
        changes += [
            (f"kind {kind}", {"recordType": kind}) for kind in KINDS if kind != text.value["recordType"]
        ]
        changes += [
            (f"requires.{whom}", {"requires": {whom: ["time-travel"]}}) for whom in ("read", "resume")
        ]
    changes += [
        (f"version {v}", {"schemaVersion": v}) for v in VERSIONS if v != text.value.get("schemaVersion")
    ]
    for kind, members in changes:
        if wanted(kind, text, ""):
            yield kind, text, "", rewrite(good, text, encode({**text.value, **members}))


def damages(good: Good, wanted: Wanted) -> Damages:
    """All of them."""
    for text in good.texts:
        if isinstance(text.value, dict):
            yield from values(good, text, wanted)
            yield from tokens(good, text, wanted)
            yield from names(good, text, wanted)
            yield from identities(good, text, wanted)
