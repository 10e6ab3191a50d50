"""A store's folder that vanishes under a running writer: nothing is won on the disk below it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from safepoint.store import AbsentError, Outcome, Store, UnreachableError, open_store
from safepoint.store.layout import heartbeat_key, journal_key

KEY = journal_key("r1", 1)
MINE = b'{"nonce":"mine"}'

WRITES: dict[str, Callable[[Store], object]] = {
    "put": lambda store: store.put_if_absent(journal_key("r1", 2), MINE),
    "the same again": lambda store: store.put_if_absent(KEY, MINE),
    "beside": lambda store: store.put_if_absent("safepoint.json", MINE),
    "replace": lambda store: store.replace(heartbeat_key("r1", 1), MINE),
    "delete": lambda store: store.delete(KEY),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("before", ["wrote", "read"])
@pytest.mark.parametrize("now", ["gone", "empty", "another"])
def test_a_store_whose_disk_has_gone_is_not_written_somewhere_else(
    tmp_path: Path, now: str, before: str, write: str
) -> None:
    """As when its mount went away; a folder that was renamed stands for it."""
    root = tmp_path / "mount/store"
    store = open_store(str(root))
    store.put_if_absent(KEY, MINE)
    if before == "read":
        store = open_store(str(root))
        assert store.get(KEY) == MINE
    root.parent.rename(tmp_path / "elsewhere")
    root.parent.mkdir()
    if now == "empty":
        root.mkdir()
    elif now == "another":
        (root / "runs/r1/journal").mkdir(parents=True)
    there = sorted(root.parent.rglob("*"))
    with pytest.raises(
        UnreachableError, match=r"mount/store: the store's folder is not the one it was: .+; see"
    ):
        WRITES[write](store)
    assert sorted(root.parent.rglob("*")) == there
    assert (tmp_path / "elsewhere/store" / KEY).read_bytes() == MINE
    if now == "gone":
        root.parent.rmdir()
        (tmp_path / "elsewhere").rename(root.parent)
        WRITES[write](store)  # it is there again
    else:
        WRITES[write](open_store(str(root)))


@pytest.mark.parametrize("step", ["mkdir", "open", "write", "link"])
def test_a_disk_that_goes_while_it_is_written_makes_no_winner_somewhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    root = tmp_path / "mount/store"
    root.mkdir(parents=True)
    for moment in range(1, 20):
        store = open_store(str(root))
        real, calls = getattr(os, step), []

        def go(*arguments: Any, real: Any = real, calls: list[int] = calls, **options: Any) -> Any:
            calls.append(1)
            if len(calls) == moment:  # noqa: B023 - called in this turn only
                root.parent.rename(tmp_path / "elsewhere")
                root.parent.mkdir()
            return real(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, go)
            with suppress(UnreachableError, AbsentError):
                store.put_if_absent(journal_key(f"r{moment}", 1), MINE)
        if len(calls) < moment:
            break
        assert list(root.parent.iterdir()) == []
        root.parent.rmdir()
        (tmp_path / "elsewhere").rename(root.parent)
    assert moment > 1


def test_a_store_that_is_made_by_its_first_write_is_known_from_then_on(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "mount/store"))
    assert store.put_if_absent(KEY, MINE) is Outcome.WON
    (tmp_path / "mount").rename(tmp_path / "elsewhere")
    with pytest.raises(UnreachableError, match="it is gone; see whether its disk is still mounted"):
        store.put_if_absent(journal_key("r1", 2), MINE)
    assert not (tmp_path / "mount").exists()
