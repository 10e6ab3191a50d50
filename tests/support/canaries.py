"""What lies outside of a store, and must neither be read nor changed, whatever a name or a link says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from journals import Journal

from safepoint.core.digest import digest_bytes

CANARY = "CANARY"
"""In everything that lies outside, so that whoever read it shows it."""

RUN = "run-1"
PLAN = b"plan"
HEX = digest_bytes(PLAN).removeprefix("sha256:")
REFERENCE = {
    "artifactId": "plan",
    "uri": f"artifacts/sha256/{HEX}",
    "digest": f"sha256:{HEX}",
    "size": len(PLAN),
    "mediaType": None,
}


def lay(store: Path, word: str = "word", run_id: str = RUN, **members: Any) -> Path:
    """A store with everything that a store may hold; `word` stands in all of it."""
    journal = Journal(run_id).begin(labels={"word": word})
    journal.checkpoint(2, f"cp-{word}", state=word, **{"artifactRefs": [REFERENCE], **members})
    journal.recover(3, "detected", reason=word)
    journal.write(store)
    folder = store / "runs" / run_id
    (folder / "heartbeat").mkdir()
    (folder / "heartbeat/0000000001.json").write_text(f'{{"{word}":1}}')
    (folder / "artifacts/sha256").mkdir(parents=True)
    (folder / "artifacts/sha256" / HEX).write_bytes(PLAN)
    (store / "safepoint.json").write_text('{"recordType":"store","schemaVersion":"v3","layout":1}')
    return store


class Outside:
    """A folder beside the store, and what was done to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = lay(folder, CANARY)
        (folder / "secret.json").write_text(f'{{"secret":"{CANARY}"}}')
        self._before = self._state()
        self.touched: list[str] = []
        """What was read, listed or written in it."""

    def _state(self) -> dict[str, Any]:
        paths = sorted([self.folder, *self.folder.rglob("*")])
        return {str(path): (path.lstat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in paths}

    def holds(self, file: int | str | os.PathLike[str]) -> bool:
        """Whether an open file, or a path, leads into it."""
        try:
            path = Path(f"/proc/self/fd/{file}" if isinstance(file, int) else file)
            return path.resolve().is_relative_to(self.folder)
        except OSError:
            return False

    def require_untouched(self) -> None:
        """Nothing in it was read, listed, written, made or removed."""
        assert self.touched == []
        assert self._state() == self._before

    @contextmanager
    def watched(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Within this block, what is done to it is remembered, by the calls to the system that all reading ends in."""

        def watch(name: str) -> Callable[..., Any]:
            real = getattr(os, name)

            def call(first: Any = ".", *rest: Any, **options: Any) -> Any:
                if self.holds(first):
                    self.touched.append(f"{name} {first}")
                return real(first, *rest, **options)

            return call

        with monkeypatch.context() as patch:
            for name in ("read", "write", "scandir", "listdir"):
                patch.setattr(os, name, watch(name))
            yield
        self.require_untouched()
