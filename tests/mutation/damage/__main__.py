"""Tries every damage at every place, and lists what is not found: ``cd tests/mutation && python -m damage [CASE...]``.

The test beside it tries a share of the same; this takes a quarter of an hour.
"""

from __future__ import annotations

import sys
from collections import Counter
from time import perf_counter

from damage import harmless, trial


def say(*lines: str) -> None:
    """Writes lines at once: whoever waits for a quarter of an hour wants to see something."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def main(names: list[str]) -> int:
    """Runs the cases whose name holds one of `names`, or all, and prints what came of it.

    Returns:
        The process's exit code: 1 where a damage was missed.
    """
    began = perf_counter()
    tried: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for good in trial.good_cases():
        if names and not any(name in good.name for name in names):
            continue
        sample = trial.every_byte if good.name in trial.TO_THE_BYTE else trial.some_bytes
        for one in trial.tried(good, trial.everywhere, trial.everywhere, sample):
            tried[one.kind] += 1
            why = harmless.reason(one.kind, one.what)
            if one.crash:
                missed[f"{one}: {one.crash}"] += 1
            elif not one.new and why:
                excused[why] += 1
            elif not one.new:
                missed[f"{one.kind}: {one.what}"] += 1
        say(f"{good.name}: {tried.total()} so far, {missed.total()} missed")
    say(f"\n{tried.total()} damages of {len(tried)} kinds in {perf_counter() - began:.0f} s")
    say(f"{excused.total()} harmless:", *(f"  {n:6} {why}" for why, n in excused.most_common()))
    unused = {entry.reason for entry in harmless.HARMLESS} - excused.keys()
    say(f"{len(unused)} reasons that excuse nothing:", *(f"  {why}" for why in sorted(unused)))
    say(f"{missed.total()} missed:", *(f"  {n:6} {what}" for what, n in sorted(missed.items())))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
