"""The same stores in every kind of storage: the command says the same of them, and decides the same, byte for byte."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from foreign import put_all
from places import REMOTE, Place, place_at

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = (
    "good/store",
    "good/store-as-json-lines",
    "good/encoded-run-id",
    "good/numbers-of-ten-and-eleven-digits",
    "warn/sp004-foreign-file",
    "warn/sp005-unknown-name",
    "bad/sp301-sequence-gap",
    "bad/sp303-broken-chain",
    "bad/two-writers-interleaved",
    "bad/sp515-artifact-absent",
    "bad/sp517-artifact-wrong-digest",
    "hostile/journal-with-a-torn-tail",
    "guard/lost-answer-unkeyed",
    "guard/lease-live",
    "guard/newest-checkpoint-torn",
    "guard/artifact-missing",
    "guard/completed",
)
NAMES = ("local", *(name for name in REMOTE if not name.startswith("seaweedfs")))
"""One S3 is enough here."""

DOCUMENTS = ("facts", "policy", "request")

# One process for many commands, because starting one costs more than what it is asked. What it is handed is what a
# shell would hand to the command, and what it says is kept as it came.
TELLER = """
import json, sys
from click.testing import CliRunner
from safepoint.cli.main import safepoint
said = {}
for name, arguments in json.load(sys.stdin).items():
    result = CliRunner().invoke(safepoint, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    said[name] = [result.exit_code, result.stdout, result.stderr]
json.dump(said, sys.stdout)
"""


def flags(options: Mapping[str, Any]) -> list[str]:
    """The options as a user types them."""
    return [
        part
        for name, value in options.items()
        for part in ("--storage-option", f"{name}={value if isinstance(value, str) else json.dumps(value)}")
    ]


def commands(place: Place, below: Path) -> dict[str, list[str]]:
    """What is asked of each store, by name; results of migrations go `below`."""
    asked = {
        "validate all": ["validate", *(f"{place.url}/{case}" for case in CASES), "--format", "json"],
        "validate a folder of stores": ["validate", f"{place.url}/good", "--format", "json"],
        "validate a pattern": ["validate", f"{place.url}/bad/*/runs/**/*.jsonl", "--format", "json"],
        "migrate": [
            "migrate",
            f"{place.url}/good/store",
            "--to",
            "v2",
            "--allow-loss",
            "--output",
            str(below / "v2"),
        ],
    }
    for case in CASES:
        store = f"{place.url}/{case}"
        expect = json.loads((FIXTURES / case / "expect.json").read_text())
        if expect.get("artifacts"):
            asked[f"validate {case}"] = ["validate", store, "--artifacts", "--format", "json"]
        if case.startswith("good/"):
            asked[f"runs {case}"] = ["runs", store, "--format", "json"]
        if case.startswith("guard/"):
            files = {name: str(FIXTURES / case / expect[name]) for name in DOCUMENTS if name in expect}
            given = [part for name, file in files.items() for part in (f"--{name}", file)]
            run = ["--run", expect["run"], "--format", "json"]
            asked[f"guard {case}"] = ["guard", store, *run, "--now", expect["now"], *given]
            asked[f"show {case}"] = ["show", store, *run]
    return {name: [*arguments, *flags(place.options)] for name, arguments in asked.items()}


def laid_down(place: Place) -> Place:
    """`place` with the cases in it."""
    objects = {}
    for case in CASES:
        root = FIXTURES / case / "store"
        for path in root.rglob("*"):
            if path.is_file():
                objects[f"{case}/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    put_all(place.foreign, objects)
    return place


def said(place: Place, below: Path) -> dict[str, list[Any]]:
    """What the command answers in a process of its own, without the address and the times of this place."""
    asked = json.dumps(commands(place, below))
    done = subprocess.run(
        [sys.executable, "-c", TELLER], input=asked, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace(place.url, "PLACE").replace(str(below), "BELOW")
    answers: dict[str, list[Any]] = json.loads(text)
    # what matches a pattern is part of another store on disk than elsewhere, and only its key and its print say so
    answers["validate a pattern"][1] = re.sub(
        r'"(key|fingerprint)": ".*?"', r'"\1": ""', answers["validate a pattern"][1]
    )
    return answers


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What is said of the stores on disk."""
    below = tmp_path_factory.mktemp("local")
    return said(laid_down(place_at("local", below)), below)


@pytest.mark.parametrize("name", NAMES[1:])
def test_every_command_says_the_same_of_a_store_wherever_it_lies(
    name: str, expected: dict[str, list[Any]], tmp_path: Path
) -> None:
    answers = said(laid_down(place_at(name)), tmp_path)
    assert sum(key.startswith("guard") and status > 9 for key, (status, _, _) in answers.items()) > 2
    assert {key: answer[:2] for key, answer in answers.items()} == {
        key: answer[:2] for key, answer in expected.items()
    }
