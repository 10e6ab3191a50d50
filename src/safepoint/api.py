"""What ``import safepoint`` gives: the rooms composed into the four things that a program asks for.

Decided here: that reading, checking and judging happen in this order, and which input is refused before it is used.
Here, at the edge, is the only place that may look at a clock, and only where the caller hands in none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from safepoint.core.digest import encode_record
from safepoint.core.finding import Finding
from safepoint.core.timestamp import parse_time
from safepoint.core.version import Version
from safepoint.reader import gather_artifacts
from safepoint.reader.documents import Document, InputRefusedError, load_documents
from safepoint.reader.stores import SeveralStoresError, UnknownRunError, load, scan_store
from safepoint.store import Store, StoreError, open_store
from safepoint.store.copying import overlap
from safepoint.store.elsewhere import Elsewhere
from safepoint.validation import Options, Source, Validation, findings_of

if TYPE_CHECKING:
    from safepoint.guard import Decision
    from safepoint.migrate import Migrated
    from safepoint.model.run import Run
    from safepoint.payloads import PayloadSchemas
    from safepoint.policy import Policy
    from safepoint.reader.fetching import RetractedError
    from safepoint.rules import Excerpts
    from safepoint.schemas import Engine
    from safepoint.selection import Selection

__all__ = [
    "Decision",
    "Finding",
    "InputRefusedError",
    "Migrated",
    "PayloadSchemas",
    "RetractedError",
    "Selection",
    "SeveralStoresError",
    "Store",
    "StoreError",
    "UnknownRunError",
    "Validation",
    "findings_of",
    "guard",
    "load",
    "migrate",
    "open_artifact",
    "open_store",
    "read_artifact",
    "scan_store",
    "validate",
]


def __getattr__(name: str) -> Any:
    # Most callers need none of them, and their rooms cost start-up time.
    if name == "Decision":
        from safepoint.guard import Decision

        return Decision
    if name == "Migrated":
        from safepoint.migrate import Migrated

        return Migrated
    if name == "PayloadSchemas":
        from safepoint.payloads import PayloadSchemas

        return PayloadSchemas
    if name == "RetractedError":
        from safepoint.reader.fetching import RetractedError

        return RetractedError
    if name == "Selection":
        from safepoint.selection import Selection

        return Selection
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def validate(
    *inputs: Source,
    run: str | None = None,
    artifacts: bool = False,
    allow_artifact_schemes: Collection[str] = (),
    selection: Selection | None = None,
    payload_schemas: PayloadSchemas | None = None,
    excerpts: Excerpts = "none",
    engine: Engine = "auto",
    jobs: int = 1,
    anchor: str | os.PathLike[str] | None = None,
    anchor_storage_options: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Validation:
    """Checks everything that `inputs` name, and yields what is wrong as it is found.

    Args:
        inputs: paths of files, folders or stores, globs, fsspec URLs; the bytes of one JSON text or of JSON Lines; or
            an open binary stream of them.
        run: check only this run.
        artifacts: also read the bytes of artifacts that lie in the store, and compare sizes and digests.
        allow_artifact_schemes: of URLs, such as ``s3``, by which artifacts elsewhere are read as well.
        selection: which findings count; None: all of them.
        payload_schemas: the schemas of what checkpoints carry; None: that is not looked into.
        excerpts: whether findings come with the accused line: ``masked`` hides every value in it, ``plain`` none.
        engine: ``jsonschema`` has every record judged by the reference engine, some 100 times slower.
        jobs: processes that share the runs of a store on a local disk.
        anchor: where the one store that is checked was anchored, which it is compared with.
        anchor_storage_options: over `storage_options`, for that place.
        storage_options: handed to fsspec; under the name of a scheme those for artifacts there.

    Returns:
        An iterator of findings that also counts: see `Validation`. That nothing could be checked is a finding too
        (SP001, SP002); nothing is raised for bad input. Of a store one run is in memory at a time.

    Raises:
        TypeError: `selection` or `payload_schemas` is a text, a list or a mapping: each has its own type.
        ValueError: one of `allow_artifact_schemes` is no scheme that could be read from; or `anchor` lies in the
            store, and would be changed and put back with it.
    """
    # by what they can do: to import their rooms only to ask would cost every start
    if selection is not None and not hasattr(selection, "admit"):
        raise TypeError(_no_such("selection", selection, 'Selection(select=["SP3"])'))
    if payload_schemas is not None and not hasattr(payload_schemas, "check"):
        wanted = 'PayloadSchemas.load({"support-agent/state@4": "state-4.json"})'
        raise TypeError(_no_such("payload_schemas", payload_schemas, wanted))
    if anchor is not None:
        for given in inputs:
            _require_apart(os.fspath(given) if isinstance(given, str | os.PathLike) else "", anchor)
    elsewhere = Elsewhere(allow_artifact_schemes, storage_options)
    options = Options(
        run=run,
        artifacts=artifacts,
        elsewhere=elsewhere,
        selection=selection,
        payload_schemas=payload_schemas,
        excerpts=excerpts,
        engine=engine,
        jobs=jobs,
        anchor=anchor,
        anchor_storage_options={**elsewhere.own_options, **(anchor_storage_options or {})},
        storage_options=elsewhere.own_options,
    )
    return Validation(inputs, options)


def _no_such(argument: str, value: object, wanted: str) -> str:
    return f"{argument}: got a {type(value).__name__}, expected such as safepoint.{wanted}"


def migrate(data: bytes | Mapping[str, Any], to: str = "v3", allow_loss: bool = False) -> Migrated:
    """One record in another version of the format; a record that already has it comes back byte for byte.

    Args:
        data: the stored bytes of one record, or its value.
        to: ``vMAJOR`` or ``vMAJOR.MINOR``.
        allow_loss: whether members that the target version cannot hold may be dropped (each is reported).

    Returns:
        The new bytes, or None where the migration is refused, and the faults that say why.

    Raises:
        ValueError: `to` is no version.
        TypeError: `data` is text: whoever decoded it no longer has the stored bytes.
    """
    from safepoint.migrate import migrate_record

    version = Version.parse(to)
    if version is None:
        raise ValueError(f"got {to!r}, expected a format version such as v3")
    return migrate_record(_stored(data), version, allow_loss=allow_loss)


def _stored(data: object) -> bytes:
    if isinstance(data, Mapping):
        return encode_record(data)
    if isinstance(data, bytes):
        return data
    expected = "the stored bytes of a record, or its value as a mapping"
    raise TypeError(f"got a {type(data).__name__}, expected {expected}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision, and what it was made from."""

    decision: Decision
    run: Run
    policy: Policy
    """The settings in force for this run: its workflow's overrides have won."""
    anchor: str | None
    """What the newest anchor that was consulted is called; None: none was."""


def guard(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    *,
    facts: Document | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    now: str | int | None = None,
    anchor: str | os.PathLike[str] | None = None,
    anchor_storage_options: Mapping[str, Any] | None = None,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> Decision:
    """Whether the run may go on, from where, and what must not happen twice. Reads only.

    Args:
        store: path, fsspec URL, or an open store.
        run_id: which run.
        facts: what is true in the world now: a ``facts`` document, or the path or URL of one.
        policy: a ``policy`` document, or the path or URL of one (JSON, or TOML by its name); None: all defaults.
        request: a ``request`` document, or the path or URL of one; None: continue from the newest checkpoint.
        now: the moment to judge at: RFC 3339 text, or nanoseconds since the Unix epoch; None: this machine's clock.
        anchor: where the store was anchored: all that was seen of the run must still be there, and so must the
            store's ``safepoint.json``. An anchor never proves that nothing came after it.
        anchor_storage_options: over `storage_options`, for that place.
        allow_artifact_schemes: of URLs, such as ``s3``, by which artifacts elsewhere are read as well.
        storage_options: handed to fsspec; under the name of a scheme those for artifacts there.

    Returns:
        The decision; equal records, facts, policy, request and `now` give an equal one.

    Raises:
        InputRefusedError: facts, policy, request or anchors are not sound; it holds the findings.
        UnknownRunError: the store holds no readable record of the run.
        SeveralStoresError: it is a folder of stores.
        StoreError: the store, or a document, cannot be read.
        ValueError: `now` is no RFC 3339 time, or one of `allow_artifact_schemes` no scheme that could be read from; or
            `anchor` lies in the store.
    """
    return judge(
        store,
        run_id,
        facts=facts,
        policy=policy,
        request=request,
        now=now,
        anchor=anchor,
        anchor_storage_options=anchor_storage_options,
        allow_artifact_schemes=allow_artifact_schemes,
        storage_options=storage_options,
    ).decision


def judge(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    *,
    facts: Document | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    now: str | int | None = None,
    anchor: str | os.PathLike[str] | None = None,
    anchor_storage_options: Mapping[str, Any] | None = None,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> Judgement:
    """What `guard` answers, together with what it was made from; arguments and exceptions are the same."""
    from safepoint.guard import evaluate, needed_artifacts
    from safepoint.policy import parse_policy

    elsewhere = Elsewhere(allow_artifact_schemes, storage_options)
    options = elsewhere.own_options
    moment = moment_of(now)
    given = load_documents(run_id, facts=facts, policy=policy, request=request, storage_options=options)
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), **options)
    anchored = None
    if anchor is not None:
        from safepoint.reader.comparing import load_anchored

        _require_apart(opened.url, anchor)
        anchored = load_anchored(anchor, {**options, **(anchor_storage_options or {})}, run_id, opened)
    run = load(opened, run_id).run
    assert run is not None
    settings = parse_policy(given.policy, workflow=run.workflow)
    needed = needed_artifacts(run, given.request)
    artifacts = gather_artifacts(opened, run, ids=needed, elsewhere=elsewhere)
    decision = evaluate(
        run,
        given.facts,
        settings,
        given.request,
        moment,
        artifacts=artifacts,
        claims=opened.capabilities.claims,
        anchored=anchored,
    )
    return Judgement(decision, run, settings, anchored.name if anchored else None)


def open_artifact(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    reference: Mapping[str, Any] | str,
    *,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> IO[bytes]:
    """An artifact of a run as an open file, once all of its bytes were found to be the promised ones; close it.

    Large ones wait in a temporary file, so that nobody ever sees a byte before the last one was compared.

    Args:
        store: path, fsspec URL, or an open store.
        run_id: which run.
        reference: what a checkpoint or a result says of the artifact, or its artifactId.
        allow_artifact_schemes: of URLs, such as ``s3``, by which artifacts elsewhere are read as well.
        storage_options: handed to fsspec; under the name of a scheme those for artifacts there.

    Raises:
        RetractedError: the artifact was retracted.
        AbsentError: the run names no such artifact, or its bytes are not there.
        CorruptError: the bytes are not the ones that the reference promises.
        OutsideStoreError: they lie elsewhere, and their scheme is not allowed.
        UnsupportedError: the reference has no digest, so that nothing could be verified.
        UnknownRunError: the store holds no readable record of the run.
        SeveralStoresError: it is a folder of stores.
        StoreError: something cannot be read.
        ValueError: one of `allow_artifact_schemes` is no scheme that could be read from.
    """
    from safepoint.reader.fetching import open_artifact as open_file

    elsewhere = Elsewhere(allow_artifact_schemes, storage_options)
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), **elsewhere.own_options)
    run = load(opened, run_id).run
    assert run is not None
    return open_file(opened, run, reference, elsewhere)


def read_artifact(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    reference: Mapping[str, Any] | str,
    *,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> bytes:
    """The bytes of an artifact, verified; arguments and exceptions are those of `open_artifact`."""
    opened = open_artifact(
        store,
        run_id,
        reference,
        allow_artifact_schemes=allow_artifact_schemes,
        storage_options=storage_options,
    )
    with opened as file:
        return file.read()


def _require_apart(store: str, anchor: str | os.PathLike[str]) -> None:
    if store and overlap(store, os.fspath(anchor)):
        raise ValueError(
            f"anchor: {os.fspath(anchor)} and the store lie in each other, so that it proves nothing"
        )


def moment_of(now: str | int | None) -> int:
    """`now` in nanoseconds since the Unix epoch; None is this machine's clock.

    Raises:
        ValueError: a text that is no RFC 3339 time.
    """
    if now is None:
        return time.time_ns()
    return parse_time(now) if isinstance(now, str) else now
