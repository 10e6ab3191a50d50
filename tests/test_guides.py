"""The guides of docs/ about what a decision takes: complete, and their examples are accepted as printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from safepoint.policy import Policy, parse_policy
from safepoint.reader.documents import load_document

DOCS = Path(__file__).parents[1] / "docs"
SCHEMAS = Path(__file__).parents[1] / "schema/v3"


def examples(page: str, tag: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"(?ms)^```{tag}\n(.*?)^```$", text)


def table_names(page: str) -> set[str]:
    rows = re.findall(r"(?m)^\| (`[^|]*) \|", (DOCS / page).read_text(encoding="utf-8"))
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_facts_that_are_shown_are_accepted() -> None:
    (example,) = examples("facts.md", "json document")
    assert load_document("facts", json.loads(example)) == json.loads(example)


def test_the_policy_that_is_shown_is_accepted_and_means_what_it_says(tmp_path: Path) -> None:
    (example,) = examples("policy.md", "toml")
    path = tmp_path / "policy.toml"
    path.write_text(example)
    policy = parse_policy(load_document("policy", path), workflow="support")
    assert policy.origins["attemptsInLife"] == "workflow support"
    assert policy.for_action("notify_customer", "-").send_window_fraction == 0.5
    assert policy.actions["notify_customer"]["probe"] == "byKey"


@pytest.mark.parametrize(("page", "kind"), [("facts.md", "facts"), ("policy.md", "policy")])
def test_every_member_is_described(page: str, kind: str) -> None:
    members = set(json.loads((SCHEMAS / f"{kind}.json").read_text())["properties"])
    framing = {"recordType", "schemaVersion", "requires"} if kind == "policy" else set()
    assert members - framing <= table_names(page)


def test_the_defaults_are_those_in_force() -> None:
    text = (DOCS / "policy.md").read_text(encoding="utf-8")
    for name, value in Policy().settings().items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            row = re.search(rf"(?m)^\| `{name}` \| [^|]* \| ([^| ]+)( †)? \|", text)
            assert row, name
            assert json.loads(row[1]) == value, name
