"""Prints the tables of docs/backends.md: the contract, longer races than the tests have time for, and more faults.

Run as ``python tests/backends/table.py``. It starts every server by itself, and takes some minutes. It ends with 1
if any figure is one that must not be.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

if TYPE_CHECKING:
    from places import Place

RACES = {"local": (8, 1000), "seaweedfs": (4, 25), "ministack": (8, 200)}
USUAL = (8, 100)
CHAIN = 100
SEED = 20261130
SUITES = {
    "test_contract": "claims and reads",
    "test_listings": "listings",
    "test_access": "access, outages, forks",
}


def main() -> int:
    """Measures, prints, and says whether all is well."""
    from places import EVERYWHERE, REMOTE, SHARED, place_at

    say(contract(EVERYWHERE))
    with tempfile.TemporaryDirectory() as folder:
        say(races([*(place_at(name, Path(folder)) for name in SHARED), careless()]))
    say(faults([place_at(name) for name in REMOTE]))
    return int(bool(_wrong))


_wrong: list[str] = []


def say(text: str) -> None:
    """Prints at once: the next table takes minutes."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def contract(names: Iterable[str]) -> str:
    """How many tests of each suite pass in each place."""
    passed: dict[str, Counter[str]] = defaultdict(Counter)
    failed: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        files = [str(HERE / f"{suite}.py") for suite in SUITES]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            *files,
        ]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env={**os.environ, "CI": "true"})
        for case in ET.parse(report).iter("testcase"):
            suite = case.attrib["classname"].rpartition(".")[2]
            found = [name for name in names if f"[{name}" in case.attrib["name"]]
            for name in found[:1]:
                bad = any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))
                (failed if bad else passed)[name][suite] += 1
    rows = []
    for name in names:
        cells = [f"{passed[name][suite]} of {passed[name][suite] + failed[name][suite]}" for suite in SUITES]
        _wrong.extend([name] * failed[name].total())
        rows.append([name, *cells])
    return table(["backend and driver", *(f"{words}: tests that pass" for words in SUITES.values())], rows)


def races(places: Iterable[Place]) -> str:
    """What comes of processes that want the same numbers at the same moment."""
    from racers import race

    rows = []
    for place in places:
        racers, numbers = RACES.get(place.server.name if place.server else place.name, USUAL)
        result = race(place, racers, numbers)
        if place.name != CARELESS:
            _wrong.extend([place.name] * (len(result.doubled) + len(result.lost)))
        most = max(result.shares.values()) / result.shares.total()
        figures = [racers, numbers, len(result.doubled), len(result.lost), result.unknown, f"{most:.0%}"]
        rows.append([place.name, *map(str, figures), f"{result.seconds / numbers * 1000:.0f}"])
    head = ["backend and driver", "processes", "numbers", "won twice", "lost", "unclear answers"]
    return table([*head, "share of the luckiest", "ms a number"], rows)


CARELESS = "gcp-storage-emulator-fsspec (heeds no condition)"


def careless() -> Place:
    """A place where every condition is ignored: what the races look like when they find something."""
    import servers
    from foreign import foreign_to
    from places import Place

    server = servers.gcp_storage_emulator()
    spot = server.spot("fsspec")
    return Place(CARELESS, "gs", "fsspec", spot.url, spot.options, foreign_to(server, spot.url), server)


def faults(places: Iterable[Place]) -> str:
    """What two writers are told through a network that fails, and what is there afterwards."""
    from chains import append_all, misread, through_faults
    from faultproxy import Dice

    rows = []
    for place in places:
        chain = append_all(place, Dice(SEED), CHAIN)
        some = dict(list(chain.held.items())[:30])
        reading = _fresh(place)
        for key, data in some.items():
            reading.foreign.put(key, data)
        with through_faults(reading, Dice(SEED)) as (proxy, (store,)):
            misreadings = misread(store, some)
            in_reads = proxy.done.total()
        bad = [len(chain.lies), len(chain.missing), len(chain.torn), len(misreadings)]
        _wrong.extend([place.name] * sum(bad))
        told = [chain.told[outcome] for outcome in ("won", "lost", "unknown")]
        rows.append([place.name, *map(str, [CHAIN, chain.faults, *told, *bad[:3], in_reads, bad[3]])])
    head = ["backend and driver", "numbers", "faults", "won", "lost", "unclear", "told what is not so"]
    return table([*head, "records gone", "torn", "faults while reading", "read wrongly"], rows)


def _fresh(place: Place) -> Place:
    from places import place_at

    return place_at(place.name)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown, its columns aligned."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    rule = [widths[0] * "-", *(f"{'-' * (width - 1)}:" for width in widths[1:])]
    lines = [
        [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        for row in (head, rule, *rows)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
