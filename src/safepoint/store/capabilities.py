"""What each backend promises, as data: whether a name can be claimed for one winner, and what is seen when.

Decided here: what is known, from each backend's own documentation. Not decided here: whether the storage behind an
address keeps the promise: ``safepoint doctor`` tries that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend promises; None where nobody knows."""

    backend: str
    """``local``, ``s3``, ``gs``, ``az``, ``memory``, or the protocol of another kind."""
    create: str
    """How a name is claimed for one writer only; empty where no way is known."""
    fresh_reads: bool | None
    """Whether an object is seen by everybody as soon as its writer has had an answer."""
    fresh_listings: bool | None
    """Whether it is then also in every listing."""
    durable: bool | None
    """Whether it then survives a crash of the machines that keep it."""
    durable_by: str = ""
    """Where the backend says so, or what does it: from outside nobody can try it."""
    assumed: bool = False
    """The user promised that there is one writer only, because no way to keep two apart is known."""

    @property
    def can_claim(self) -> bool:
        """Whether of two writers who want one name only one can get it, proven or promised."""
        return bool(self.create) or self.assumed

    @property
    def claims(self) -> Literal["enforced", "assumed", "impossible"]:
        """What keeps two claims of one name apart: the backend, nothing but the user's word, or nothing."""
        if self.create:
            return "enforced"
        return "assumed" if self.assumed else "impossible"


LOCAL = Capabilities(
    "local",
    create="hard link to a synced file",
    fresh_reads=True,
    fresh_listings=True,
    durable=True,
    durable_by="fsync(2) of file and folder",
)
"""POSIX link(2) fails if the new name exists."""

S3 = Capabilities(
    "s3",
    create="If-None-Match: *",
    fresh_reads=True,
    fresh_listings=True,
    durable=True,
    durable_by="https://docs.aws.amazon.com/AmazonS3/latest/userguide/DataDurability.html",
)
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html and Welcome.html#ConsistencyModel"""

GCS = Capabilities(
    "gs",
    create="ifGenerationMatch=0",
    fresh_reads=True,
    fresh_listings=True,
    durable=True,
    durable_by="https://cloud.google.com/storage/docs/availability-durability",
)
"""https://cloud.google.com/storage/docs/request-preconditions and docs/consistency"""

AZURE = Capabilities(
    "az",
    create="If-None-Match: *",
    fresh_reads=True,
    fresh_listings=True,
    durable=True,
    durable_by="https://learn.microsoft.com/azure/storage/common/storage-redundancy",
)
"""https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations"""

MEMORY = Capabilities(
    "memory", create="a lock of this process", fresh_reads=True, fresh_listings=True, durable=False
)
"""It lives and dies with one process."""

KNOWN = {
    "s3": S3,
    "s3a": S3,
    "gs": GCS,
    "gcs": GCS,
    "az": AZURE,
    "abfs": AZURE,
    "abfss": AZURE,
    "memory": MEMORY,
    "file": LOCAL,
    "local": LOCAL,
}
"""By the protocol of an fsspec URL."""


def capabilities_of(protocol: str, *, assume_one_writer: bool = False) -> Capabilities:
    """What is known of the storage behind a protocol; of a chain of several nothing is (pass all of the chain)."""
    known = KNOWN.get(protocol, Capabilities(protocol, "", None, None, None))
    return replace(known, assumed=assume_one_writer and not known.create)
