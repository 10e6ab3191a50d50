"""Damages of logs: numbers, digests and names, records that are missing, doubled or in another order.

Decided here: also when a log is numbered and chained anew, so that a broken digest is not all that gives a damage away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from damage.of_meaning import EARLY, LATE, OTHER_NONCE, PROOFS, of_meaning
from damage.store import Damage, Files, Good, Log, Text, Wanted, encode, link, rewrite, write

Damages = Iterator[Damage]


def of_a_chain(good: Good, log: Log) -> Damages:
    """Numbers, digests and places of objects; nothing is chained anew."""
    texts = log.texts
    for at, text in enumerate(texts):
        number = text.value["sequence"]

        def without_chaining(changed: Text, at: int = at) -> Files:
            return write(good.files, log, [*texts[:at], changed, *texts[at + 1 :]])

        digest = text.value["previousDigest"]
        if digest:
            flipped = digest[:-1] + ("0" if digest[-1] != "0" else "1")
            yield (
                "digest of the one before changed",
                text,
                "",
                without_chaining(text.with_members(previousDigest=flipped)),
            )
        copied = any(other is not text and other.data == text.data for other in good.texts)
        if at + 1 < len(texts) and not copied:  # of a cut tail nothing is left that could tell
            yield "record lost", text, "", write(good.files, log, [*texts[:at], *texts[at + 1 :]])
        for kind, other in (
            ("number higher", number + 1),
            ("number of the first", 1),
            ("number far off", 10**11),
        ):
            # under another name it would take the next one's place, and a copy its own
            if other != number and not (copied and log.objects):
                yield kind, text, "", without_chaining(text.with_members(sequence=other))
        if at + 1 < len(texts):
            after = texts[at + 1]
            pair = [text.with_members(sequence=number + 1), after.with_members(sequence=number)]
            yield (
                "two numbers swapped",
                text,
                "",
                write(good.files, log, [*texts[:at], *pair, *texts[at + 2 :]]),
            )
        other = text.with_members(createdAt=EARLY)
        if log.objects:
            yield from _of_an_object(good, log, text, other)
        else:
            yield "number twice", text, "", _beside(good, text, other.data)


def _beside(good: Good, text: Text, data: bytes) -> Files:
    """The lines with one more behind them."""
    return {**good.files, text.key: good.files[text.key].removesuffix(b"\n") + b"\n" + data + b"\n"}


def _of_an_object(good: Good, log: Log, text: Text, other: Text) -> Damages:
    rest = {key: data for key, data in good.files.items() if key != text.key}
    number, run = text.value["sequence"], log.folder.rpartition("/")[0]
    for kind, key in (
        ("name of another number", f"{log.folder}/{number + 50:010}.json"),
        ("name without zeros", f"{log.folder}/{number}.json"),
        ("name of eleven digits", f"{log.folder}/{number:011}.json"),
        ("name with another ending", f"{log.folder}/{number:010}.JSON"),
        ("name of a backup", f"{log.folder}/{number:010}.json.bak"),
        (
            "in the other log's folder",
            f"{run}/{'journal' if log.name == 'recovery' else 'recovery'}/{number:010}.json",
        ),
        ("in the folder of heartbeats", f"{run}/heartbeat/{number:010}.json"),
        ("one folder up", f"{run}/{number:010}.json"),
        ("in another run's folder", f"{run}2/{log.name}/{number:010}.json"),
        ("in a folder that names no run", f"{run.rpartition('/')[0]}/=41/{log.name}/{number:010}.json"),
        ("outside of the runs", f"{run.rpartition('/')[0].rpartition('/')[0]}/{number:010}.json".lstrip("/")),
        ("in a folder below", f"{log.folder}/old/{number:010}.json"),
    ):
        yield kind, text, "", rest | {key: text.data}
    again = f"{log.folder}/{len(log.texts) + 1:010}.json"
    yield "again under the next number", text, "", {**good.files, again: text.data}
    yield "number twice", text, "", {**good.files, f"{log.folder}/{number:010}x.json": other.data}
    yield "number twice, in lines", text, "", {**good.files, f"{run}/journal.jsonl": other.data + b"\n"}
    yield (
        "copy under a foreign name",
        text,
        "",
        {**good.files, f"{log.folder}/copy of {number}.json": text.data},
    )


def _chained(good: Good, log: Log, texts: Sequence[Text], start: int = 0) -> Files:
    return write(good.files, log, link(texts, start=start, renumber=True))


def of_an_order(good: Good, log: Log) -> Damages:
    """Records that are missing, doubled or in another order, in a log that is chained as if all were well."""
    texts = log.texts
    for at, text in enumerate(texts):
        if _needed(log, text):
            yield "never written", text, "", _chained(good, log, [*texts[:at], *texts[at + 1 :]], at)
        yield "written twice", text, "", _chained(good, log, [*texts[: at + 1], *texts[at:]], at + 1)
        yield "written again at the end", text, "", _chained(good, log, [*texts, text], len(texts))
        if at + 1 < len(texts):
            pair = [texts[at + 1], text]
            yield (
                "two in the other order",
                text,
                f"before {texts[at + 1].name}",
                _chained(good, log, [*texts[:at], *pair, *texts[at + 2 :]], at),
            )
            yield "moved to the end", text, "", _chained(good, log, [*texts[:at], *texts[at + 1 :], text], at)
        if at:
            yield (
                "moved to the beginning",
                text,
                "",
                _chained(good, log, [text, *texts[:at], *texts[at + 1 :]]),
            )
        loose = text.without("sequence", "previousDigest", "nonce", "leaseEpoch")
        if not log.objects:
            rest = link([*texts[:at], *texts[at + 1 :]], start=at, renumber=True)
            files = write(good.files, log, rest)
            yield "numbers forgotten", text, "", {
                **files, text.key: files[text.key].removesuffix(b"\n") + b"\n" + loose.data + b"\n"
            }  # fmt: skip
    yield from _behind_the_end(good, log)


def _needed(log: Log, text: Text) -> bool:
    """Whether another record makes no sense without this one."""
    value, kind = text.value, text.value["recordType"]
    behind = [t.value for t in log.texts if t.value["sequence"] > value["sequence"]]
    if kind == "checkpoint":
        own = value["checkpointId"]
        return any(
            own in {v.get("parentCheckpointId"), (v.get("forkFrom") or {}).get("checkpointId")}
            for v in behind
        )
    if kind == "lease":
        return value["event"] == "claimed" and any(v.get("event") == "claimed" for v in behind)
    if kind == "recovery":
        return any(v["episodeId"] == value["episodeId"] for v in behind)
    same = [v for v in behind for m in ("actionId", "approvalId") if m in value and v.get(m) == value[m]]
    follow = {v.get("status", v.get("event")) for v in same if v["recordType"] == kind}
    needs = {
        "attempting": {"committed", "failed", "prepared", "inDoubt"},
        "committed": {"compensating"},
        "compensating": {"compensated", "compensationFailed"},
        "requested": {"granted", "rejected"},
        "granted": {"consumed", "revoked"},
    }
    return bool(follow & needs.get(value.get("status", value.get("event")), set())) or value["sequence"] == 1


def _behind_the_end(good: Good, log: Log) -> Damages:
    texts = log.texts
    for status in ("completed", "cancelled", "sealed"):
        for at in range(2, len(texts)):
            if log.name == "journal" and texts[at - 1].value["leaseEpoch"]:
                ended = texts[at - 1].changed(
                    {
                        **{
                            m: texts[at - 1].value[m]
                            for m in ("schemaVersion", "runId", "createdAt", "nonce", "leaseEpoch")
                        },
                        "recordType": "run",
                        "status": status,
                        **({"successor": PROOFS["successor"]} if status == "sealed" else {}),
                    }
                )
                files = _chained(good, log, [*texts[:at], ended, *texts[at:]], at)
                yield f"after {status}", texts[at], "", files


def of_other_objects(good: Good) -> Damages:
    """Heartbeats, the store's description, and artifacts."""
    for key in good.artifacts:
        data = good.files[key]
        rest = {name: item for name, item in good.files.items() if name != key}
        about = next(text for text in good.texts if text.name == "checkpoint")
        yield "artifact lost", about, "", rest
        for what, other in (
            ("artifact emptied", b""),
            ("artifact cut off", data[:-1]),
            ("artifact longer", data + b" "),
            ("artifact changed", bytes([data[0] ^ 1]) + data[1:]),
        ):
            yield what, about, "", {**rest, key: other}
    for text in good.texts:
        kind = text.value.get("recordType") if isinstance(text.value, dict) else None
        if kind == "heartbeat":
            for what, members in (
                ("beat of another epoch", {"leaseEpoch": text.value["leaseEpoch"] + 1}),
                ("beat of another writer", {"nonce": OTHER_NONCE}),
                ("beat of another run", {"runId": "another-run"}),
                ("beat from the future", {"beatAt": LATE}),
            ):
                yield what, text, "", rewrite(good, text, encode({**text.value, **members}))
        elif kind == "store" and text.key.endswith("safepoint.json"):
            for what, members in (
                ("layout of a newer version", {"layout": 2}),
                ("feature that nobody knows", {"features": ["sharding"]}),
            ):
                yield what, text, "", rewrite(good, text, encode({**text.value, **members}))


def damages(good: Good, wanted: Wanted) -> Damages:
    """All of them."""
    for damage in chain(
        *(of_a_chain(good, log) for log in good.logs),
        *(of_an_order(good, log) for log in good.logs),
        *(of_meaning(good, log) for log in good.logs),
        of_other_objects(good),
    ):
        if wanted(*damage[:3]):
            yield damage
