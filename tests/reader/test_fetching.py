"""One artifact for whoever goes on with a run: all of its bytes, verified, or none of them."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journals import Journal

import safepoint
from safepoint.core.digest import digest_bytes
from safepoint.reader import fetching
from safepoint.reader.fetching import open_verified
from safepoint.store import AbsentError, CorruptError, OutsideStoreError, UnsupportedError
from safepoint.store.local import LocalStore

DATA = b"plan " * 1000
PLAN = {
    "artifactId": "plan",
    "uri": None,
    "digest": digest_bytes(DATA),
    "size": len(DATA),
    "mediaType": None,
}
KEY = "runs/run-1/artifacts/sha256/" + digest_bytes(DATA).removeprefix("sha256:")
GONE: dict[str, Any] = {"reason": "erasure request", "by": "privacy-office"}


def lay(folder: Path, data: bytes | None = DATA, journal: Journal | None = None, **members: Any) -> str:
    (journal or Journal().begin().checkpoint(2, artifactRefs=[{**PLAN, **members}])).write(folder)
    if data is not None:
        (folder / KEY).parent.mkdir(parents=True)
        (folder / KEY).write_bytes(data)
    return str(folder)


@pytest.mark.parametrize("reference", ["plan", PLAN, {**PLAN, "size": None}])
def test_verified_bytes_come_by_the_id_or_by_the_reference(tmp_path: Path, reference: Any) -> None:
    store = lay(tmp_path)
    assert safepoint.read_artifact(store, "run-1", reference) == DATA
    with safepoint.open_artifact(store, "run-1", reference) as file:
        assert [file.read(7), file.read()] == [DATA[:7], DATA[7:]]


@pytest.mark.parametrize("data", [DATA[:-1], DATA + b"x", DATA.replace(b"p", b"q"), b""])
@pytest.mark.parametrize("size", [len(DATA), None])
def test_other_bytes_are_never_handed_out(tmp_path: Path, data: bytes, size: int | None) -> None:
    store = lay(tmp_path, data, size=size)
    for read in (safepoint.read_artifact, safepoint.open_artifact):
        with pytest.raises(CorruptError, match=r"artifact 'plan' has|of artifact 'plan' have"):
            read(store, "run-1", "plan")


def test_large_ones_wait_in_a_file_that_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lay(tmp_path / "store")
    spools = tmp_path / "spools"
    spools.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spools))
    monkeypatch.setattr(fetching, "IN_MEMORY", 100)
    with safepoint.open_artifact(store, "run-1", "plan") as file:
        assert not isinstance(file, io.BytesIO)
        assert file.read() == DATA
    (tmp_path / "store" / KEY).write_bytes(DATA[1:] + b"p")
    with pytest.raises(CorruptError):
        safepoint.open_artifact(store, "run-1", "plan")
    assert list(spools.iterdir()) == []


def test_bytes_that_are_not_there_are_absent(tmp_path: Path) -> None:
    store = lay(tmp_path, None)
    with pytest.raises(AbsentError, match="nothing is there"):
        safepoint.read_artifact(store, "run-1", "plan")
    with pytest.raises(AbsentError, match="names no artifact 'plot'"):
        safepoint.read_artifact(store, "run-1", "plot")
    with pytest.raises(safepoint.UnknownRunError):
        safepoint.read_artifact(store, "run-2", "plan")


def test_without_a_digest_nothing_could_be_verified(tmp_path: Path) -> None:
    store = lay(tmp_path, digest=None, uri=KEY.removeprefix("runs/run-1/"))
    with pytest.raises(UnsupportedError, match="has no digest"):
        safepoint.read_artifact(store, "run-1", "plan")


@pytest.mark.parametrize("uri", ["../run-2/artifacts/x", "/etc/hostname", "file:///etc/hostname", "s3://b/x"])
def test_a_reference_of_the_callers_own_leads_no_further_than_a_records(tmp_path: Path, uri: str) -> None:
    store = lay(tmp_path)
    with pytest.raises(OutsideStoreError):
        safepoint.read_artifact(store, "run-1", {**PLAN, "uri": uri})


def test_what_was_retracted_is_refused_while_its_bytes_are_there(tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2, artifactRefs=[PLAN]).add("retract", 3, targets=["plan"], **GONE)
    store = lay(tmp_path, journal=journal)
    for reference in ("plan", PLAN):
        with pytest.raises(safepoint.RetractedError, match="'plan' of run 'run-1' was retracted"):
            safepoint.read_artifact(store, "run-1", reference)


def test_an_artifact_goes_with_the_last_checkpoint_that_names_it(tmp_path: Path) -> None:
    def journal(*targets: str) -> Journal:
        made = Journal().begin().checkpoint(2, "cp-1", artifactRefs=[PLAN])
        return made.checkpoint(3, "cp-2", artifactRefs=[PLAN]).add("retract", 4, targets=[*targets], **GONE)

    store = lay(tmp_path / "one", journal=journal("cp-2"))
    assert safepoint.read_artifact(store, "run-1", "plan") == DATA
    store = lay(tmp_path / "both", journal=journal("cp-1", "cp-2"))
    with pytest.raises(safepoint.RetractedError):
        safepoint.read_artifact(store, "run-1", "plan")


def test_a_store_that_breaks_off_hands_out_nothing(tmp_path: Path) -> None:
    class Breaking(LocalStore):
        def pieces(self, key: str) -> Iterator[bytes]:
            yield DATA[:10]
            raise AbsentError(self.url_of(key), "it is gone", key)

    lay(tmp_path)
    with pytest.raises(AbsentError, match="it is gone"):
        open_verified(Breaking(str(tmp_path)), "run-1", PLAN)
