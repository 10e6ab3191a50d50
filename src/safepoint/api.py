"""What ``import safepoint`` gives: the rooms composed into what a program asks for.

Decided here: which input is refused before it is used. Not decided here: how stored runs are checked (``validation``)
and judged (``judging``).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from safepoint.core.finding import Finding
from safepoint.judging.single import Judgement, check_decision, judge, moment_of, require_apart
from safepoint.reader.documents import Document, FactsGiven, InputRefusedError, load_document
from safepoint.reader.stores import SeveralStoresError, UnknownRunError, load, scan_store
from safepoint.store import Store, StoreError, open_store
from safepoint.store.elsewhere import Elsewhere
from safepoint.validation import Options, Source, Validation, findings_of

if TYPE_CHECKING:
    from safepoint.audit import Audit
    from safepoint.guard import Decision
    from safepoint.judging.fleet import Judging
    from safepoint.migrate import Migrated, migrate
    from safepoint.moving import migrate_store
    from safepoint.payloads import PayloadSchemas
    from safepoint.payloads.migrations import PayloadMigrationError, PayloadMigrations, PayloadStep
    from safepoint.reader.fetching import RetractedError
    from safepoint.rules import Excerpts
    from safepoint.schemas import Engine
    from safepoint.selection import Selection
    from safepoint.validation.compatibility import Compatibility, compat

__all__ = [
    "Compatibility",
    "Decision",
    "Finding",
    "InputRefusedError",
    "Judgement",
    "Migrated",
    "PayloadMigrationError",
    "PayloadMigrations",
    "PayloadSchemas",
    "PayloadStep",
    "RetractedError",
    "Selection",
    "SeveralStoresError",
    "Store",
    "StoreError",
    "UnknownRunError",
    "Validation",
    "audit",
    "check_decision",
    "compat",
    "findings_of",
    "guard",
    "guard_all",
    "judge",
    "load",
    "migrate",
    "migrate_store",
    "moment_of",
    "open_artifact",
    "open_store",
    "read_artifact",
    "require_apart",
    "scan_store",
    "validate",
]


_LATE = {
    "guard": ("Decision",),
    "migrate": ("Migrated", "migrate"),
    "moving": ("migrate_store",),
    "payloads": ("PayloadSchemas",),
    "payloads.migrations": ("PayloadMigrationError", "PayloadMigrations", "PayloadStep"),
    "reader.fetching": ("RetractedError",),
    "selection": ("Selection",),
    "validation.compatibility": ("Compatibility", "compat"),
}
"""Rooms that most callers do without, because they cost start-up time, and what is public in them."""


def __getattr__(name: str) -> Any:
    for room, names in _LATE.items():
        if name in names:
            return getattr(import_module(f"safepoint.{room}"), name)
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
            require_apart(os.fspath(given) if isinstance(given, str | os.PathLike) else "", anchor)
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


def guard(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    *,
    facts: FactsGiven | None = None,
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
        facts: what is true in the world now: a ``facts`` document, or the path or URL of one, or several of these.
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


def guard_all(
    store: str | os.PathLike[str] | Store,
    *,
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    fleet: Document | None = None,
    states: Collection[str] = (),
    workflows: Collection[str] = (),
    verdicts: Collection[str] = (),
    now: str | int | None = None,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> Judging:
    """What `guard` says of every run of a store, each read once, with the state of the fleet told from all of them.

    Args:
        store: path, fsspec URL, or an open store.
        facts: ``facts`` documents of any runs, or the paths or URLs of them; several of one run are merged.
        policy: as in `guard`; each run is judged by the settings of its workflow.
        fleet: how the fleet fares, where that is known already: ``facts.fleet`` as a document of its own, or the path
            or URL of one. Then decisions come as the runs are read; else once the last one was.
        states: only runs in these states, as ``safepoint runs`` says them. The fleet is that of all runs.
        workflows: only runs of these.
        verdicts: only decisions of these.
        now: as in `guard`.
        allow_artifact_schemes: as in `guard`.
        storage_options: as in `guard`.

    Returns:
        An iterator of the runs in the order of the listing, that also counts: see `Judging`. A decision for one run,
        asked for with the same facts and the fleet that this one told of, is the same. The store is first read, and its
        errors come, when it is iterated.

    Raises:
        InputRefusedError: facts, policy or fleet are not sound, or the facts of a run say how the fleet fares as well.
        StoreError: a document cannot be read.
        ValueError: as in `guard`.
    """
    from safepoint.judging.fleet import Judging, Question
    from safepoint.reader.fleets import load_fleet, with_fleet
    from safepoint.reader.merging import group_facts

    elsewhere = Elsewhere(allow_artifact_schemes, storage_options)
    options = elsewhere.own_options
    given = [facts] if isinstance(facts, str | os.PathLike | Mapping) else list(facts or ())
    known = group_facts(given, options)
    seen = None if fleet is None else load_fleet(fleet, options)
    for document in known.values() if seen is not None else ():
        with_fleet(document, seen or {})
    question = Question(
        now=moment_of(now),
        facts=known,
        policy=load_document("policy", policy, options),
        fleet=seen,
        states=frozenset(states),
        workflows=frozenset(workflows),
        verdicts=frozenset(verdicts),
        elsewhere=elsewhere,
    )
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), **options)
    return Judging(opened, question)


def audit(
    store: str | os.PathLike[str] | Store,
    *,
    run: str | None = None,
    policy: Document | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Audit:
    """The checklist of ten points, answered from the records of each run. Reads only.

    Args:
        store: path, fsspec URL, or an open store.
        run: look only at this run.
        policy: the project's ``policy`` document, or the path or URL of one; None: nobody can tell what it has set.
        storage_options: handed to fsspec.

    Returns:
        An iterator of the runs that also folds their answers: see `Audit`. One run is in memory at a time.

    Raises:
        InputRefusedError: the policy is not sound.
        UnknownRunError: the store holds no readable record of the run.
        SeveralStoresError: it is a folder of stores; while the runs are iterated, where none was named.
        StoreError: the store, or the policy, cannot be read; also while the runs are iterated.
    """
    from safepoint.audit import Audit
    from safepoint.reader.documents import read_document

    options = dict(storage_options or {})
    settings = None if policy is None else read_document("policy", policy, options)
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), **options)
    return Audit([load(opened, run)] if run is not None else scan_store(opened), settings)


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
