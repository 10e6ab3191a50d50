"""What a program says to migrate a store."""

from __future__ import annotations

from pathlib import Path

import pytest
from moved import OLD, Places, contents, write

import safepoint


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def errors(store: Path) -> set[str]:
    return {finding.code for finding in safepoint.validate(store) if finding.severity == "error"}


def test_a_store_migrates_by_one_call(places: Places) -> None:
    write(places.source, OLD)
    planned = safepoint.migrate_store(places.source, places.target, dry_run=True)
    assert (planned.outcome, places.target.exists()) == ("planned", False)
    report = safepoint.migrate_store(str(places.source), safepoint.open_store(str(places.target)), jobs=2)
    assert (report.outcome, report.tally.fates["migrated"]) == ("done", planned.tally.fates["migrated"])
    assert errors(places.target) == errors(places.source) == {"SP003"}
    assert contents(places.source) == OLD
    assert safepoint.migrate_store(places.source, places.target).outcome == "nothingToDo"


def test_what_is_no_version_is_named(places: Places) -> None:
    with pytest.raises(ValueError, match="got '3', expected a format version such as v3"):
        safepoint.migrate_store(places.source, places.target, "3")
