"""What ``import safepoint`` gives: the rooms composed into the four things that a program asks for.

Decided here: that reading, checking and judging happen in this order, and which input is refused before it is used.
Here, at the edge, is the only place that may look at a clock, and only where the caller hands in none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from safepoint.core.digest import encode_record
from safepoint.core.finding import Finding
from safepoint.core.ident import encode_segment
from safepoint.core.timestamp import parse_time
from safepoint.core.version import Version
from safepoint.reader import Scan, gather_artifacts, load_run, scan
from safepoint.reader.documents import Document, InputRefusedError, load_documents
from safepoint.store import AbsentError, Store, StoreError, open_store
from safepoint.store.inputs import Input
from safepoint.store.layout import run_ids, stores_below
from safepoint.validation import Options, Source, Validation, findings_of

if TYPE_CHECKING:
    from safepoint.guard import Decision
    from safepoint.migrate import Migrated
    from safepoint.model.run import Run
    from safepoint.payloads import PayloadSchemas
    from safepoint.policy import Policy
    from safepoint.rules import Excerpts
    from safepoint.schemas import Engine
    from safepoint.selection import Selection

__all__ = [
    "Decision",
    "Finding",
    "InputRefusedError",
    "Migrated",
    "PayloadSchemas",
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
    "open_store",
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
    if name == "Selection":
        from safepoint.selection import Selection

        return Selection
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class SeveralStoresError(LookupError):
    """A folder of stores where one store is wanted: their runs may bear the same ids, and would melt into one."""

    def __init__(self, url: str, stores: Iterable[str]) -> None:
        self.url = url
        self.stores = tuple(stores)
        """The stores in it, each as the caller may name it."""
        super().__init__(
            f"{url} is no store, it holds {len(self.stores)}: {', '.join(self.stores)}; name one of them"
        )


class UnknownRunError(LookupError):
    """The store can be read, and holds no readable record of the run."""

    def __init__(self, store: str, run_id: str, near: Iterable[str] = ()) -> None:
        self.near = tuple(near)
        """Run ids of the store that look like it, the nearest first."""
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        super().__init__(f"{store}: no record of run {run_id!r}{hint}")


def validate(
    *inputs: Source,
    run: str | None = None,
    artifacts: bool = False,
    selection: Selection | None = None,
    payload_schemas: PayloadSchemas | None = None,
    excerpts: Excerpts = "none",
    engine: Engine = "auto",
    jobs: int = 1,
    storage_options: Mapping[str, Any] | None = None,
) -> Validation:
    """Checks everything that `inputs` name, and yields what is wrong as it is found.

    Args:
        inputs: paths of files, folders or stores, globs, fsspec URLs; the bytes of one JSON text or of JSON Lines; or
            an open binary stream of them.
        run: check only this run.
        artifacts: also read the bytes of artifacts that lie in the store, and compare sizes and digests.
        selection: which findings count; None: all of them.
        payload_schemas: the schemas of what checkpoints carry; None: that is not looked into.
        excerpts: whether findings come with the accused line: ``masked`` hides every value in it, ``plain`` none.
        engine: ``jsonschema`` has every record judged by the reference engine, some 100 times slower.
        jobs: processes that share the runs of a store on a local disk.
        storage_options: handed to fsspec.

    Returns:
        An iterator of findings that also counts: see `Validation`. That nothing could be checked is a finding too
        (SP001, SP002); nothing is raised for bad input. Of a store one run is in memory at a time.

    Raises:
        TypeError: `selection` or `payload_schemas` is a text, a list or a mapping: each has its own type.
    """
    # by what they can do: to import their rooms only to ask would cost every start
    if selection is not None and not hasattr(selection, "admit"):
        raise TypeError(_no_such("selection", selection, 'Selection(select=["SP3"])'))
    if payload_schemas is not None and not hasattr(payload_schemas, "check"):
        wanted = 'PayloadSchemas.load({"support-agent/state@4": "state-4.json"})'
        raise TypeError(_no_such("payload_schemas", payload_schemas, wanted))
    options = Options(
        run, artifacts, selection, payload_schemas, excerpts, engine, jobs, dict(storage_options or {})
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


def guard(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    *,
    facts: Document | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    now: str | int | None = None,
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
        storage_options: handed to fsspec.

    Returns:
        The decision; equal records, facts, policy, request and `now` give an equal one.

    Raises:
        InputRefusedError: facts, policy or request are not sound; it holds the findings.
        UnknownRunError: the store holds no readable record of the run.
        SeveralStoresError: it is a folder of stores.
        StoreError: the store, or a document, cannot be read.
        ValueError: `now` is no RFC 3339 time.
    """
    return judge(
        store, run_id, facts=facts, policy=policy, request=request, now=now, storage_options=storage_options
    ).decision


def judge(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    *,
    facts: Document | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    now: str | int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Judgement:
    """What `guard` answers, together with what it was made from; arguments and exceptions are the same."""
    from safepoint.guard import evaluate
    from safepoint.policy import parse_policy

    options = dict(storage_options or {})
    moment = moment_of(now)
    given = load_documents(run_id, facts=facts, policy=policy, request=request, storage_options=options)
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), **options)
    run = load(opened, run_id).run
    assert run is not None
    settings = parse_policy(given.policy, workflow=run.workflow)
    artifacts = gather_artifacts(opened, run)
    decision = evaluate(run, given.facts, settings, given.request, moment, artifacts=artifacts)
    return Judgement(decision, run, settings)


def load(store: Store, run_id: str) -> Scan:
    """The run `run_id` of `store`, read and folded: the scan's ``run`` is never None.

    Raises:
        UnknownRunError: nothing of it is there.
        SeveralStoresError: `store` is a folder of stores.
        StoreError: the store cannot be read.
    """
    from difflib import get_close_matches

    _require_one(store)
    try:
        encode_segment(run_id)
    except ValueError as error:
        raise UnknownRunError(store.url, run_id) from error
    try:
        found = load_run(store, run_id)
    except AbsentError as error:
        names = list(run_ids(store))
        if not names:
            names = [s.run_id for s in scan_store(store) if s.run_id is not None]
        near = get_close_matches(run_id, names, n=3, cutoff=0.4)
        raise UnknownRunError(store.url, run_id, near) from error
    if found.run is None:
        raise UnknownRunError(store.url, run_id)
    return found


def scan_store(store: Store) -> Iterator[Scan]:
    """Every run of `store`, in whatever layout it lies.

    Raises:
        SeveralStoresError: `store` is a folder of stores.
        StoreError: the store cannot be read.
    """
    _require_one(store)
    return scan(Input(store, None, named=False))


def _require_one(store: Store) -> None:
    if below := stores_below(store):
        raise SeveralStoresError(store.url, map(store.url_of, below))


def moment_of(now: str | int | None) -> int:
    """`now` in nanoseconds since the Unix epoch; None is this machine's clock.

    Raises:
        ValueError: a text that is no RFC 3339 time.
    """
    if now is None:
        return time.time_ns()
    return parse_time(now) if isinstance(now, str) else now
