"""Damage for a share of a corpus's records: of bytes, of structure, of the chain, of what the ledger says.

Decided here: the kinds of damage, which record each of them can be done to, and the code of the finding that must
name it. Each is chosen so that it shows alone: a record whose loss would accuse its neighbours is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.story import Story

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Damage:
    """One kind of damage to one record."""

    name: str
    code: str
    """Of the finding."""
    fits: Callable[[Story, int], bool]
    """Whether the record at this index of the journal can have it."""
    value: Callable[[Value], Value] | None = None
    """Applied before the record is stored: the digests that follow are of what is stored, so the chain holds."""
    data: Callable[[bytes], bytes] | None = None
    """Applied to the stored bytes, which are then chained as they are."""
    unwritten: bool = False
    """The record is chained, and not stored."""
    layouts: tuple[str, ...] = ("objects", "lines")


@dataclass(frozen=True, slots=True)
class Planted:
    """Damage that was done."""

    name: str
    code: str
    run_id: str
    sequence: int
    """Of the record that the finding must accuse."""
    line: int
    """Where that record lies, if the journal is lines."""


def _kind(story: Story, index: int, kind: str) -> bool:
    return index < len(story.journal) and story.journal[index]["recordType"] == kind


def _a_checkpoint(story: Story, index: int) -> bool:
    return _kind(story, index, "checkpoint")


def _a_later_checkpoint(story: Story, index: int) -> bool:
    return _a_checkpoint(story, index) and story.journal[index]["checkpointId"] > "cp-02"


def _the_last_checkpoint(story: Story, index: int) -> bool:
    return _a_checkpoint(story, index) and story.journal[index]["checkpointId"] == "cp-10"


def _a_read_done(story: Story, index: int) -> bool:
    """A committed read that no checkpoint counts up to: nothing leans on it."""
    record = story.journal[index]
    done = record["recordType"] == "ledger" and record["status"] == "committed"
    return done and record["idempotencyKey"] is None and _kind(story, index + 1, "ledger")


def _expendable(story: Story, index: int) -> bool:
    return _a_checkpoint(story, index) or _a_read_done(story, index)


def _an_effect_begun(story: Story, index: int) -> bool:
    """The first record of a keyed effect, an attempt."""
    record = story.journal[index]
    return (
        record.get("status") == "attempting" and bool(record.get("idempotencyKey")) and "declares" in record
    )


def _an_effect_done(story: Story, index: int) -> bool:
    record = story.journal[index]
    return (
        record["recordType"] == "ledger"
        and record["status"] == "committed"
        and bool(record["idempotencyKey"])
    )


def _a_refusal(story: Story, index: int) -> bool:
    return _kind(story, index, "ledger") and story.journal[index]["status"] == "failed"


def _after_a_write(story: Story, index: int) -> bool:
    return _a_checkpoint(story, index) and story.journal[index]["sideEffectStatus"]["writePerformed"]


def _a_use(story: Story, index: int) -> bool:
    """Of an approval."""
    return _kind(story, index, "approval") and story.journal[index]["event"] == "consumed"


def _not_the_first(story: Story, index: int) -> bool:
    return index > 0 and story.journal[index]["leaseEpoch"] > 0


def _with(**members: Any) -> Callable[[Value], Value]:
    return lambda value: {**value, **members}


def _without(name: str) -> Callable[[Value], Value]:
    return lambda value: {member: kept for member, kept in value.items() if member != name}


def _replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new, 1)


def _inside(name: str, change: Callable[[Any], Any]) -> Callable[[Value], Value]:
    return lambda value: {**value, name: change(value[name])}


def _no_write(said: Value) -> Value:
    return {**said, "writePerformed": False}


_NO_DIGEST = "sha256:" + "0" * 64

DAMAGES: tuple[Damage, ...] = (
    # bytes
    Damage(
        "byte order mark",
        "SP101",
        _expendable,
        data=lambda data: b"\xef\xbb\xbf" + data,
        layouts=("objects",),
    ),
    Damage("bad UTF-8", "SP102", _expendable, data=_replaced(b'"stepName":"', b'"stepName":"\xff')),
    Damage("single quotes", "SP103", _expendable, data=_replaced(b'"schemaVersion"', b"'schemaVersion'")),
    Damage(
        "name twice", "SP104", _expendable, data=_replaced(b'{"recordType"', b'{"runId":"run-1","recordType"')
    ),
    Damage("NaN", "SP105", _expendable, data=_replaced(b'"leaseEpoch":', b'"leaseEpoch":NaN,"x-was":')),
    Damage("1e400", "SP106", _expendable, data=_replaced(b'"leaseEpoch":', b'"leaseEpoch":1e400,"x-was":')),
    Damage(
        "integer too large",
        "SP107",
        _expendable,
        data=_replaced(b'"leaseEpoch":', b'"leaseEpoch":9007199254740993,"x-was":'),
    ),
    Damage(
        "half a surrogate pair", "SP108", _expendable, data=_replaced(b'"stepName":"', b'"stepName":"\\ud83d')
    ),
    Damage("empty file", "SP111", _expendable, data=lambda _: b"", layouts=("objects",)),
    Damage(
        "raw control character", "SP112", _expendable, data=_replaced(b'"stepName":"', b'"stepName":"\x01')
    ),
    Damage("torn line", "SP114", _expendable, data=lambda data: data[: len(data) // 2], layouts=("lines",)),
    Damage(
        "torn object", "SP103", _expendable, data=lambda data: data[: len(data) // 2], layouts=("objects",)
    ),
    Damage("text behind", "SP117", _expendable, data=lambda data: data + b"]", layouts=("objects",)),
    Damage("carriage return", "SP115", _expendable, data=lambda data: data + b"\r", layouts=("lines",)),
    # structure
    Damage("wrong type", "SP201", _expendable, _with(stepName=7)),
    Damage(
        "wrong type inside",
        "SP201",
        _a_checkpoint,
        _inside("usage", lambda usage: {**usage, "tokens": "many"}),
    ),
    Damage("missing member", "SP202", _expendable, _without("stepName")),
    Damage("misspelt member", "SP203", _a_checkpoint, _with(stateSnapShot={})),
    Damage("bad id", "SP206", _a_read_done, _inside("actionId", lambda name: f"{name}\n")),
    Damage("no such day", "SP207", _expendable, _with(createdAt="2026-02-30T10:00:00Z")),
    Damage("bad digest", "SP208", _a_checkpoint, _with(guardHash="sha256:abc")),
    Damage("unknown status", "SP209", _a_read_done, _with(status="done")),
    Damage(
        "negative count", "SP210", _a_checkpoint, _inside("usage", lambda usage: {**usage, "attempts": -1})
    ),
    Damage("unknown kind", "SP213", _expendable, _with(recordType="note")),
    Damage("no version", "SP214", _expendable, _without("schemaVersion")),
    Damage("newer version", "SP216", _expendable, _with(schemaVersion="v4")),
    Damage("no owner", "SP222", _expendable, _with(leaseEpoch=0)),
    Damage("no evidence", "SP223", _a_read_done, _without("evidence")),
    Damage("item twice", "SP226", _a_checkpoint, _inside("artifactRefs", lambda refs: refs * 2)),
    Damage("bad payload schema", "SP228", _a_checkpoint, _with(payloadSchema="Agent State")),
    Damage("bad nonce", "SP229", _expendable, _with(nonce="12")),
    # the journal
    Damage("gap", "SP301", _a_read_done, unwritten=True),
    Damage("broken chain", "SP303", _not_the_first, _with(previousDigest=_NO_DIGEST)),
    Damage("another writer", "SP306", _expendable, _with(nonce="0" * 31 + "1")),
    # the ledger
    Damage("not planned", "SP401", _a_read_done, _with(status="cancelled")),
    Damage("key changed", "SP403", _an_effect_done, _inside("idempotencyKey", lambda key: f"{key}/2")),
    Damage(
        "failed by a timeout",
        "SP405",
        _a_refusal,
        _inside("error", lambda error: {**error, "class": "read_timeout"}),
    ),
    Damage("undeclared", "SP409", _an_effect_begun, _without("declares")),
    # approvals and checkpoints
    Damage("approved something else", "SP505", _a_use, _with(contentDigest=_NO_DIGEST)),
    Damage("unknown parent", "SP308", _a_checkpoint, _with(parentCheckpointId="cp-99")),
    Damage("undeclared fork", "SP310", _a_later_checkpoint, _with(parentCheckpointId="cp-01")),
    Damage("id used twice", "SP311", _the_last_checkpoint, _with(checkpointId="cp-01")),
    Damage("ahead of the ledger", "SP501", _a_checkpoint, _with(lastLedgerSequence=9999)),
    Damage("write denied", "SP502", _after_a_write, _inside("sideEffectStatus", _no_write)),
    Damage(
        "counter went back",
        "SP503",
        _the_last_checkpoint,
        _inside("usage", lambda usage: {**usage, "tokens": 1}),
    ),
    Damage("guard hash", "SP509", _a_checkpoint, _with(guardHash=_NO_DIGEST)),
)


@dataclass(slots=True)
class Planter:
    """Damages the share `faulty` of all records that it sees go by, at most one in each run; all kinds in turn."""

    seed: int
    faulty: float
    layout: str
    planted: list[Planted] = field(default_factory=list)
    _seen: int = 0
    _due: list[Damage] = field(default_factory=list)

    def plant(self, story: Story, number: int) -> tuple[int, Damage] | None:
        """What is to be done to which record of the journal; a damage of values is done at once."""
        self._seen += len(story.journal) + len(story.recovery) + (story.heartbeat is not None)
        if round(self._seen * self.faulty) <= len(self.planted):
            return None
        if not self._due:
            self._due = [damage for damage in DAMAGES if self.layout in damage.layouts]
        fitting = ((damage, _places(damage, story)) for damage in self._due)
        damage, places = next(((damage, places) for damage, places in fitting if places), (None, []))
        if damage is None:
            return None  # what is due waits for a run that it can be done to
        self._due.remove(damage)
        # the same place in both layouts
        index = Random(f"{self.seed}/{number}/{damage.name}").choice(places)  # noqa: S311 - reproducible on purpose
        record = story.journal[index]
        accused = record["sequence"] + damage.unwritten
        self.planted.append(Planted(damage.name, damage.code, story.run_id, accused, index + 1))
        if damage.value:
            story.journal[index] = damage.value(record)
        return index, damage


def _places(damage: Damage, story: Story) -> list[int]:
    return [index for index in range(len(story.journal)) if damage.fits(story, index)]
