"""What the benchmarks measure, and the table that they print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks.corpus import generate
from benchmarks.processes import Cost, interleave, run
from benchmarks.table import Group, Measured, render

from benchmarks import peers

FLOOR = str(Path(__file__).parents[2] / "benchmarks" / "floor.py")


def cost(cpu: float, wall: float, peak: int = 20_000_000) -> Cost:
    return Cost(cpu, wall, peak, 0, "", crashed=False)


def test_the_table_shows_medians_and_the_median_of_the_ratios_of_each_round() -> None:
    floor = Measured("floor", [cost(1.0, 1.0), cost(2.0, 2.0), cost(1.0, 1.5)])
    ours = Measured("ours", [cost(1.5, 1.0), cost(3.2, 2.0), cost(1.9, 1.2, 31_400_000)], "all of it")
    absent = Measured("theirs", [], "not measured: there is no npm")
    assert render([Group("10 runs", [floor, ours, absent])]) == (
        "| what runs   | CPU s | CPU/floor | wall s | wall/floor | peak MB | remarks                       |\n"
        "| ----------- | ----: | --------: | -----: | ---------: | ------: | ----------------------------- |\n"
        "| **10 runs** |       |           |        |            |         |                               |\n"
        "| floor       | 1.000 |      1.00 |  1.500 |       1.00 |      20 |                               |\n"
        "| ours        | 1.900 |      1.60 |  1.200 |       1.00 |      31 | all of it                     |\n"
        "| theirs      |     - |         - |      - |          - |       - | not measured: there is no npm |\n"
    )


def test_a_group_whose_rows_are_no_alternatives_has_no_ratios() -> None:
    text = render(
        [Group("memory", [Measured("a", [cost(1, 1)]), Measured("b", [cost(2, 2)])], compared=False)]
    )
    assert text.splitlines()[-1].split("|")[3].strip() == ""


def test_children_count_and_the_exit_status_is_kept() -> None:
    burn = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}]); print('done'); sys.exit(7)"
    found = run([sys.executable, "-c", script])
    assert found.cpu > 0.2
    assert found.status == 7
    assert found.said == "done"
    assert not found.crashed


def test_the_peak_is_the_command_s_own_and_not_that_of_who_measures() -> None:
    ballast = bytearray(60_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert run([sys.executable, "-c", "pass"]).peak < 30_000_000
    assert run([sys.executable, "-c", "bytearray(60_000_000)"]).peak > 60_000_000


def test_a_traceback_is_told_from_an_exit_status_of_one() -> None:
    assert run([sys.executable, "-c", "raise ValueError"]).crashed
    assert not run([sys.executable, "-c", "import sys; sys.exit(1)"]).crashed


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match="could not be started"):
        run(["/no/such/program"])


def test_rows_take_turns_and_the_first_round_only_warms_up() -> None:
    told: list[str] = []
    commands = {name: [sys.executable, "-c", "pass"] for name in ("a", "b")}
    costs = interleave(commands, 2, told.append)
    assert [what[-1] for what in told] == ["a", "b"] * 3
    assert {name: len(found) for name, found in costs.items()} == {"a": 2, "b": 2}


def test_the_variable_that_keeps_byte_code_from_being_kept_is_not_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"]).said == "False"


@pytest.mark.parametrize("layout", ["objects", "lines"])
def test_the_floor_reads_every_text(tmp_path: Path, layout: str) -> None:
    corpus = generate(tmp_path / "store", "objects" if layout == "objects" else "lines", runs=2, seed=1)
    found = run([sys.executable, FLOOR, str(tmp_path / "store")])
    assert found.said == f"{corpus.records.total() + 1} parsed, 0 broken"


def test_what_peers_are_given_is_one_schema_that_refers_to_nothing_outside(tmp_path: Path) -> None:
    schema = json.loads(peers.bundle(tmp_path / "record.json").read_bytes())
    referred = {ref.partition("#")[0] for ref in _references(schema)} - {""}
    assert referred <= set(schema["$defs"])


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [ref for item in value.values() for ref in _references(item)]
    return [ref for item in value for ref in _references(item)] if isinstance(value, list) else []
