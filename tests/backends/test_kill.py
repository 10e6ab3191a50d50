"""Writers that are killed in the middle: each record is there whole or not at all, and the next writer goes on.

On disk `tests/store/test_put_if_absent.py` kills between any two system calls; here the same chain is written, and its
writer killed at any moment, in every kind of storage.
"""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from places import SHARED, Place

from safepoint.store import Outcome, Store
from safepoint.store.layout import journal_key

RUN = "killed"
NUMBERS = 200
KILLS = 3

WRITER = """
import hashlib, json, os, sys
from safepoint.store import Outcome, open_store
from safepoint.store.layout import journal_key
url, options, number, last = json.loads(sys.argv[1])
store = open_store(url, **options)
store.exists(journal_key("killed", number))
print("ready", flush=True)
while number <= last:
    filler = os.urandom(4000).hex()
    data = json.dumps({"n": number, "filler": filler, "digest": hashlib.sha256(filler.encode()).hexdigest()}).encode()
    if store.put_if_absent(journal_key("killed", number), data) is not Outcome.WON:
        sys.exit("not won, with nobody else there")
    number += 1
sys.stdin.read()
"""


def records(store: Store) -> dict[int, dict[str, Any]]:
    """All records by number, each found whole."""
    found: dict[int, dict[str, Any]] = {}
    if not any(True for _ in store.folders("runs")):
        return found
    entries = list(store.list(f"runs/{RUN}"))
    for entry, data in zip(entries, store.get_many(entries), strict=True):
        assert isinstance(data, bytes), data
        value = json.loads(data)
        assert value["digest"] == hashlib.sha256(value["filler"].encode()).hexdigest()
        assert entry.key == journal_key(RUN, value["n"])
        found[value["n"]] = value
    return found


@pytest.mark.parametrize("place", SHARED, indirect=True)
def test_a_killed_writer_leaves_each_record_whole_or_absent_and_the_next_goes_on(
    place: Place, seed: int
) -> None:
    chance = random.Random(seed)
    store = place.open()
    store.put_if_absent("safepoint.json", b"{}")
    before = 0
    for _ in range(KILLS):
        given = json.dumps([place.url, dict(place.options), before + 1, NUMBERS])
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, given], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        with writer:
            assert writer.stdout
            writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.1))
            writer.kill()
        assert writer.returncode == -signal.SIGKILL, "it stopped before it was killed"
        found = records(store)
        assert sorted(found) == list(range(1, len(found) + 1))
        assert len(found) >= before, "a record is gone"
        before = len(found)
    # what a dying writer sent may still be on its way, so the next number may be taken; the one behind it is not
    outcomes = [store.put_if_absent(journal_key(RUN, before + 1 + n), b'{"next":%d}' % n) for n in range(3)]
    assert outcomes[1:] == [Outcome.WON, Outcome.WON]
    assert [b'{"next":%d}' % n for n in (1, 2)] == [
        store.get(journal_key(RUN, before + 1 + n)) for n in (1, 2)
    ]
