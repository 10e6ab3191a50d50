"""The documents beside a copied run, as a migration writes them."""

from __future__ import annotations

from journals import Journal

from safepoint.core.digest import digest_stored, encode_record
from safepoint.moving.origin import Heads, origin_document, seal_document
from safepoint.store.layout import origin_key, seal_key

SOURCE = "s3://agents/safepoint"


def heads_of(journal: Journal) -> Heads:
    """The heads of all that `journal` holds."""
    heads = Heads()
    for value in (*journal.values, *journal.recovery):
        heads.add(value["recordType"], value.get("sequence"), encode_record(value))
    return heads


def origin(journal: Journal) -> dict[str, bytes]:
    """What says that a run was copied when it was this."""
    heads = heads_of(journal)
    data = origin_document(journal.run_id, source=SOURCE, tool="safepoint 0.1.0", before=heads, after=heads)
    return {origin_key(journal.run_id): data}


def seal(journal: Journal) -> dict[str, bytes]:
    """What says that its original was sealed right behind that."""
    after = heads_of(journal).journal
    assert after is not None
    sealed = after[0] + 2, digest_stored(b"the record that sealed it")
    return {
        seal_key(journal.run_id): seal_document(journal.run_id, source=SOURCE, sealed=sealed, after=after)
    }
