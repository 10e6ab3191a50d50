"""What the store itself can tell of a run's artifacts: gathered before the guard is asked, verified for a validator.

Only artifacts inside the store are opened; what lies elsewhere is *unknown*, never assumed to be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Fault, Place
from safepoint.model.run import Run
from safepoint.reader.texts import leads_outside
from safepoint.rules.timeline import artifact_references, lies_in_store
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.layout import artifact_key, run_prefix


def gather_artifacts(store: Store, run: Run) -> Mapping[str, str]:
    """Artifact id to ``present``, ``missing``, ``damaged`` or ``unknown``, for every checkpoint's references.

    Where several references name one artifact, the worst of what they find counts.
    """
    found: dict[str, str] = {}
    seen: dict[tuple[Any, ...], str] = {}
    for checkpoint in run.checkpoints:
        for reference in checkpoint.value.get("artifactRefs") or ():
            what = (reference.get("uri"), reference.get("digest"), reference.get("size"))
            status = seen.get(what) or seen.setdefault(what, _status(store, run, reference))
            name = str(reference["artifactId"])
            found[name] = max(status, found.get(name, status), key=_WORST_LAST.index)
    return found


_WORST_LAST = ("present", "unknown", "missing", "damaged")


def _status(store: Store, run: Run, reference: Mapping[str, Any]) -> str:
    uri, digest = reference.get("uri"), reference.get("digest")
    if uri is None and digest is None:
        return "unknown"
    if uri is not None and ("://" in uri or leads_outside(uri)):
        return "unknown"
    key = _key(run, reference)
    try:
        data = store.get(key)
    except AbsentError:
        return "missing"
    except StoreError:
        return "unknown"
    if digest is None:
        return "unknown"
    size = reference.get("size")
    whole = digest_bytes(data) == digest and (size is None or size == len(data))
    return "present" if whole else "damaged"


def _key(run: Run, reference: Mapping[str, Any]) -> str:
    """Where a reference into the store leads: a relative URI from the run's folder, else the name by the digest."""
    uri = reference.get("uri")
    if uri is not None:
        return run_prefix(run.run_id) + str(uri)
    return artifact_key(run.run_id, str(reference["digest"]))


def verify_artifacts(store: Store, run: Run) -> Iterator[Fault]:
    """Every artifact of `run` that is not what its references say (SP515 to SP517), where it is first named.

    The bytes are read piece by piece. What was retracted may be gone. What lies elsewhere, or nobody knows where, is
    not looked at: ``rules.skipped`` lists it. What is there and cannot be read is SP002.
    """
    hidden = {str(target) for r in run.records if r.kind == "retract" for target in r.value["targets"]}
    verified: set[tuple[Any, ...]] = set()
    for record, pointer, reference in artifact_references(run):
        if {str(reference["artifactId"]), str(record.value.get("checkpointId"))} & hidden:
            continue
        what = (reference.get("uri"), reference.get("digest"), reference.get("size"))
        # A URI that climbs is SP006, where it was read.
        if what in verified or not lies_in_store(reference) or leads_outside(str(reference.get("uri") or "")):
            continue
        verified.add(what)
        for code, member, message in _verify(store, _key(run, reference), reference):
            if code == "SP002":
                key = _key(run, reference)
                yield Fault(code, message, place=Place(store.url_of(key), key))
            else:
                yield Fault(code, message, f"{pointer}{member}", place=record.place)


def _verify(store: Store, key: str, reference: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Code, member and message of what is wrong with the bytes at `key`; a wrong size says all that a digest could."""
    digest, size = reference.get("digest"), reference.get("size")
    content, length = sha256(), 0
    try:
        for piece in store.pieces(key):
            content.update(piece)
            length += len(piece)
    except AbsentError:
        yield "SP515", "", f"the artifact is not in the store: nothing bears the name {key}"
        return
    except StoreError as error:
        yield "SP002", "", str(error)
        return
    if size is not None and length != size:
        yield "SP516", "/size", f"the artifact at {key} has {length} bytes, expected {size}"
    elif digest is not None and f"sha256:{content.hexdigest()}" != digest:
        yield "SP517", "/digest", f"the bytes at {key} have another SHA-256"
