"""Every code is emitted, explained, listed in SPEC.md and shown by a fixture: none is only half there."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest

from safepoint.core.finding import Severity
from safepoint.rules import RUN_RULES, catalogue, check, needs, severity
from safepoint.rules.table import GROUPS, table

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "SPEC.md"
CODE = re.compile(r"SP[0-9]{3}")

NOT_YET_SHOWN = {
    "SP604": "a case has no place to migrate to; tests/moving/test_migration.py shows it",
    "SP613": "shown with the lines and the store that it is about, in tests/moving/test_keep_going.py",
    "SP614": "a case has no copy that is half made; tests/moving/test_again.py shows it",
    "SP615": "a case has no copy that was finished; tests/moving/test_again.py shows it",
    "SP616": "a case has no original to seal; tests/moving/test_again.py shows it",
    "SP617": "a case has one record, and none that is not asked for; tests/moving/test_authority.py shows both sides",
}
"""Codes that no fixture shows, each with the reason. To be emptied, never to be grown for convenience."""

CODES = catalogue.codes()
KNOWN = {known.id for known in CODES}


def literals(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from chain.from_iterable(map(strings, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(strings, value))
    elif isinstance(value, str) and CODE.fullmatch(value):
        yield value


def emitted() -> set[str]:
    # two lists say which rules exist; they report nothing
    lists = {ROOT / "src/safepoint/rules/__init__.py", ROOT / "src/safepoint/rules/needs.py"}
    sources = set((ROOT / "src").rglob("*.py")) - lists
    in_source = chain.from_iterable(map(literals, sorted(sources)))
    schemas = sorted((ROOT / "schema").rglob("*.json"))
    in_schemas = chain.from_iterable(strings(json.loads(path.read_bytes())) for path in schemas)
    return {*in_source, *in_schemas}


def anchors() -> set[str]:
    text = SPEC.read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^#{1,6} (.+)$", text)
    slugs = (re.sub(r"[^a-z0-9 _-]", "", heading.lower()).strip().replace(" ", "-") for heading in headings)
    return {*slugs, *re.findall(r'<a (?:id|name)="([^"]+)"', text)}


def test_every_code_that_is_emitted_is_explained() -> None:
    assert sorted(emitted() - KNOWN) == []


def test_every_code_that_is_explained_is_emitted() -> None:
    assert sorted(KNOWN - emitted()) == []


@pytest.mark.parametrize("known", CODES, ids=lambda known: known.id)
def test_an_explanation_says_what_why_and_how_to_fix(known: catalogue.Code) -> None:
    first, *rest = known.text.split("\n\n")
    assert first
    assert "\n" not in first, "the first line stands alone"
    assert [part.partition(":")[0] for part in rest if part.startswith(("Why:", "Fix:"))] == ["Why", "Fix"]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", known.name)
    assert known.severity in get_args(Severity)
    module = catalogue.module(known.id).__name__
    assert module.endswith(f"{known.id.lower()}_{known.name.replace('-', '_')}")


def test_names_are_unique() -> None:
    names = [known.name for known in CODES]
    assert sorted(set(names)) == sorted(names)


def test_every_code_belongs_to_a_hundred_with_a_title() -> None:
    assert {known.id[2] for known in CODES} <= GROUPS.keys()


def test_every_code_points_into_the_specification() -> None:
    assert sorted({(known.id, known.section) for known in CODES if known.section not in anchors()}) == []


def test_run_rules_lists_exactly_the_modules_that_check_a_run() -> None:
    with_check = [known.id for known in CODES if hasattr(catalogue.module(known.id), "check")]
    assert list(RUN_RULES) == with_check, "write this list into RUN_RULES of rules/__init__.py"
    assert callable(check)


def test_every_rule_across_records_names_what_it_needs_and_what_it_is_about() -> None:
    across = [known.id for known in CODES if known.id[2] in "345"]
    said = {code: needs.Rule(catalogue.module(code).NEEDS, catalogue.module(code).ABOUT) for code in across}
    assert said == needs.RULES, "write NEEDS and ABOUT of the rule's module into RULES of rules/needs.py"
    assert list(needs.RULES) == across


def test_every_need_is_described_and_every_subject_can_be_looked_for() -> None:
    assert {need for rule in needs.RULES.values() for need in rule.needs} == needs.WHY.keys()
    assert {rule.about for rule in needs.RULES.values()} == needs.ABOUT.keys()
    section = (
        SPEC.read_text(encoding="utf-8").partition('<a id="needs"></a>')[2].partition("\n\nThe suite")[0]
    )
    assert re.findall(r"(?m)^\| `(\w+)` \|", section) == ["order", "leases", "whole", "recovery", "artifacts"]


def test_an_unknown_code_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        severity("SP999")


def test_every_code_is_shown_by_a_fixture() -> None:
    files = [*(ROOT / "fixtures").rglob("expect.json"), *(ROOT / "fixtures").rglob("decision.json")]
    shown = set(chain.from_iterable(strings(json.loads(path.read_bytes())) for path in sorted(files)))
    assert sorted(shown - KNOWN) == []
    assert sorted(KNOWN - shown - NOT_YET_SHOWN.keys()) == []
    assert sorted(NOT_YET_SHOWN.keys() & shown) == [], "shown by now: take it off the list"
    assert sorted(NOT_YET_SHOWN.keys() - KNOWN) == []


def test_the_table_in_the_specification_is_the_generated_one() -> None:
    text = SPEC.read_text(encoding="utf-8")
    written = text.partition("<!-- codes:begin -->")[2].partition("<!-- codes:end -->")[0]
    assert written.strip() == table().strip(), "run python -m safepoint.rules.table and paste what it prints"
