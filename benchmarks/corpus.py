"""A corpus of runs from a seed: ``python -m benchmarks.corpus DIR --layout objects --runs 2000 --seed 1``.

Decided here: how runs become the bytes and the names of a store, in two layouts that hold the same records. Written
with orjson and hashlib alone, not with the package's own writer: what is measured should not have made its own input.
Not decided here: what happens in the runs (``story``), and which damage is done to some (``faults``).
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from benchmarks.faults import Damage, Planted, Planter
from benchmarks.story import tell

Layout = Literal["objects", "lines"]
"""``objects``: each record a file of its own, as a journal that can be claimed. ``lines``: a file for each log."""

STORE = {"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": []}


@dataclass(slots=True)
class Corpus:
    """What was written."""

    runs: int = 0
    files: int = 0
    records: Counter[str] = field(default_factory=Counter)
    """By kind."""
    size: Counter[str] = field(default_factory=Counter)
    """Bytes by kind, line feeds not counted."""
    planted: list[Planted] = field(default_factory=list)

    def summary(self) -> str:
        """For people: how many records of which kind, and how large they are."""
        lines = [
            f"{self.runs:,} runs, {self.files:,} files, {self.records.total():,} records, {self.size.total():,} B"
        ]
        for kind, count in self.records.most_common():
            lines.append(f"  {kind:<10} {count:>9,}  {self.size[kind] / count:>7,.0f} B each")
        if self.planted:
            lines.append(
                f"  {len(self.planted):,} of them faulty: {len({p.name for p in self.planted})} kinds of faults"
            )
        return "\n".join(lines)


def generate(target: Path, layout: Layout, *, runs: int, seed: int, faulty: float = 0.0) -> Corpus:
    """Write a store to the new folder `target`.

    Args:
        target: the store's folder.
        layout: how the records lie in it.
        runs: how many, numbered from 1.
        seed: what all of it is made from.
        faulty: the share of records to damage, each in a run of its own; so at most one record of each run.

    Raises:
        FileExistsError: there is something already.
    """
    target.mkdir(parents=True)
    (target / "safepoint.json").write_bytes(orjson.dumps(STORE))
    corpus = Corpus(runs=runs, files=1)
    planter = Planter(seed, faulty, layout)
    for number in range(1, runs + 1):
        story = tell(seed, number)
        fault = planter.plant(story, number)
        folder = target / "runs" / story.run_id
        folder.mkdir(parents=True)
        _write(folder, "journal", layout, list(_chain(story.journal, fault)), corpus)
        _write(folder, "recovery", layout, list(_chain(story.recovery, None)), corpus)
        if story.heartbeat:
            beat = (story.heartbeat, orjson.dumps(story.heartbeat))
            _write(folder, "heartbeat", "objects", [beat], corpus)
    corpus.planted = planter.planted
    return corpus


def _write(
    folder: Path, log: str, layout: Layout, records: list[tuple[dict[str, Any], bytes]], corpus: Corpus
) -> None:
    if not records:
        return
    for value, data in records:
        corpus.records[value["recordType"]] += 1
        corpus.size[value["recordType"]] += len(data)
    if layout == "lines":
        (folder / f"{log}.jsonl").write_bytes(b"".join(data + b"\n" for _, data in records))
        corpus.files += 1
        return
    (folder / log).mkdir()
    for value, data in records:
        number = value["leaseEpoch"] if log == "heartbeat" else value["sequence"]
        # SPEC.md#numbers; the plainest call, since there are 130,000 of them
        (folder / log / f"{number:010d}.json").write_bytes(data)
        corpus.files += 1


def _chain(
    values: list[dict[str, Any]], fault: tuple[int, Damage] | None
) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Each record as it is stored, with the digest of the one before in it."""
    digest = None
    for index, value in enumerate(values):
        here = fault[1] if fault and fault[0] == index else None
        if value["previousDigest"] is None:
            value["previousDigest"] = digest
        data = orjson.dumps(value)
        if here and here.data:
            data = here.data(data)
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        if not (here and here.unwritten):
            yield value, data


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.corpus", description=__doc__.partition(":")[0]
    )
    parser.add_argument("target", type=Path, metavar="DIR", help="a folder that does not exist yet")
    parser.add_argument("--layout", choices=("objects", "lines"), default="objects")
    parser.add_argument(
        "--runs", type=int, default=2000, help="of 10 checkpoints and 50 ledger records (2000)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--faulty", type=float, default=0.0, metavar="SHARE", help="of the records, such as 0.005"
    )
    given = parser.parse_args()
    corpus = generate(given.target, given.layout, runs=given.runs, seed=given.seed, faulty=given.faulty)
    sys.stdout.write(f"{corpus.summary()}\n")


if __name__ == "__main__":
    main()
