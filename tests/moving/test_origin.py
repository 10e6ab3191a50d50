"""What lies beside a copied run: heads that come out the same in whatever order records are met, and sound bytes."""

from __future__ import annotations

import json
import random

import pytest
from questions import started

from safepoint import schemas
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.kind import recognise
from safepoint.core.strictjson import LIMITS
from safepoint.moving import origin as module
from safepoint.moving.origin import Heads, origin_document, seal_document

DIGEST = "sha256:" + "a" * 64


def recovered() -> list[tuple[str, int | None, bytes]]:
    journal = started().recover(300, "detected", trigger="operator").recover(301, "assessing")
    values = [*journal.values, *journal.recovery]
    return [(value["recordType"], value["sequence"], encode_record(value)) for value in values]


def fed(records: list[tuple[str, int | None, bytes]]) -> Heads:
    heads = Heads()
    for kind, sequence, data in records:
        heads.add(kind, sequence, data)
    return heads


def document(heads: Heads, **members: str) -> bytes:
    given = {"source": "/data/store", "tool": "safepoint 0.1.0", **members}
    return origin_document("run-1", before=heads, after=heads, **given)


def test_each_log_has_the_head_of_its_newest_record() -> None:
    records = recovered()
    heads = fed(records)
    assert heads.member(listed=True) == {
        "journal": {"sequence": 3, "digest": digest_stored(records[2][2])},
        "recovery": {"sequence": 2, "digest": digest_stored(records[4][2])},
    }
    assert heads.journal == (3, digest_stored(records[2][2]))
    assert Heads().journal is None


def test_order_and_repetition_change_nothing() -> None:
    records = [*recovered(), ("ledger", None, b"{}"), ("run", 3, b'{"another":3}'), ("ledger", None, b"{}\n")]
    expected = document(fed(records))
    for seed in range(10):
        mixed = [*records, *records]
        random.Random(seed).shuffle(mixed)
        assert document(fed(mixed)) == expected


def test_what_has_no_place_in_a_log_is_passed_over() -> None:
    others = [(kind, 1, b"{}") for kind in ("heartbeat", "store", "deleted", "origin", "seal", "anchor")]
    assert fed(others).member(listed=True) == {}


def test_a_digest_that_is_at_hand_is_taken() -> None:
    heads = Heads()
    heads.add("run", 1, b"", digest=DIGEST)
    assert heads.journal == (1, DIGEST)


def test_records_without_a_number_are_listed_in_the_copy_and_counted_in_the_source() -> None:
    heads = fed([("checkpoint", None, b"1"), ("ledger", None, b"2"), ("recovery", None, b"3")])
    heads.add_unread()
    found = json.loads(document(heads))
    assert found["heads"] == {
        "records": sorted(digest_stored(data) for data in (b"1", b"2", b"3")),
        "unread": 1,
    }
    assert found["from"]["counted"]["count"] == 3
    assert found["from"].keys() == {"counted", "unread"}


def test_too_many_of_them_to_name_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LISTED", 2)
    heads = fed([("checkpoint", None, data) for data in (b"1", b"2", b"3")])
    assert heads.member(listed=True) == heads.member(listed=False)


def test_the_longest_list_still_fits_into_a_text_that_is_read() -> None:
    assert module.MOST_LISTED * (len(DIGEST) + 3) < LIMITS.size


@pytest.mark.parametrize(
    "data",
    [
        document(fed(recovered())),
        document(Heads()),
        seal_document("run-1", source="/data/store", sealed=(5, DIGEST), after=(3, DIGEST)),
    ],
    ids=["origin", "nothing copied", "seal"],
)
def test_the_documents_fit_the_format(data: bytes) -> None:
    value = json.loads(data)
    identity, faults = recognise(value)
    assert identity is not None
    assert not faults
    assert not list(schemas.check(identity, value))
