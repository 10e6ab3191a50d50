"""The steps between versions stay as they were released: what a record became yesterday, it becomes tomorrow."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/safepoint"
FROZEN: dict[str, str] = json.loads((ROOT / "tests/migrate/frozen.json").read_bytes())
STEPS = sorted(f"migrate/steps/{path.name}" for path in (SOURCE / "migrate/steps").glob("[!_]*.py"))


def digest_of(text: str) -> str:
    """Of the text with line feeds, however it was checked out."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def complaint(module: str, text: str) -> str:
    """What is to be done about a module that is not as it was frozen; empty if nothing is."""
    if (found := digest_of(text)) == FROZEN[module]:
        return ""
    return (
        f"src/safepoint/{module} is frozen: since its release, records are migrated by it, and the same source has to "
        "give the same bytes. A change of mind is a new version of the format with a step of its own (CONTRIBUTING.md, "
        "«To add a version of the format»). Only where the format version that it leads to is not released yet, put "
        f"{found} into tests/migrate/frozen.json"
    )


@pytest.mark.parametrize("module", FROZEN)
def test_a_step_is_as_it_was_frozen(module: str) -> None:
    assert not (said := complaint(module, (SOURCE / module).read_text(encoding="utf-8"))), said


def test_every_step_is_frozen_and_what_its_tables_are_made_of() -> None:
    assert sorted(FROZEN) == ["core/status.py", *STEPS]


def test_a_changed_step_is_told_what_to_do() -> None:
    module = "migrate/steps/v1_to_v2.py"
    text = (SOURCE / module).read_text(encoding="utf-8")
    changed = text.replace('{"idempotencyKey": None}', '{"idempotencyKey": ""}')
    said = complaint(module, changed)
    assert complaint(module, text) == ""
    assert "is a new version of the format with a step of its own" in said
    assert digest_of(changed) in said
