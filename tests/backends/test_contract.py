"""One contract for every backend and driver: what a name holds, who gets it, and what a reader is told."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from foreign import put_all
from places import Place

from safepoint.store import AbsentError, Entry, Outcome, OutsideStoreError, Store, TooLargeError
from safepoint.store.layout import heartbeat_key, journal_key

KEY = journal_key("r1", 1)
MINE = b'{"nonce":"mine"}'
OTHERS = b'{"nonce":"others"}'
WON, LOST = Outcome.WON, Outcome.LOST
LARGE = bytes(range(256)) * (5 * 2**12)
"""Five mebibytes; with every byte, and with boundaries of whatever kind."""


def keys(store: Store, prefix: str = "") -> list[str]:
    """What is listed, sorted, because not every backend lists in order."""
    return sorted(entry.key for entry in store.list(prefix))


# Who gets a name


def test_the_first_wins_the_second_loses_and_the_same_bytes_are_an_earlier_try(
    place: Place, store: Store
) -> None:
    assert store.put_if_absent(KEY, OTHERS) is WON
    assert store.put_if_absent(KEY, MINE) is LOST
    assert store.put_if_absent(KEY, OTHERS + b" ") is LOST
    assert store.put_if_absent(KEY, OTHERS[:-1]) is LOST
    assert place.open().put_if_absent(KEY, OTHERS) is WON
    assert place.foreign.everything() == {KEY: OTHERS}


@pytest.mark.parametrize("data", [b"", b"x", LARGE], ids=["empty", "one byte", "5 MiB"])
def test_objects_of_any_size_are_claimed_and_read_whole(place: Place, store: Store, data: bytes) -> None:
    assert store.put_if_absent(KEY, data) is WON
    assert store.get(KEY) == data
    assert store.put_if_absent(KEY, data) is WON
    for other in (b"", b"y", data + b"z"):
        assert store.put_if_absent(KEY, other) is (WON if other == data else LOST)
    assert b"".join(store.pieces(KEY)) == data
    assert [(entry.key, entry.size in {len(data), None}) for entry in store.list()] == [(KEY, True)]
    assert place.foreign.everything() == {KEY: data}


def test_what_a_foreign_tool_wrote_first_keeps_its_name(place: Place, store: Store) -> None:
    place.foreign.put(KEY, OTHERS)
    assert store.put_if_absent(KEY, MINE) is LOST
    assert store.put_if_absent(KEY, b"") is LOST
    assert store.get(KEY) == OTHERS


def test_of_many_threads_one_wins_each_name(place: Place, store: Store) -> None:
    store.put_if_absent("safepoint.json", b"{}")
    crowd = 3 if place.name.startswith("seaweedfs") else 8  # it stalls for seconds where many want one name
    with ThreadPoolExecutor(crowd) as pool:
        for number in range(1, 4):
            key = journal_key("r1", number)
            tries = [b'{"thread":%d}' % thread for thread in range(crowd)]
            outcomes = dict(zip(tries, pool.map(store.put_if_absent, [key] * crowd, tries), strict=True))
            (winner,) = (data for data, outcome in outcomes.items() if outcome is WON)
            assert set(outcomes.values()) == {WON, LOST}
            assert store.get(key) == winner


def test_many_are_put_as_one_by_one_and_their_outcomes_come_in_order(place: Place, store: Store) -> None:
    items = [(journal_key("r1", number), b'{"n":%d}' % number) for number in range(1, 81)]
    place.foreign.put(items[1][0], OTHERS)
    store.put_if_absent(*items[2])
    found = store.put_many([*items, ("runs/../outside.json", MINE)])
    assert list(found[:-1]) == [WON, LOST, *[WON] * 78]
    assert isinstance(found[-1], OutsideStoreError)
    assert place.foreign.everything() == dict(items) | {items[1][0]: OTHERS}


def test_names_may_hold_every_character_of_their_alphabet(place: Place, store: Store) -> None:
    letters = string.ascii_letters + string.digits + "._=-"
    names = [f"runs/{letters}/{letter}{letters}.json" for letter in letters] + ["a=/-b/_c/.d/e..f"]
    for name in names:
        assert store.put_if_absent(name, name.encode()) is WON
    # names that differ by case are two wherever the backend is one of those in use
    assert keys(store) == sorted(names)
    assert [store.get(name) for name in names] == [name.encode() for name in names]
    assert set(place.foreign.everything()) == set(names)


@pytest.mark.parametrize(
    "key", ["a*.json", "a?.json", "a[1b].json", "{a1,ab}.json", "a%31.json", "a1.json?x=y", "**"]
)
def test_a_name_that_looks_like_a_pattern_or_an_escape_touches_no_other(
    place: Place, store: Store, key: str
) -> None:
    others = {"a1.json": b"1", "ab.json": b"b"}
    put_all(place.foreign, others)
    with pytest.raises(AbsentError):
        store.get(key)
    assert not store.exists(key)
    store.delete(key)
    assert place.foreign.everything() == others
    assert store.put_if_absent(key, MINE) is WON
    assert (store.get(key), store.exists(key)) == (MINE, True)
    assert place.foreign.everything() == {**others, key: MINE}
    store.delete(key)
    assert place.foreign.everything() == others


@pytest.mark.parametrize(
    "key", ["", "/etc/hostname", "../x", "runs/../../x", "runs//x", "runs/./x", "a/", "a\\b", "a\0b", ".."]
)
def test_a_name_that_could_lead_out_is_refused(place: Place, store: Store, key: str) -> None:
    asked = [store.get, store.exists, store.delete, lambda key: store.put_if_absent(key, MINE)]
    for ask in [*asked, lambda key: list(store.pieces(key))]:
        with pytest.raises(OutsideStoreError):
            ask(key)
    with pytest.raises(OutsideStoreError):
        list(store.list(key + "//"))


# What is there


def test_an_absent_object_is_absent_and_deleting_it_is_nothing(place: Place, store: Store) -> None:
    store.put_if_absent(KEY, MINE)
    for key in (journal_key("r1", 2), "no/such/folder/nope.json", "runs/r1", "runs/r1/journal", KEY + ".x"):
        with pytest.raises(AbsentError if key.endswith((".json", ".x")) else Exception):
            store.get(key)
        assert not store.exists(key)
    store.delete(journal_key("r1", 2))
    store.delete("no/such/folder/nope.json")
    assert store.exists(KEY)
    assert place.foreign.everything() == {KEY: MINE}


def test_no_more_is_read_than_is_wanted(place: Place, store: Store) -> None:
    store.put_if_absent(KEY, MINE)
    store.put_if_absent("empty.json", b"")
    assert store.get(KEY, limit=len(MINE)) == MINE
    assert (store.get("empty.json", limit=0), store.get("empty.json", limit=9)) == (b"", b"")
    for limit in (0, 1, len(MINE) - 1):
        with pytest.raises(TooLargeError, match=f"limit of {limit} bytes"):
            store.get(KEY, limit=limit)
    with pytest.raises(AbsentError):
        store.get("nope.json", limit=1)


def test_many_objects_come_in_order_with_their_errors_in_place(place: Place, store: Store) -> None:
    objects = {f"runs/r1/journal/{n:010d}.json": b'{"n":%d}' % n for n in range(1, 301)}
    large = "runs/r1/large.json"
    put_all(place.foreign, {**objects, large: b"x" * 100})
    listed = {entry.key: entry for entry in store.list()}
    assert set(listed) == {*objects, large}
    wanted = [listed[key] for key in reversed(objects)]
    wanted.insert(100, listed[large])
    wanted.insert(200, Entry("runs/r1/journal/nope.json", None))
    wanted.insert(250, Entry("runs/../nope.json", None))
    found = list(store.get_many(iter(wanted), limit=50))
    assert [type(found[place]) for place in (100, 200, 250)] == [
        TooLargeError,
        AbsentError,
        OutsideStoreError,
    ]
    for index in (250, 200, 100):
        del found[index]
    assert found == list(reversed(objects.values()))


def test_reading_ahead_is_bounded_and_may_be_broken_off(place: Place, store: Store) -> None:
    store.put_if_absent(KEY, MINE)
    (entry,) = store.list()
    asked = 0

    def endless() -> Iterator[Entry]:
        nonlocal asked
        while True:
            asked += 1
            yield entry

    reading = store.get_many(endless())
    assert list(itertools.islice(reading, 5)) == [MINE] * 5
    assert asked < 500
    if hasattr(reading, "close"):
        reading.close()
    assert store.get(KEY) == MINE


def test_an_object_in_pieces_is_the_object_and_an_absent_one_has_none(place: Place, store: Store) -> None:
    store.put_if_absent("runs/r1/large.bin", LARGE * 2)
    pieces = list(store.pieces("runs/r1/large.bin"))
    assert b"".join(pieces) == LARGE * 2
    with pytest.raises(AbsentError):
        list(store.pieces("runs/r1/nope.bin"))
    for _ in range(40):  # more often than there are connections, each of them given back
        broken_off: Any = store.pieces("runs/r1/large.bin")
        assert LARGE.startswith(next(broken_off)[:9])
        broken_off.close()
    assert b"".join(store.pieces("runs/r1/large.bin")) == LARGE * 2


def test_what_others_write_and_delete_is_seen_at_once(place: Place, store: Store) -> None:
    store.put_if_absent("safepoint.json", b"{}")
    reader = place.open()
    assert keys(reader) == ["safepoint.json"]
    assert list(reader.folders("runs")) == []
    assert not reader.exists(KEY)
    place.foreign.put(KEY, OTHERS)
    assert (keys(reader), list(reader.folders("runs"))) == ([KEY, "safepoint.json"], ["r1"])
    assert (reader.exists(KEY), reader.get(KEY)) == (True, OTHERS)
    place.foreign.put(KEY, OTHERS * 2)
    assert (reader.get(KEY), b"".join(reader.pieces(KEY))) == (OTHERS * 2, OTHERS * 2)
    assert list(reader.get_many(reader.list("runs"))) == [OTHERS * 2]
    place.foreign.delete(KEY)
    assert not reader.exists(KEY)
    assert keys(reader) == ["safepoint.json"]
    with pytest.raises(AbsentError):
        reader.get(KEY)
    assert store.put_if_absent(KEY, MINE) is WON


# What may be rewritten and removed


def test_an_owner_rewrites_its_heartbeat_and_nothing_else(place: Place, store: Store) -> None:
    for beat in (b'{"beat":1}', b'{"beat":22}', b'{"beat":3}'):
        store.replace(heartbeat_key("r1", 4), beat)
        assert place.open().get(heartbeat_key("r1", 4)) == beat
    store.put_if_absent(KEY, OTHERS)
    for key in (KEY, "safepoint.json", "runs/r1/heartbeat/4.json"):
        with pytest.raises(ValueError, match="only a heartbeat"):
            store.replace(key, MINE)
    assert place.foreign.everything() == {heartbeat_key("r1", 4): b'{"beat":3}', KEY: OTHERS}


def test_one_object_is_deleted_and_its_name_is_free_again(place: Place, store: Store) -> None:
    near = [KEY[:-1], KEY + "x", journal_key("r1", 11)]
    for key in (KEY, *near):
        place.foreign.put(key, OTHERS)
    store.delete(KEY)
    assert set(place.foreign.everything()) == set(near)
    assert not store.exists(KEY)
    store.delete(KEY)
    assert store.put_if_absent(KEY, MINE) is WON
    assert store.get(KEY) == MINE
