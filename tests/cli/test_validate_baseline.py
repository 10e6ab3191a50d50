"""What a baseline accepts, what it says of what was mended, and when it is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from samples import BAD, LEDGER, write

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def here(project: Path) -> Path:
    return project


Check = Callable[..., tuple[int, list[str]]]


def test_a_baseline_accepts_what_is_there_and_nothing_more(run: Run, check: Check, here: Path) -> None:
    written = run("validate", "records", "--write-baseline", "known.json")
    assert (written.exit_code, written.stderr) == (
        0,
        "known.json: 2 findings accepted; --baseline takes them\n",
    )
    assert "SP207" not in written.stdout
    assert check("records", "--baseline", "known.json", "--fail-on", "info") == (0, [])
    assert "2 suppressed: 2 baseline" in run("validate", "records", "--baseline", "known.json").stdout
    write(here / "records/new.json", BAD)
    assert check("records", "--baseline", "known.json") == (1, ["SP207"])


def test_beside_a_baseline_nothing_is_new_rather_than_nothing_wrong(run: Run, here: Path) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    assert (
        "nothing new (2 suppressed: 2 baseline)"
        in run("validate", "records", "--baseline", "known.json").stdout
    )
    write(here / "good.json", LEDGER)
    assert "nothing wrong" in run("validate", "good.json", "--baseline", "known.json").stdout


def test_lines_may_move_and_one_more_of_the_same_is_new(check: Check, run: Run, here: Path) -> None:
    write(here / "records/bad.json").unlink()
    path = write(here / "records/all.jsonl", LEDGER, BAD, LEDGER, BAD)
    run("validate", path, "--write-baseline", "known.json")
    write(path, LEDGER, LEDGER, {**BAD, "createdAt": "later"}, LEDGER, BAD)
    assert check(path, "--baseline", "known.json") == (0, [])
    write(path, BAD, BAD, BAD)
    assert check(path, "--baseline", "known.json") == (1, ["SP207"])


def test_a_baseline_counts_from_anywhere(
    check: Check, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    monkeypatch.chdir(here / "records")
    assert check(".", "--baseline", "../known.json") == (0, [])
    assert check(here / "records", "--baseline", here / "known.json") == (0, [])
    (here / "safepoint.toml").write_text('[validate]\nbaseline = "known.json"\n')
    assert check("bad.json") == (0, [])
    assert check("bad.json", "--baseline", "") == (1, ["SP207"])


def test_what_was_mended_is_told(run: Run, here: Path) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    write(here / "records/bad.json", LEDGER)
    result = run("validate", "records", "--baseline", "known.json")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "known.json: 1 finding of it is no longer there; --write-baseline known.json takes it out",
        "  SP207 in records/bad.json at /createdAt",
    ]
    assert run("validate", "records", "--baseline", "known.json", "-q").stderr == ""
    run("validate", "records", "--write-baseline", "known.json")
    assert run("validate", "records", "--baseline", "known.json").stderr == ""
    assert "bad.json" not in (here / "known.json").read_text()


@pytest.mark.parametrize(
    "arguments", [["records/odd.json"], ["records", "--ignore", "SP207"], ["records", "--select", "SP204"]]
)
def test_what_was_not_looked_for_was_not_mended(run: Run, here: Path, arguments: list[str]) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    before = (here / "known.json").read_text()
    write(here / "records/bad.json", LEDGER)
    assert run("validate", *arguments, "--baseline", "known.json").stderr == ""
    run("validate", *arguments, "--write-baseline", "known.json")
    assert (here / "known.json").read_text() == before


def test_one_run_says_nothing_of_its_neighbours(run: Run, here: Path) -> None:
    for name in ("a", "b"):
        write(here / f"store/runs/{name}/ledger.jsonl", {**BAD, "runId": name})
    run("validate", "store", "--write-baseline", "known.json")
    write(here / "store/runs/b/ledger.jsonl", {**LEDGER, "runId": "b"})
    result = run("validate", "store", "--run", "a", "--baseline", "known.json")
    assert (result.exit_code, result.stderr) == (0, "")


def test_very_many_mended_findings_are_not_all_named(run: Run, here: Path) -> None:
    for number in range(9):
        write(here / f"records/b{number}.json", BAD)
    run("validate", "records", "--write-baseline", "known.json")
    for path in (here / "records").iterdir():
        write(path, LEDGER)
    said = run("validate", "records", "--baseline", "known.json").stderr.splitlines()
    assert len(said) == 7
    assert said[-1] == "  and 6 more places"


def test_no_baseline_is_written_of_what_was_not_looked_at(run: Run, here: Path) -> None:
    result = run("validate", "records", "absent.json", "--write-baseline", "known.json")
    assert result.exit_code == 3
    assert "known.json: not written, since not everything could be looked at" in result.stderr
    assert not (here / "known.json").exists()


def test_a_baseline_that_is_none_is_status_2(run: Run, here: Path) -> None:
    absent = run("validate", "records", "--baseline", "known.json")
    assert (absent.exit_code, absent.stdout) == (2, "")
    assert "--write-baseline known.json makes one" in absent.stderr
    (here / "known.json").write_text("[]")
    for option in ("--baseline", "--write-baseline"):
        assert run("validate", "records", option, "known.json").exit_code == 2
    assert (here / "known.json").read_text() == "[]", "what is no baseline is not written over"
