"""The same bytes whatever the hash seed, the time zone, the locale and the working directory are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from migratable import V1_RECORDS, V2_RECORDS, V3_RECORDS, encoded, fixture_records, is_valid

MIGRATE_ALL = """
import hashlib, json, sys
from safepoint.core.version import V1, V2, V3
from safepoint.migrate import migrate_lines, migrate_record
found, changed = hashlib.sha256(), 0
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    texts = json.load(file)
for text in texts:
    for version in (V1, V2, V3):
        for loss in (False, True):
            result = migrate_record(text.encode(), version, allow_loss=loss)
            found.update(repr((result.data, result.faults, result.changed)).encode())
            changed += result.changed
lines = "".join(text.replace(chr(10), " ") + chr(10) for text in texts).encode()
for version in (V1, V2, V3):
    result = migrate_lines(lines, version, allow_loss=True)
    found.update(repr((result.data, result.faults)).encode())
print(changed, found.hexdigest())
"""

SURROUNDINGS: list[dict[str, str]] = [
    {"PYTHONHASHSEED": "1"},
    {"PYTHONHASHSEED": "4294967295", "TZ": "Pacific/Kiritimati"},
    {"TZ": "America/St_Johns", "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "UTC"},
    {"LC_ALL": "de_DE.ISO-8859-1", "LANGUAGE": "de", "PYTHONHASHSEED": "random"},
]


def generated() -> list[str]:
    found: list[str] = []

    @settings(max_examples=80, derandomize=True, database=None)
    @given((V1_RECORDS | V2_RECORDS | V3_RECORDS).filter(is_valid))
    def collect(value: dict[str, Any]) -> None:
        found.append(encoded(value).decode())

    collect()
    return found


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "texts.json"
    path.write_text(json.dumps([*(data.decode() for _, data in fixture_records()), *generated()]))
    return path


def migrated(texts: Path, surroundings: dict[str, str], folder: Path) -> list[str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "LANG", "PYTHONHASHSEED", "TZ"))
    }
    done = subprocess.run(
        [sys.executable, "-c", MIGRATE_ALL, str(texts)],
        env=clean | surroundings,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_same_bytes_and_findings_everywhere(texts: Path, tmp_path: Path) -> None:
    expected = migrated(texts, {"PYTHONHASHSEED": "0"}, Path(__file__).parent)
    assert int(expected[0]) > 500
    for number, surroundings in enumerate(SURROUNDINGS):
        folder = tmp_path / f"où {number}"
        folder.mkdir()
        assert migrated(texts, surroundings, folder) == expected, surroundings
