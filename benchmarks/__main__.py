"""``python -m benchmarks``: measures, and prints one table."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import machine, storage
from benchmarks.rows import PARTS, Bench
from benchmarks.table import Group, render


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures safepoint validate and other validators against the floor: reading and parsing.",
        epilog="All of it takes half an hour and 6 GB of disk. For a first look: "
        "python -m benchmarks objects lines --runs 200 --rounds 3",
    )
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)}; without any: all of these; or storage alone: the object stores' tables",
    )
    parser.add_argument("--runs", type=int, default=2000, help="runs of the corpus (2000)")
    parser.add_argument("--slow-runs", type=int, default=100, help="runs for validators that take long (100)")
    parser.add_argument(
        "--records", type=int, nargs="+", default=[100_000, 1_000_000], help="for the memory rows"
    )
    parser.add_argument(
        "--rounds", type=int, default=9, help="rounds that are counted (9); one more warms up"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="keep the corpora here (else they are removed)"
    )
    parser.add_argument(
        "--tools", type=Path, metavar="DIR", help="keep the other validators here (else in --work)"
    )
    parser.add_argument("--readme", action="store_true", help="also put the table into benchmarks/README.md")
    parser.add_argument("--no-peers", action="store_true", help="install and measure no other validators")
    given = parser.parse_args()
    if given.parts == ["storage"]:
        report = storage.report(given.rounds, _progress)
        _progress("")
        sys.stdout.write(report)
        if given.readme:
            _put(report, "storage")
        return
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="safepoint-benchmarks-") as temporary:
        work = (given.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            work=work,
            tools=None if given.no_peers else (given.tools or work / "tools").resolve(),
            runs=given.runs,
            slow_runs=given.slow_runs,
            records=tuple(given.records),
            rounds=given.rounds,
            seed=given.seed,
            told=_progress,
        )
        groups: list[Group] = []
        for part in PARTS:
            if part in (given.parts or PARTS):
                groups.extend(bench.measure(part))
    _progress("")
    report = f"{machine.describe()}{given.rounds} rounds\n\n{render(groups)}"
    sys.stdout.write(report)
    if given.readme:
        _put(report, "table")


def _put(report: str, mark: str) -> None:
    """`report` between the marks of the README."""
    path = Path(__file__).with_name("README.md")
    begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(begin)
    path.write_text(f"{before}{begin}\n{report}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def _progress(what: str) -> None:
    """On a terminal, what is being done; elsewhere nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{what}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
