"""One numbered chain of objects in a store, and the protocol by which this process appends to it (SPEC.md#commit).

Decided here: which number is tried, what an unclear answer means, that a lost number is followed by reading on, and
that an absent name is the end of the chain only while record 1 of the journal is there (SPEC.md#packing).
Not decided here: whether a record may follow what was read; the caller's `build` and `judge` say so, each time anew.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import RLock
from typing import Any

from safepoint.core.digest import encode_record
from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT
from safepoint.model.record import Record
from safepoint.reader.texts import read_object
from safepoint.recorder.errors import IllegalRecord, PutAway, RecorderError, StaleDecision, Unclear
from safepoint.store import AbsentError, Outcome, Store, StoreError, open_store
from safepoint.store.layout import journal_key, parse_key

Clock = Callable[[], int]
"""Nanoseconds since the Unix epoch."""

Build = Callable[[], Mapping[str, Any]]
"""The members of the next record, made from what has been read so far; raises where none may follow."""

StoreAt = Store | str | os.PathLike[str]
"""An open store, or the path or URL of one."""

TRIES = 5
"""How often one number is tried while the store gives no clear answer."""

PAUSE = 0.05
"""Seconds between two such tries, doubled each time."""


def new_nonce() -> str:
    """128 random bits in hex: who wrote a record."""
    return secrets.token_hex(16)


def tries() -> Iterator[int]:
    """How often to ask for a clear answer: numbers from 0, with a pause before each but the first."""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE * 2**attempt)
        yield attempt


def open_at(store: StoreAt) -> Store:
    """The store itself, opened where only its place was given."""
    return store if isinstance(store, Store) else open_store(os.fspath(store))


class Log:
    """A chain as this process has read it. Threads of one process share it: its lock is the append queue."""

    def __init__(
        self, store: Store, run_id: str, key_of: Callable[[str, int], str], *, nonce: str, clock: Clock
    ) -> None:
        self.store = store
        self.run_id = run_id
        self.nonce = nonce
        self.clock = clock
        self.lock = RLock()
        self.sequence = 0
        """The last number that this process has itself read; only the one behind it is ever tried."""
        self._digest: str | None = None
        self._torn = False
        self._key_of = key_of
        self._process = os.getpid()

    def follow(self, records: Iterable[Record]) -> None:
        """Take in `records`, the chain's next ones in order."""
        for record in records:
            # An interrupt in here leaves a number that counts as read and a record that nobody folded: perhaps a fence.
            self._torn = True
            self.sequence, self._digest = record.sequence or 0, record.digest
            self.learn(record)
            self._torn = False

    def learn(self, record: Record) -> None:
        """Fold one more record of the chain."""

    def judge(self, record: Record) -> None:
        """Raise where `record` may not follow; asked before every try."""

    @property
    def held(self) -> bool:
        """Whether nobody may pack or delete the run now, as this process holds its lease, which is live."""
        return False

    def confirm(self, record: Record) -> None:
        """Raise where `record`, which was just written, may stand behind a part of the chain only."""

    def require_usable(self) -> None:
        """Raise where this process must not go by what it knows of the chain.

        Raises:
            RecorderError: a parent process opened it, or reading it was interrupted.
        """
        if os.getpid() != self._process:
            raise RecorderError(
                f"run {self.run_id} was opened by process {self._process}: a forked process must open it itself, "
                "or the two would write under one nonce"
            )
        if self._torn:
            raise RecorderError(
                f"run {self.run_id}: this process was interrupted while it took in record {self.sequence}; "
                "open the run again"
            )

    def read_on(self) -> None:
        """Read to the head: ask for the next number until it is absent, because a listing alone may be stale.

        Raises:
            PutAway: the run was packed or deleted meanwhile, so that an absent name tells nothing.
        """
        with self.lock:
            self.require_usable()
            while (data := self._slot(self.sequence + 1)) is not None:
                self.follow([self._read(data)])
            self._require_there()

    def append(self, build: Build, *, only_at: int | None = None) -> Record:
        """Write the record that `build` makes, behind the last record of the chain.

        Args:
            build: called again, after reading on, each time another writer took the number.
            only_at: a claim: this number or none.

        Raises:
            StaleDecision: `only_at` is taken.
            PutAway: the run was packed or deleted meanwhile.
            Unclear: the store did not say what became of the record.
            RecorderError: from `build` and `judge`.
            StoreError: nothing was written.
        """
        with self.lock:
            while True:
                self.require_usable()
                if only_at not in {None, self.sequence + 1}:
                    raise StaleDecision(
                        f"run {self.run_id}: record {self.sequence + 1} would be next, not {only_at}; judge again"
                    )
                record, data = self.draft(build())
                self.judge(record)
                self._require_there()
                if self._try(record, data):
                    self.confirm(record)
                    self.follow([record])
                    return record
                self.read_on()

    def draft(self, members: Mapping[str, Any]) -> tuple[Record, bytes]:
        """The next record with these `members`, as it would be stored; nothing is written.

        Raises:
            IllegalRecord: it would not be read again as the record that it is.
        """
        kind, number = str(members["recordType"]), self.sequence + 1
        value = {
            "recordType": kind,
            "schemaVersion": str(CURRENT),
            "runId": self.run_id,
            "sequence": number,
            "previousDigest": self._digest,
            "nonce": self.nonce,
            "createdAt": format_time(self.clock()),
            **members,
        }
        try:
            data, key = encode_record(value), self._key_of(self.run_id, number)
        except ValueError as error:
            raise IllegalRecord(f"this {kind} record cannot be stored: {error}") from error
        # The reader judges, not the schema alone: what it would refuse could never be resumed from.
        (reading,) = read_object(data, self.store.url_of(key), key, parse_key(key))
        if reading.record is None or reading.faults:
            raise IllegalRecord(f"this {kind} record does not fit the format", reading.faults)
        return reading.record, data

    def _require_there(self) -> None:
        """Raise where the run is not in its place any more: record 1 is the first to go and the last to come back.

        It costs a request. The owner need not ask: before its end a run whose lease is live is neither packed nor
        deleted.
        """
        if not self.held and self._has_begun() and not self.store.exists(journal_key(self.run_id, 1)):
            raise PutAway(
                f"run {self.run_id}: record 1 of its journal is gone: it was packed or deleted meanwhile, and nothing "
                f"was written; look with safepoint show {self.store.url} --run {self.run_id}"
            )

    def _has_begun(self) -> bool:
        """Whether there is a record 1 as far as this process knows."""
        return self.sequence > 0

    def _try(self, record: Record, data: bytes) -> bool:
        """Whether the number is ours now; False: it is another's."""
        number = self.sequence + 1
        for attempt in tries():
            try:
                outcome = self.store.put_if_absent(record.place.key, data)
            except StoreError:
                if not attempt:
                    raise
                continue  # this try wrote nothing, but an earlier one may have
            if outcome is Outcome.WON:
                return True
            try:
                there = self._slot(number)
            except StoreError:
                continue
            if there not in {None, data}:
                return False
            # A client that retried reports its own successful write as a conflict. But what is merely there after no
            # clear answer may not be durable yet: only the same put, once more, can say that it is.
            if there == data and outcome is Outcome.LOST:
                return True
        raise Unclear(
            f"run {self.run_id}: the store did not say whether record {number} was written; "
            "try again when it answers"
        )

    def _slot(self, number: int) -> bytes | None:
        try:
            key = self._key_of(self.run_id, number)
        except ValueError as error:
            raise IllegalRecord(f"no run can have the id {self.run_id!r}: {error}") from error
        try:
            return self.store.get(key)
        except AbsentError:
            return None

    def _read(self, data: bytes) -> Record:
        key = self._key_of(self.run_id, self.sequence + 1)
        readings = list(read_object(data, self.store.url_of(key), key, parse_key(key)))
        record = readings[0].record if len(readings) == 1 else None
        if record is None:
            faults = [fault for reading in readings for fault in reading.faults]
            raise IllegalRecord(f"{key} cannot be read, and nothing may be appended behind it", faults)
        if record.value.get("previousDigest") != self._digest:
            raise IllegalRecord(f"{key} does not follow the record before it as this process read it")
        return record
