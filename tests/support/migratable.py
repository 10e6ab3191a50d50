"""Records to migrate: generated ones of every version, also with members named like residues, and the fixtures'.

Decided here: what a generated record may hold: all that its version's schema lets pass, and some that it does not;
whoever uses them filters by `is_valid`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from safepoint.core.jsonlines import parse_lines
from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.core.version import Version
from safepoint.schemas import check

FIXTURES = Path(__file__).parents[2] / "fixtures"
HARMLESS = {"SP204", "SP205", "SP218", "SP220"}
IDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abx-~/", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
OWN = st.dictionaries(st.sampled_from(["x-a", "x-team.note", "x-v9"]), VALUES, max_size=2)
UNKNOWN = st.dictionaries(
    st.sampled_from(["legacy", "x-Upper", "a/b~c", "", "x-", "retries"]), VALUES, max_size=2
)
RESIDUES = st.dictionaries(
    st.sampled_from(["x-v1", "x-v2", "x-v3"]),
    VALUES
    | st.fixed_dictionaries(
        {"schemaVersion": st.sampled_from(["v1", "v2", "v3", "v3.0", "v4", None, 7])},
        optional={
            "recordType": st.sampled_from(["checkpoint", "ledger"]),
            "x-v2": VALUES,
            "x-v3": st.fixed_dictionaries({"schemaVersion": st.just("v3")}, optional={"x-v2": VALUES}),
            "status": IDS,
            "createdAt": st.sampled_from(["9999-12-31T23:59:59-01:00", "2026-01-01T00:00:00+01:00", 5]),
            "artifactRefs": st.sampled_from([None, ["a"], 5, [{"artifactId": {}}]]),
            "sideEffectStatus": VALUES,
            "legacy": VALUES,
        },
    ),
    max_size=2,
)
TRUTH = st.sampled_from([True, False, None])
Z_TIMES = st.sampled_from(
    ["2026-05-07T10:00:00Z", "0001-01-01T00:00:00.5Z", "2024-02-29T23:59:59.000000001Z"]
)
TIMES = Z_TIMES | st.sampled_from(
    ["2026-05-07T12:00:00+02:00", "2026-05-07T10:00:00+00:00", "1970-01-01T00:00:00.25-23:59"]
)
V3_STATUSES = [
    *("planned", "attempting", "inDoubt", "prepared", "committed", "failed", "compensating"),
    *("compensated", "compensationFailed", "cancelled", "abandoned"),
]
STATUSES = st.sampled_from([*V3_STATUSES, "pending", "started", "done?", "Committed"]) | IDS
DIGESTS = st.just("sha256:" + "0a" * 32)


def effects(extra: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    plain = st.fixed_dictionaries({"writePerformed": TRUTH, "externalMessageSent": TRUTH})
    return st.builds(lambda one, two: {**two, **one}, plain, extra)


def record(
    needed: dict[str, st.SearchStrategy[Any]],
    optional: dict[str, st.SearchStrategy[Any]],
    *more: st.SearchStrategy[dict[str, Any]],
) -> st.SearchStrategy[dict[str, Any]]:
    core = st.fixed_dictionaries(needed, optional=optional)
    parts = st.tuples(OWN, RESIDUES, *more)
    return st.builds(lambda own, rest: {k: v for part in (*rest, own) for k, v in part.items()}, core, parts)


CHECKPOINT = {"checkpointId": IDS, "runId": IDS, "state": IDS, "stepName": IDS}
LEDGER = {"actionId": IDS, "runId": IDS, "stepName": IDS}
REFERENCES = st.fixed_dictionaries(
    {
        "artifactId": st.sampled_from(["a", "b"]),
        "uri": st.none() | st.just("s3://bucket/a"),
        "digest": st.none() | DIGESTS,
        "size": st.none() | st.integers(0, 9),
        "mediaType": st.none(),
    },
    optional={"producedBy": IDS, "x-a": VALUES},
)
JOURNAL = {
    "sequence": st.integers(2, 99),
    "previousDigest": DIGESTS,
    "nonce": st.just("ab" * 16),
    "leaseEpoch": st.just(1),
}
PROVENANCE = st.fixed_dictionaries(
    {
        "schemaVersion": st.sampled_from(["v1", "v2", None]),
        "digest": DIGESTS,
        "tool": st.just("safepoint 0.0.1"),
    }
)

V1_RECORDS = record(
    CHECKPOINT | {"schemaVersion": st.sampled_from(["v1", "v1.0", "v1.3"]), "createdAt": TIMES},
    {"inputSnapshot": VALUES},
    UNKNOWN,
) | record(LEDGER | {"schemaVersion": st.just("v1"), "status": STATUSES}, {"createdAt": TIMES}, UNKNOWN)
V2_RECORDS = record(
    CHECKPOINT
    | {
        "schemaVersion": st.sampled_from(["v2", "v2.0", "v2.7"]),
        "createdAt": TIMES,
        "artifactRefs": st.none() | st.lists(IDS, max_size=3, unique=True),
        "sideEffectStatus": effects(OWN | UNKNOWN),
    },
    {"inputSnapshot": VALUES},
    UNKNOWN,
) | record(
    LEDGER | {"status": STATUSES, "idempotencyKey": st.none() | IDS},
    {"schemaVersion": st.just("v2"), "createdAt": TIMES, "externalRef": st.none() | IDS},
    UNKNOWN,
)
V3_RECORDS = record(
    CHECKPOINT
    | {
        "recordType": st.just("checkpoint"),
        "schemaVersion": st.sampled_from(["v3", "v3.0"]),
        "createdAt": Z_TIMES,
        "artifactRefs": st.none() | st.lists(REFERENCES, max_size=3),
        "sideEffectStatus": effects(OWN),
    },
    {"inputSnapshot": VALUES, "stateSnapshot": VALUES, "branch": st.none(), "nextSteps": st.just([])},
    st.just({}) | st.fixed_dictionaries(JOURNAL) | st.fixed_dictionaries({"orderEvidence": st.just("time")}),
) | record(
    LEDGER
    | {
        "recordType": st.just("ledger"),
        "schemaVersion": st.just("v3"),
        "createdAt": st.none() | Z_TIMES,
        "status": st.sampled_from(V3_STATUSES),
        "idempotencyKey": st.none() | IDS,
    },
    {
        "externalRef": st.none() | IDS,
        "orderEvidence": st.just("time"),
        "migratedFrom": PROVENANCE,
        "evidence": st.none(),
        "attempt": st.none(),
        "error": st.none(),
        "reservation": st.none(),
        "result": VALUES,
    },
)


def is_valid(value: dict[str, Any]) -> bool:
    identity, faults = recognise(value)
    assert identity is not None, faults
    return not [fault for fault in check(identity, value) if fault.code not in HARMLESS]


def kind_of(value: dict[str, Any]) -> str:
    return "checkpoint" if "checkpointId" in value else "ledger"


def encoded(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def version_of(value: dict[str, Any]) -> Version:
    """The major version that a record says it is of."""
    version = Version.parse(value.get("schemaVersion", "v2"))
    assert version is not None
    return Version(version.major)


def fixture_records() -> Iterator[tuple[str, bytes]]:
    """Each valid checkpoint and ledger record that lies anywhere in the fixtures, once, with where it lies."""
    seen: set[bytes] = set()
    for path in sorted(FIXTURES.rglob("*.json*")):
        data = path.read_bytes()
        texts = [line.data for line, *_ in parse_lines(data)] if path.suffix == ".jsonl" else [data]
        for number, text in enumerate(texts, 1):
            value, faults = parse(text)
            if faults or text in seen or not isinstance(value, dict):
                continue
            identity, _ = recognise(value)
            if identity is not None and identity.kind in {"checkpoint", "ledger"} and is_valid(value):
                seen.add(text)
                yield f"{path.relative_to(FIXTURES)}:{number}", text
