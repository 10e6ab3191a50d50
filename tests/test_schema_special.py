"""The rewritten schemas: never laxer than those that they were made from."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from safepoint import schemas
from safepoint.core.kind import Identity
from safepoint.core.version import V3
from safepoint.schemas import engines
from safepoint.schemas.special import WORDS, specialise

ROOT = Path(__file__).parents[1]
JSONSCHEMA_RS = pytest.importorskip("jsonschema_rs")


def journal_records() -> Iterator[dict[str, Any]]:
    """Every record of a journal among the fixtures, sound or not."""
    for path in sorted((ROOT / "fixtures").glob("*/*/**/*.json*")):
        if "journal" not in str(path):
            continue
        for line in path.read_bytes().splitlines():
            try:
                value = orjson.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and value.get("recordType") in engines.JOURNAL:
                yield value


RECORDS = list({orjson.dumps(value): value for value in journal_records()}.values())


def says_yes(value: dict[str, Any]) -> bool:
    """Whether the rewritten schema for records like `value` accepts it."""
    return engines.is_ordinary(Identity(value["recordType"], V3), value)


def fits(value: dict[str, Any]) -> bool:
    """What the reference engine says."""
    return engines.reference_judge(value["recordType"], 3).is_valid(value)


def test_most_sound_records_are_accepted() -> None:
    sound = [value for value in RECORDS if fits(value) and value.get("sequence", 0) > 1]
    accepted = sum(map(says_yes, sound))
    assert len(sound) > 300
    assert accepted / len(sound) > 0.95


def test_what_is_accepted_fits_the_schema() -> None:
    assert [value for value in RECORDS if says_yes(value) and not fits(value)] == []


ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**53,
        2**53 - 1,
        1.0,
        0.5,
        "",
        " ",
        "x",
        "x\n",
        "\n",
        "\x00",
        "é",
        [],
        {},
    ),
    *("0000-01-01T00:00:00Z", "0000-02-29T00:00:00Z", "0004-02-29T00:00:00Z", "1900-02-29T00:00:00Z"),
    *("2000-02-29T00:00:00Z", "2026-05-07T10:00:00Z\n", "2026-13-01T00:00:00Z", "2026-05-07T10:00:00+00:00"),
    *(
        "sha256:" + "a" * 64,
        "sha256:" + "a" * 63,
        "sha256:" + "A" * 64,
        "sha256:" + "a" * 64 + "\n",
        "a" * 32,
    ),
    *(
        "x" * 256,
        "x" * 257,
        "https://example.org/%zz",
        "committed",
        "attempting",
        "human",
        ["a", "a"],
        {"x-a": 1},
    ),
)


def damaged(value: dict[str, Any], random: random.Random) -> dict[str, Any]:
    """`value` with one member, somewhere, taken away, added or changed."""
    value = copy.deepcopy(value)
    node: Any = value
    while True:
        names = list(node) if isinstance(node, dict) else list(range(len(node)))
        name = random.choice(names) if names else None
        if name is not None and isinstance(node[name], dict | list) and node[name] and random.random() < 0.6:
            node = node[name]
            continue
        break
    what = random.randrange(3)
    if what == 0 and name is not None:
        del node[name]
    elif what == 1 and isinstance(node, dict):
        known = [
            "branch",
            "evidence",
            "requires",
            "orderEvidence",
            "migratedFrom",
            "x-own",
            "odd",
            "successor",
        ]
        node[random.choice(known)] = random.choice(ODD)
    elif name is not None:
        node[name] = random.choice(ODD)
    return value


@pytest.mark.parametrize("seed", range(4))
def test_no_damage_gets_past_a_rewritten_schema(seed: int) -> None:
    dice = random.Random(seed)
    laxer = []
    for _ in range(1500):
        value = damaged(dice.choice(RECORDS), dice)
        if value.get("recordType") in engines.JOURNAL and says_yes(value) and not fits(value):
            laxer.append(value)
    assert laxer == []


def test_a_rewritten_schema_stands_alone_and_decides_nothing_anew() -> None:
    for kind in engines.JOURNAL:
        for word in sorted(engines.words(kind), key=str):
            special = specialise(schemas.schema(kind, V3), kind, word)
            assert special is not None, (kind, word)
            text = orjson.dumps(special).decode()
            assert "$ref" not in text
            assert "x-code" not in text
            assert not re.search(r"\(\?[!=]", text), (kind, word)
            assert "requires" not in special["properties"]
            if kind in WORDS:
                assert {"const": word}.items() <= special["properties"][WORDS[kind]].items()
