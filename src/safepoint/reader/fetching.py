"""The bytes of one artifact, for whoever goes on with a run: all of them verified, or none.

Decided here: that no byte is handed out before the last one was compared, and that what was retracted is refused. Not
decided here: where an artifact lies (``artifacts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from safepoint.model.run import Run
from safepoint.reader.artifacts import (
    NOWHERE,
    Reference,
    contradiction,
    hidden_ids,
    locate,
    retracted_artifacts,
)
from safepoint.rules.timeline import artifact_references
from safepoint.store import AbsentError, CorruptError, OutsideStoreError, Store, StoreError, UnsupportedError
from safepoint.store.elsewhere import Elsewhere

IN_MEMORY = 8 << 20
"""Bytes: a larger artifact waits for its last byte in a temporary file."""


class RetractedError(StoreError):
    """The artifact was retracted: it is hidden from readers, also where its bytes are still there."""

    remedy = "go on from a checkpoint that does not need it"


def reference_of(run: Run, artifact_id: str, url: str) -> Reference:
    """The last reference of `run` to the artifact.

    Raises:
        AbsentError: no checkpoint and no result names it.
    """
    found = [ref for _, _, ref in artifact_references(run) if ref["artifactId"] == artifact_id]
    if not found:
        raise AbsentError(url, f"run {run.run_id!r} names no artifact {artifact_id!r}")
    return found[-1]


def require_visible(run: Run, reference: Reference, url: str) -> None:
    """Refuses an artifact that is hidden: by itself, or with every checkpoint that names it.

    Raises:
        RetractedError: it is.
    """
    name = reference.get("artifactId")
    if name in hidden_ids(run) | retracted_artifacts(run):
        raise RetractedError(url, f"artifact {name!r} of run {run.run_id!r} was retracted")


def open_verified(
    store: Store, run_id: str, reference: Reference, elsewhere: Elsewhere = NOWHERE
) -> IO[bytes]:
    """The artifact as an open file, at its beginning, once all of its bytes were found to be the promised ones.

    Raises:
        AbsentError: its bytes are not there.
        CorruptError: they are others than the reference says.
        OutsideStoreError: they lie where nobody allowed us to ask.
        UnsupportedError: the reference has no digest, so that nothing could be verified.
        StoreError: they cannot be read.
    """
    name, digest, size = reference.get("artifactId"), reference.get("digest"), reference.get("size")
    if digest is None:
        problem = (
            f"the reference to artifact {name!r} has no digest: nobody can tell whether bytes are its own"
        )
        raise UnsupportedError(store.url, problem, remedy="record it with its digest, as put_artifact does")
    place = locate(store, run_id, reference, elsewhere)
    if place is None:
        problem = f"artifact {name!r} does not lie in the store"
        raise OutsideStoreError(store.url, problem, remedy="allow its scheme to be asked, or copy it here")
    spool = cast("IO[bytes]", SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 - handed to the caller, who closes it
    try:
        content, length = sha256(), 0
        for piece in place.store.pieces(place.key):
            content.update(piece)
            length += len(piece)
            if size is not None and length > size:
                break
            spool.write(piece)
        if wrong := contradiction(reference, length, f"sha256:{content.hexdigest()}"):
            problem = f"artifact {name!r} has {wrong[1]}"
            raise CorruptError(place.url, problem, place.key)  # noqa: TRY301 - whatever is raised, the file is closed
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return spool


def open_artifact(
    store: Store, run: Run, reference: Mapping[str, Any] | str, elsewhere: Elsewhere = NOWHERE
) -> IO[bytes]:
    """As `open_verified`, for an artifact that `run` names, and that was not retracted.

    Args:
        store: the run's own store.
        run: the run.
        reference: what a checkpoint or a result says of it, or its id.
        elsewhere: what else may be asked.

    Raises:
        RetractedError: it was retracted.
        AbsentError: the run names no such artifact, or its bytes are not there.
        StoreError: as in `open_verified`.
    """
    if isinstance(reference, str):
        reference = reference_of(run, reference, store.url)
    require_visible(run, reference, store.url)
    return open_verified(store, run.run_id, reference, elsewhere)
