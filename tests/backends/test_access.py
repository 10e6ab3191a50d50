"""Those who may not, what does not answer, and processes that come from others: typed errors, and never a secret."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import servers
from foreign import foreign_to
from places import EVERYWHERE, REMOTE, Place
from servers import ACCOUNT_KEY, ADMIN, OPEN_BUCKET, READER, free_port

from safepoint.store import (
    AbsentError,
    DeniedError,
    Outcome,
    Store,
    StoreError,
    UnreachableError,
    open_store,
)
from safepoint.store.layout import heartbeat_key, journal_key

KEY = journal_key("r1", 1)
MINE = b'{"nonce":"mine"}'
BEAT = heartbeat_key("r1", 1)
SECRETS = (
    *ADMIN,
    *READER,
    ACCOUNT_KEY,
    "wrong-key-31f4",
    "wrong-secret-99ab",
    "d3JvbmctYWNjb3VudC1rZXktNzc=",
)
SEAWEEDFS = [name for name in REMOTE if name.startswith("seaweedfs")]
GUARDED = [name for name in REMOTE if name.startswith(("seaweedfs", "azurite"))]
"""Servers that ask who is there."""

Ask = Callable[[Store], object]
READS: list[Ask] = [
    lambda store: store.get(KEY),
    lambda store: store.get(KEY, limit=5),
    lambda store: list(store.pieces(KEY)),
    lambda store: store.exists(KEY),
    lambda store: list(store.list()),
    lambda store: list(store.list("runs")),
    lambda store: list(store.folders("runs")),
    lambda store: list(store.files()),
]
WRITES: list[Ask] = [
    lambda store: store.put_if_absent(KEY, MINE),
    lambda store: store.replace(BEAT, b"{}"),
    lambda store: store.delete(KEY),
]


def refused(ask: Ask, store: Store, *kinds: type[StoreError]) -> StoreError:
    """The error with which `ask` ends, one of `kinds`; neither it nor its traceback tells a secret."""
    with pytest.raises(kinds) as caught:
        ask(store)
    error = caught.value
    said = "".join(traceback.format_exception(error)) + repr(error) + repr(error.__cause__) + error.url
    assert not [secret for secret in SECRETS if secret in said]
    assert error.url.startswith(store.url)
    assert error.remedy in str(error)
    return error


# Who may not


@pytest.mark.parametrize("place", SEAWEEDFS, indirect=True)
def test_who_may_only_read_reads_everything_and_writes_nothing(place: Place, store: Store) -> None:
    store.put_if_absent(KEY, MINE)
    reader = place.open(key=READER[0], secret=READER[1])
    assert (reader.get(KEY), reader.get(KEY, limit=99)) == (MINE, MINE)
    assert (reader.exists(KEY), reader.exists(BEAT)) == (True, False)
    assert [entry.key for entry in reader.list()] == [KEY]
    assert (list(reader.folders("runs")), list(reader.files())) == (["r1"], [])
    assert list(reader.get_many(reader.list("runs"))) == [MINE]
    with pytest.raises(AbsentError):
        reader.get(BEAT)
    for write in [*WRITES, lambda store: store.put_if_absent(journal_key("r1", 2), MINE)]:
        refused(write, reader, DeniedError)
    assert place.foreign.everything() == {KEY: MINE}


@pytest.mark.parametrize("place", GUARDED, indirect=True)
def test_who_is_unknown_is_denied_everything_and_told_no_secret(place: Place, store: Store) -> None:
    store.put_if_absent(KEY, MINE)
    assert place.server
    if place.backend == "s3":
        options = [{"key": "wrong-key-31f4", "secret": "wrong-secret-99ab"}, {"secret": "wrong-secret-99ab"}]
    else:
        wrong = servers.az_options(place.server.address, key="d3JvbmctYWNjb3VudC1rZXktNzc=")
        options = [wrong]
    for given in options:
        stranger = place.open(**given)
        assert not [secret for secret in SECRETS if secret in repr(stranger) + stranger.url]
        for ask in (*READS, *WRITES):
            refused(ask, stranger, DeniedError)
    assert place.foreign.everything() == {KEY: MINE}


@pytest.mark.parametrize("driver", ["fsspec", "obstore"])
def test_what_is_open_to_everybody_is_read_without_an_identity(driver: str) -> None:
    server = servers.seaweedfs()
    spot = server.spot(driver, bucket=OPEN_BUCKET)
    foreign_to(server, spot.url).put(KEY, MINE)
    nobody = open_store(spot.url, **servers.s3_options(server.address, None), driver=driver)
    assert (nobody.get(KEY), [entry.key for entry in nobody.list()]) == (MINE, [KEY])
    refused(lambda store: store.put_if_absent(journal_key("r1", 2), MINE), nobody, DeniedError)
    closed = open_store(server.spot().url, **servers.s3_options(server.address, None), driver=driver)
    for ask in (*READS, *WRITES):
        refused(ask, closed, DeniedError)


# What is not there


@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_a_bucket_that_does_not_exist_is_absent_to_readers_and_an_error_to_writers(place: Place) -> None:
    store = open_store(f"{place.backend}://no-such-bucket-7d1/x", **place.options)
    for ask in READS[:3] + READS[4:5]:
        refused(ask, store, AbsentError)
    for write in WRITES[:2]:
        refused(write, store, AbsentError, DeniedError)


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_a_server_that_does_not_answer_is_an_error_and_never_an_absence(place: Place) -> None:
    store = place.open(**nowhere(place))
    for ask in (READS[0], READS[2], READS[3], READS[4], READS[6], WRITES[1], WRITES[2]):
        refused(ask, store, UnreachableError)
    with suppress(UnreachableError):  # a client may know that it never had a connection
        assert store.put_if_absent(KEY, MINE) is Outcome.UNKNOWN


@pytest.mark.parametrize("place", ["ministack-fsspec", "ministack-obstore"], indirect=True)
def test_nobody_waits_long_for_a_server_that_does_not_answer(place: Place) -> None:
    begun = time.monotonic()
    refused(READS[3], place.open(**nowhere(place)), UnreachableError)
    assert 0.5 < time.monotonic() - begun < 15


def nowhere(place: Place) -> dict[str, Any]:
    """The options for an address where nobody listens."""
    assert place.server
    return servers.OPTIONS[place.backend](place.server.at(free_port()).address)


# Other processes


@pytest.mark.parametrize("place", EVERYWHERE, indirect=True)
def test_a_remote_store_is_not_handed_to_another_process(place: Place, store: Store) -> None:
    if place.backend == "local":
        assert pickle.loads(pickle.dumps(store)).url == store.url
        return
    with pytest.raises(TypeError, match="hand over its URL and its options"):
        pickle.dumps(store)


FORKING = """
import json, os, sys, warnings
from safepoint.store import StoreError, open_store
from safepoint.store.layout import journal_key
warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads is the very question
url, options = json.loads(sys.argv[1])
store = open_store(url, **options)
assert store.get(journal_key("r1", 1)) == b"parent"
child = os.fork()
if child == 0:
    try:
        outcome = store.put_if_absent(journal_key("r1", 2), b"child").value
        outcome += " " + store.get(journal_key("r1", 2)).decode()
    except StoreError as error:
        outcome = type(error).__name__
    print(outcome, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(store.get(journal_key("r1", 1)).decode())
"""


@pytest.mark.parametrize("place", [name for name in EVERYWHERE if name != "memory"], indirect=True)
def test_a_forked_process_can_use_its_parents_store_or_is_told_that_it_cannot(
    place: Place, store: Store
) -> None:
    store.put_if_absent(KEY, b"parent")
    given = json.dumps([place.url, dict(place.options)])
    done = subprocess.run(
        [sys.executable, "-c", FORKING, given], capture_output=True, text=True, timeout=40, check=True
    )
    child, parent, _ = done.stdout.split("\n")
    assert parent == "parent"
    # obstore waits for ever in a forked process, and so is not asked there
    assert child == ("UnsupportedError" if place.driver == "obstore" else "won child")
    assert (journal_key("r1", 2) in place.foreign.everything()) is (child == "won child")


def test_what_a_store_promises_is_said_of_each_backend(place: Place, store: Store) -> None:
    capabilities: Any = store.capabilities
    assert (capabilities.backend, capabilities.can_claim) == (place.backend, True)
    assert (capabilities.fresh_reads, capabilities.fresh_listings) == (True, True)
