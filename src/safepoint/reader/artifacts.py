"""What can be told of a run's artifacts: gathered before the guard is asked, verified for a validator.

Decided here: where an artifact lies, and that each is read once, piece by piece and several at once. Opened is only
what lies in the store, and what the caller lets us ask elsewhere; all else is *unknown*, never assumed to be there.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Event
from typing import Any, Literal

from safepoint.core.fault import Fault, Place
from safepoint.core.uri import address_of, leads_outside, path_of
from safepoint.model.run import Run
from safepoint.reader.ahead import ahead
from safepoint.rules.timeline import artifact_references
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.elsewhere import Elsewhere
from safepoint.store.layout import artifact_key, run_prefix

NOWHERE = Elsewhere()
"""Nothing but the run's own store is asked."""

Reference = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where an artifact's bytes lie."""

    store: Store
    key: str

    @property
    def url(self) -> str:
        """What to call it."""
        return self.store.url_of(self.key)


def locate(store: Store, run_id: str, reference: Reference, elsewhere: Elsewhere) -> Whereabouts | None:
    """Where the artifact lies that `reference` names; None where that is unknown, or may not be asked.

    Raises:
        StoreError: it lies in other storage, which cannot be opened.
    """
    uri, digest = reference.get("uri"), reference.get("digest")
    if uri is None:
        return None if digest is None else Whereabouts(store, artifact_key(run_id, str(digest)))
    if leads_outside(uri):
        return None  # that is SP006, where it was read
    if (path := path_of(uri)) is not None:
        return Whereabouts(store, run_prefix(run_id) + path)
    address = address_of(uri, elsewhere.schemes)
    return None if address is None else Whereabouts(elsewhere.store_of(address, store), address.key)


def hidden_ids(run: Run) -> frozenset[str]:
    """Ids of checkpoints and artifacts that were retracted."""
    return frozenset(str(target) for r in run.records if r.kind == "retract" for target in r.value["targets"])


def retracted_artifacts(run: Run) -> frozenset[str]:
    """Ids of the artifacts that are hidden from readers: by themselves, or with every checkpoint that names them."""
    hidden = hidden_ids(run)
    named: dict[str, bool] = {}
    """Whether something that is not hidden names the artifact."""
    for record, _, reference in artifact_references(run):
        name = str(reference["artifactId"])
        visible = name not in hidden and record.value.get("checkpointId") not in hidden
        named[name] = named.get(name, False) or visible
    return frozenset(name for name, visible in named.items() if not visible)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """What reading an artifact came to."""

    length: int = 0
    """Bytes that were read; more than any reference allows were not."""
    digest: str = ""
    error: StoreError | None = None


class _Bench:
    """The artifacts of one run, each read once however many references name it, several side by side."""

    def __init__(self, store: Store, run: Run, elsewhere: Elsewhere) -> None:
        self._store, self._run, self._elsewhere = store, run, elsewhere
        self._stop = Event()
        self._most: dict[Whereabouts, int | None] = {}
        """What is to be read, and the bytes that it has at most by its references; None: one of them does not say."""

    def look(self, references: Sequence[Reference]) -> Iterator[tuple[Whereabouts | None, _Bytes]]:
        """Where each of `references` leads and what lies there, in their order."""
        places = [self._place(reference) for reference in references]
        for place, reference in zip(places, references, strict=True):
            if isinstance(place, Whereabouts):
                size, most = reference.get("size"), self._most.get(place, 0)
                self._most[place] = None if size is None or most is None else max(size, most)
        coming = zip(self._most, ahead(self._read, list(self._most), self._stop), strict=True)
        read: dict[Whereabouts, _Bytes] = {}
        for place in places:
            if not isinstance(place, Whereabouts):
                yield None, _Bytes(error=place)
                continue
            while place not in read:
                done, came = next(coming)
                read[done] = came
            yield place, read[place]

    def _place(self, reference: Reference) -> Whereabouts | StoreError | None:
        try:
            return locate(self._store, self._run.run_id, reference, self._elsewhere)
        except StoreError as error:
            return error

    def _read(self, place: Whereabouts) -> _Bytes:
        content, length, most = sha256(), 0, self._most[place]
        try:
            for piece in place.store.pieces(place.key):
                content.update(piece)
                length += len(piece)
                if self._stop.is_set() or (most is not None and length > most):
                    break
        except StoreError as error:
            return _Bytes(error=error)
        return _Bytes(length, f"sha256:{content.hexdigest()}")


def gather_artifacts(
    store: Store, run: Run, *, ids: Collection[str] | None = None, elsewhere: Elsewhere = NOWHERE
) -> Mapping[str, str]:
    """Artifact id to ``present``, ``missing``, ``damaged`` or ``unknown``.

    Where several references name one artifact, the worst of what they find counts. What was retracted is missing, also
    where its bytes are still there: no reader may have them.

    Args:
        store: the run's own store.
        run: the run.
        ids: only these artifacts; None: all that a checkpoint or a result names.
        elsewhere: what else may be asked.
    """
    hidden = hidden_ids(run)
    found: dict[str, str] = {}
    references: list[Reference] = []
    for record, _, reference in artifact_references(run):
        name = str(reference["artifactId"])
        if (ids is not None and name not in ids) or record.value.get("checkpointId") in hidden:
            continue
        if name in hidden:
            found[name] = "missing"
        else:
            references.append(reference)
    for reference, (_, came) in zip(references, _Bench(store, run, elsewhere).look(references), strict=True):
        name, status = str(reference["artifactId"]), _status(reference, came)
        found[name] = max(status, found.get(name, status), key=_WORST_LAST.index)
    return found


_WORST_LAST = ("present", "unknown", "missing", "damaged")


def _status(reference: Reference, came: _Bytes) -> str:
    if isinstance(came.error, AbsentError):
        return "missing"
    if came.error is not None or not came.digest or reference.get("digest") is None:
        return "unknown"
    return "damaged" if contradiction(reference, came.length, came.digest) else "present"


def verify_artifacts(store: Store, run: Run, elsewhere: Elsewhere = NOWHERE) -> Generator[Fault, None, int]:
    """Every artifact of `run` that is not what its references say (SP515 to SP517), where it is first named.

    Returns how many were read, and have the digest that their references say.

    What was retracted may be gone. What may not be asked, or nobody knows where it is, is not looked at:
    ``rules.skipped`` lists it. What is there and cannot be read is SP002.
    """
    hidden, verified = hidden_ids(run), set[tuple[str, str]]()
    named = []
    seen: set[tuple[Any, ...]] = set()
    for record, pointer, reference in artifact_references(run):
        what = (reference.get("uri"), reference.get("digest"), reference.get("size"))
        if what in seen or {reference["artifactId"], record.value.get("checkpointId")} & hidden:
            continue
        seen.add(what)
        named.append((record, pointer, reference))
    looked = _Bench(store, run, elsewhere).look([reference for _, _, reference in named])
    for (record, pointer, reference), (place, came) in zip(named, looked, strict=True):
        if place is None and came.error is None:
            continue
        if came.error is not None and not isinstance(came.error, AbsentError):
            yield Fault("SP002", str(came.error), place=_place(place, came.error))
            continue
        called = "" if place is None else place.key if place.store is store else place.url
        wrong = list(_wrong(reference, came, called))
        for code, member, message in wrong:
            yield Fault(code, message, f"{pointer}{member}", place=record.place)
        if place is not None and not wrong and reference.get("digest") is not None:
            verified.add((place.url, came.digest))
    return len(verified)


def _place(place: Whereabouts | None, error: StoreError) -> Place:
    return Place(place.url, place.key) if place else Place(error.url, error.key)


def contradiction(
    reference: Reference, length: int, digest: str
) -> tuple[Literal["size", "digest"], str] | None:
    """Which member of `reference` the bytes do not fit, and what they have instead; None where they fit.

    Args:
        reference: what a record says of them.
        length: how many were read; of an artifact that is too long no more than that shows.
        digest: of what was read.
    """
    size, expected = reference.get("size"), reference.get("digest")
    if size is not None and length != size:
        return "size", f"{length if length < size else f'more than {size}'} bytes, expected {size}"
    if expected is not None and digest != expected:
        return "digest", "another SHA-256 than the record says"
    return None


def _wrong(reference: Reference, came: _Bytes, called: str) -> Iterator[tuple[str, str, str]]:
    """Code, member and message of what is wrong with the bytes; a wrong size says all that a digest could."""
    if came.error is not None:
        what = f"nothing bears the name {called}" if called else f"{came.error.url}: {came.error.problem}"
        yield "SP515", "", f"the artifact is not there: {what}"
    elif wrong := contradiction(reference, came.length, came.digest):
        member, has = wrong
        yield ("SP516" if member == "size" else "SP517"), f"/{member}", f"the artifact at {called} has {has}"
