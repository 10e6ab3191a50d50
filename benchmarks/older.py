"""A corpus of v2 checkpoints from a seed: ``python -m benchmarks.older DIR --layout objects --runs 2000 --seed 1``.

Decided here: how a writer of v2, who had one snapshot for everything, would have kept the runs of ``story``. Made
without the package's own migrator, which is what reads it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import orjson

from benchmarks.corpus import Layout
from benchmarks.story import tell


def generate(target: Path, layout: Layout, *, runs: int, seed: int) -> int:
    """Write a store to the new folder `target`, and say how many records it holds.

    Args:
        target: the store's folder.
        layout: ``objects``, each checkpoint a file in its run's folder, or ``lines``, a file for each run.
        runs: how many, of ten checkpoints each.
        seed: what all of it is made from.

    Raises:
        FileExistsError: there is something already.
    """
    target.mkdir(parents=True)
    count = 0
    for number in range(1, runs + 1):
        story = tell(seed, number)
        folder = target / "runs" / story.run_id
        folder.mkdir(parents=True)
        texts = [orjson.dumps(value) for value in checkpoints(story.journal)]
        count += len(texts)
        if layout == "lines":
            (folder / "checkpoints.jsonl").write_bytes(b"".join(text + b"\n" for text in texts))
            continue
        for place, text in enumerate(texts, 1):
            (folder / f"checkpoint-{place:02d}.json").write_bytes(text)
    return count


def checkpoints(journal: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A run's checkpoints as v2, each as large as those of v3."""
    found: list[dict[str, Any]] = []
    before = None
    for value in journal:
        if value["recordType"] != "checkpoint":
            continue
        state = value["stateSnapshot"]
        kept = {"state": state, "before": before, "digests": value["guardContext"], "usage": value["usage"]}
        found.append(
            {name: value[name] for name in ("checkpointId", "runId", "state", "stepName")}
            | {
                "schemaVersion": "v2",
                "inputSnapshot": value["inputSnapshot"] | kept,
                "artifactRefs": [reference["artifactId"] for reference in value["artifactRefs"]],
                "sideEffectStatus": value["sideEffectStatus"],
                "createdAt": value["createdAt"],
            }
        )
        before = state
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.older", description=__doc__.partition(":")[0])
    parser.add_argument("target", type=Path, metavar="DIR", help="a folder that does not exist yet")
    parser.add_argument("--layout", choices=("objects", "lines"), default="objects")
    parser.add_argument("--runs", type=int, default=2000, help="of 10 checkpoints (2000)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    count = generate(given.target, given.layout, runs=given.runs, seed=given.seed)
    sys.stdout.write(f"{given.runs:,} runs, {count:,} checkpoints of v2\n")


if __name__ == "__main__":
    main()
