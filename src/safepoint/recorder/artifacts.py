"""Artifacts as a run's owner writes and reads them.

Decided here: that the bytes lie durably under their own digest before any record can name them, and that what is there
already is compared and never trusted. Not decided here: where artifacts of others lie (``reader``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import IO, Any, BinaryIO

from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Fault
from safepoint.reader.fetching import RetractedError, open_verified
from safepoint.recorder.errors import IllegalRecord, Unclear
from safepoint.recorder.journal import Journal
from safepoint.recorder.log import PAUSE, TRIES
from safepoint.store import AbsentError, CorruptError, Outcome, Store, StoreError
from safepoint.store.layout import artifact_key

_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,256}")


def put_artifact(
    journal: Journal,
    data: bytes | BinaryIO,
    *,
    artifact_id: str,
    media_type: str | None = None,
    produced_by: str | None = None,
) -> dict[str, Any]:
    """Write an artifact's bytes, and return the reference to them; see `RecordedRun.put_artifact`."""
    journal.require_owner()
    content = data.read() if hasattr(data, "read") else data
    if not isinstance(content, bytes):
        raise TypeError(
            f"data: got {type(content).__name__}, expected bytes, or a file that was opened for bytes"
        )
    digest = digest_bytes(content)
    reference: dict[str, Any] = {
        "artifactId": artifact_id,
        "uri": f"artifacts/sha256/{digest.removeprefix('sha256:')}",
        "digest": digest,
        "size": len(content),
        "mediaType": media_type,
    }
    if produced_by is not None:
        reference["producedBy"] = produced_by
    _require_fitting(journal, reference)
    _write(journal.store, artifact_key(journal.run_id, digest), content, digest)
    return reference


def _require_fitting(journal: Journal, reference: Mapping[str, Any]) -> None:
    """Raise where no checkpoint could name the artifact: before anything is written that nobody would ever read."""
    for member in ("artifactId", "mediaType", "producedBy"):
        text = reference.get(member)
        if text is not None and not (isinstance(text, str) and _ID.fullmatch(text)):
            problem = f"{member}: expected 1 to 256 characters without control characters"
            raise IllegalRecord("this artifact cannot be named", [Fault("SP206", problem, f"/{member}")])
    name = reference["artifactId"]
    if name in journal.retracted:
        problem = "this artifactId was retracted, which hides whatever bears it; give the artifact another id"
        raise IllegalRecord("this artifact could not be read", [Fault("SP513", problem, "/artifactId")])
    if journal.artifacts.get(name, reference["digest"]) != reference["digest"]:
        problem = "this artifactId names other bytes already; give each content an id of its own"
        raise IllegalRecord("this artifact cannot be named", [Fault("SP513", problem, "/artifactId")])


def _write(store: Store, key: str, content: bytes, digest: str) -> None:
    """The bytes under their own digest: whoever wrote them first, they are the same."""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE * 2**attempt)
        try:
            outcome = store.put_if_absent(key, content)
            if outcome is Outcome.WON:
                return
            if outcome is Outcome.LOST and _holds(store, key, digest):
                return
        except CorruptError:
            raise
        except StoreError:
            if not attempt:
                raise
    raise Unclear(f"{store.url_of(key)}: the store did not say whether the artifact was written; try again")


def _holds(store: Store, key: str, digest: str) -> bool:
    """Whether the bytes are there; False: nothing is, any more.

    Raises:
        CorruptError: other bytes are there, which somebody damaged: the name is their digest.
    """
    content = sha256()
    try:
        for piece in store.pieces(key):
            content.update(piece)
    except AbsentError:
        return False
    if f"sha256:{content.hexdigest()}" != digest:
        problem = "the bytes that lie under this digest have another one: somebody changed them"
        raise CorruptError(store.url_of(key), problem, key, "restore them from a copy, or remove them")
    return True


def open_artifact(journal: Journal, reference: Mapping[str, Any]) -> IO[bytes]:
    """The artifact as an open file, once all of its bytes were verified; see `RecordedRun.read_artifact`."""
    name = str(reference.get("artifactId"))
    journal.read_on()
    if journal.hides(name):
        raise RetractedError(journal.store.url, f"artifact {name!r} of run {journal.run_id!r} was retracted")
    return open_verified(journal.store, journal.run_id, reference)
