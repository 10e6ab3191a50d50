"""What SPEC.md and the field say of the guard, and the stored case that shows each of it: a gap fails."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from spec_rows import FIELD, LAYERS, NEVER_ALONE, PRECONDITIONS, ROWS

from safepoint.guard import EXIT_CODES
from safepoint.rules import catalogue

PROJECT = Path(__file__).parents[2]
ROOT = PROJECT / "fixtures/guard"
NAMES = sorted(folder.name for folder in ROOT.iterdir())


def load(name: str, document: str) -> Any:
    return json.loads((ROOT / name / document).read_bytes())


DECISIONS: Mapping[str, Any] = {name: load(name, "decision.json") for name in NAMES}


def codes_of(name: str) -> list[str]:
    return [reason["code"] for reason in DECISIONS[name]["reasons"]]


@pytest.mark.parametrize("code", [known.id for known in catalogue.codes() if known.id.startswith("SP7")])
def test_every_reason_has_a_case_in_which_it_stands_alone(code: str) -> None:
    found = [name for name in NAMES if code in codes_of(name)]
    assert found, "no case shows this reason"
    alone = [name for name in found if set(codes_of(name)) == {code}]
    assert bool(alone) != (code in NEVER_ALONE), alone


@pytest.mark.parametrize("code", NEVER_ALONE)
def test_a_reason_that_never_stands_alone_stands_with_the_one_that_is_named(code: str) -> None:
    beside, _ = NEVER_ALONE[code]
    assert any({code, beside} <= set(codes_of(name)) for name in NAMES)


def test_every_verdict_has_a_case() -> None:
    assert {decision["verdict"] for decision in DECISIONS.values()} == set(EXIT_CODES)


def test_every_goal_has_a_case() -> None:
    schema = json.loads((PROJECT / "schema/v3/request.json").read_bytes())
    assert {decision["goal"] for decision in DECISIONS.values()} == set(schema["properties"]["goal"]["enum"])


@pytest.mark.parametrize(("kind", "answer"), [(k, a) for k, of in PRECONDITIONS.items() for a in of])
def test_every_precondition_has_a_case_for_each_answer(kind: str, answer: str) -> None:
    name, verdict = PRECONDITIONS[kind][answer]
    assert DECISIONS[name]["verdict"] == verdict
    kinds = {
        condition["type"]
        for file in (ROOT / name / "store/runs/run-1/journal").iterdir()
        for condition in json.loads(file.read_bytes()).get("resumePreconditions") or ()
    }
    assert kinds == {kind}


# rows of the tables in SPEC.md


def spec_rows() -> list[tuple[str, str]]:
    """Layer and condition of each row of the guard's tables; a cell that is left empty means the one above."""
    text = (PROJECT / "SPEC.md").read_text(encoding="utf-8")
    section = text[text.index("\n## The guard\n") : text.index("\n### The decision\n")]
    rows, layer, heading, above = [], "", False, ""
    for line in section.splitlines():
        if line.startswith("### Layer "):
            layer, above = line.partition(": ")[2], ""
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("|") else []
        if not cells:
            heading = False
        elif not heading:
            heading, condition_of = True, layer if cells[-1] == "code" else ""
        elif condition_of and not re.fullmatch(r"[-| ]+", line):
            above = cells[0] or above
            effects = layer == "effects"
            rows.append((layer, f"{above} / {cells[1]}" if effects else cells[0]))
    return rows


def test_the_tables_are_found() -> None:
    assert list(dict(spec_rows())) == list(LAYERS)


@pytest.mark.parametrize(("layer", "condition"), spec_rows())
def test_every_row_of_the_tables_has_its_case(layer: str, condition: str) -> None:
    found = [begin for begin in ROWS[layer] if condition.startswith(begin)]
    assert len(found) == 1, f"{len(found)} entries for this row"
    for name, code in ROWS[layer][found[0]].items():
        assert code is None or code in codes_of(name), f"{name}: {codes_of(name)}"
        assert name in NAMES


def test_every_entry_belongs_to_a_row() -> None:
    rows = spec_rows()
    for layer, entries in ROWS.items():
        for begin in entries:
            assert any(where == layer and condition.startswith(begin) for where, condition in rows), begin


# failures that people reported


@pytest.mark.parametrize("number", FIELD)
def test_every_failure_from_the_field_has_its_cases(number: int) -> None:
    threads, cases = FIELD[number]
    seen = set()
    for name, verdict in cases.items():
        assert DECISIONS[name]["verdict"] == verdict, name
        source = load(name, "expect.json")["source"]
        assert source in threads, f"{name} names {source}"
        seen.add(source)
    assert seen
