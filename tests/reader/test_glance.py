"""The fast way says yes only where the slow way finds nothing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest
from journals import Journal

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.finding import Finding
from safepoint.core.strictjson import LIMITS
from safepoint.reader.glance import Sight, is_sound

ROOT = Path(__file__).parents[2]
SCAN: Any = import_module("safepoint.reader.scan")


def sound_journal() -> Journal:
    journal = Journal().begin()
    journal.checkpoint(2, "cp-1", stateSnapshot={"text": "Grüße"})
    journal.ledger(3, "attempting").ledger(4, "committed")
    journal.checkpoint(5, "cp-2", reason="afterEffect")
    return journal.add("run", 6, epoch=1, status="completed")


def texts(journal: Journal) -> list[bytes]:
    return [encode_record(value) for value in journal.values]


def chained(parts: list[bytes]) -> list[bytes]:
    """`parts` with each one's previousDigest, written as PREVIOUS, filled in."""
    for index in range(1, len(parts)):
        parts[index] = parts[index].replace(b"PREVIOUS", digest_stored(parts[index - 1]).encode())
    return parts


def slowly(source: str, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    with monkeypatch.context() as patch:
        patch.setattr(SCAN, "look", lambda *_: Sight([], [], set()))
        return list(safepoint.validate(source))


def test_a_sound_run_is_seen_at_a_glance() -> None:
    assert is_sound("run-1", texts(sound_journal()))


def test_a_run_of_another_name_or_without_records_is_not() -> None:
    assert not is_sound("run-2", texts(sound_journal()))
    assert not is_sound("run-1", [])


@pytest.mark.parametrize("index", range(7))
def test_each_record_counts(index: int) -> None:
    whole = texts(sound_journal())
    assert not is_sound("run-1", whole[:index] + whole[index + 1 :]) or index == len(whole) - 1
    assert not is_sound("run-1", [*whole[:index], whole[index] + b" ", *whole[index + 1 :]])
    assert not is_sound("run-1", [*whole[:index], whole[index][:-1], *whole[index + 1 :]])


def test_a_doubled_name_is_never_sound_although_the_parser_lets_it_pass() -> None:
    whole = texts(sound_journal())
    whole[-1] = whole[-1].replace(b'"status"', b'"status":"failed","status"')
    assert orjson.loads(whole[-1])["status"] == "completed"
    assert not is_sound("run-1", whole)


@pytest.mark.parametrize(("depth", "sound"), [(LIMITS.depth, True), (LIMITS.depth + 1, False)])
def test_the_limit_of_depth_is_the_same_as_that_of_the_slow_way(depth: int, sound: bool) -> None:
    nested: Any = 1
    for _ in range(depth - 1):
        nested = [nested]
    journal = Journal().begin()
    journal.checkpoint(2, "cp-1")
    journal.values[-1]["stateSnapshot"] = nested
    parts = [orjson.dumps(value) for value in journal.values]
    assert is_sound("run-1", parts) is sound
    assert bool(list(safepoint.validate(b"\n".join(parts)))) is not sound


def test_texts_that_are_records_only_when_joined_are_not_sound() -> None:
    """The two damaged texts, with a comma between them, are an array of two records whose chain is in order."""
    journal = sound_journal()
    whole = [orjson.dumps({**value, "previousDigest": "PREVIOUS"}) for value in journal.values]
    whole[0] = orjson.dumps(journal.values[0])
    last = whole[-1][1:-1]
    joined = chained([*whole[:-2], whole[-2] + b',{"x-list":[{}', b"{}]," + last + b"}"])
    assert len(orjson.loads(b"[" + b",".join(joined) + b"]")) == len(joined)
    assert not is_sound("run-1", joined)


def test_an_unknown_kind_or_word_is_not_sound_and_costs_nothing() -> None:
    journal = sound_journal()
    for member, odd in (("recordType", "note"), ("recordType", []), ("status", "done"), ("status", {})):
        values = [dict(value) for value in journal.values]
        values[-1][member] = odd
        assert not is_sound("run-1", [orjson.dumps(value) for value in values])


def journals() -> list[Path]:
    stores = {path.parents[3] for path in (ROOT / "fixtures").glob("*/*/store/runs/*/journal/*.json")}
    stores |= {path.parents[2] for path in (ROOT / "fixtures").glob("*/*/store/runs/*/journal.jsonl")}
    return sorted(stores)


@pytest.mark.parametrize("store", journals(), ids=lambda path: path.parent.name)
def test_both_ways_say_the_same_of_every_fixture(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(safepoint.validate(store)) == slowly(str(store), monkeypatch)


DECLARES = {"effect": "message", "idempotency": "none", "probe": "none", "reversibility": "irreversible"}


def begun() -> Journal:
    return Journal().begin().checkpoint(2, "cp-1")


def unusual_journals() -> dict[str, Journal]:
    """Each is sound but for one thing that only the slow way names."""
    fenced = begun().ledger(3, "attempting").claim(4, purpose="run")
    failed = {"class": "refused", "message": None, "retryable": False, "sent": "no"}
    early = {"number": 1, "startedAt": "2026-05-07T10:00:03Z", "deadline": "2026-05-07T10:00:01Z"}
    old = {"kind": "response", "ref": None, "by": None, "observedAt": "2026-05-07T09:00:00Z"}
    here = {"runId": "run-1", "uri": "."}
    outside = {
        "artifactId": "a",
        "uri": "../../../etc/passwd",
        "digest": None,
        "size": None,
        "mediaType": None,
    }
    return {
        "SP401": fenced.ledger(5, "failed", error=failed),
        "SP420": begun().ledger(3, "planned", attempt=early),
        "SP421": begun().ledger(3, "attempting", evidence=old),
        "SP323": begun().add("run", 3, epoch=1, status="completed", successor=here),
        "SP006": begun().ledger(3, "attempting").ledger(4, "committed", resultRef=outside),
    }


@pytest.mark.parametrize("code", sorted(unusual_journals()))
def test_what_is_unusual_is_left_to_the_slow_way(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unusual_journals()[code].write(tmp_path)
    found = list(safepoint.validate(tmp_path))
    assert code in [finding.code for finding in found]
    assert found == slowly(str(tmp_path), monkeypatch)
