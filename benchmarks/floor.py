"""The floor: what reading and parsing cost, and nothing else. ``python benchmarks/floor.py DIR``.

Decided here: the yardstick. Whoever validates JSON in Python has to find the files, open them, read them and parse
each text; this does it as one would write it down, with the fastest parser there is, keeps nothing and checks nothing.
It runs as a process of its own in the interpreter that the validator runs in, so that starting Python is in both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import orjson


def texts(folder: str) -> Iterator[bytes]:
    """Every JSON text below `folder`: a file each, or each line of a ``.jsonl`` file."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from texts(entry.path)
                continue
            with open(entry.path, "rb") as file:  # noqa: PTH123 - the floor is not to pay for pathlib
                data = file.read()
            if entry.name.endswith(".jsonl"):
                yield from data.splitlines()
            else:
                yield data


def main(folder: str) -> None:
    """Parse them all; say how many there were, and how many are no JSON."""
    parsed = broken = 0
    for text in texts(folder):
        try:
            orjson.loads(text)
            parsed += 1
        except orjson.JSONDecodeError:
            broken += 1
    sys.stdout.write(f"{parsed} parsed, {broken} broken\n")


if __name__ == "__main__":
    main(sys.argv[1])
