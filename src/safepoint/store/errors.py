"""Everything that can go wrong between us and the bytes, as one family of exceptions.

Decided here: the kinds that a caller tells apart, the sentence that says what to do next, and what of a URL
may be shown. A backend's own text never gets into a message: it may hold keys, tokens and signed URLs.
"""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=://)[^/?#]*@")
_PASSWORD = re.compile(r"(?<=://)[^/?#@]*:(?!\d+(?:[/?#]|$))[^?#]*@")
"""A user with a password, which may hold a slash as keys of S3 do; a port is none."""
_QUERY = re.compile(r"(?s)\?.*?(?=::|$)")
_SIGNATURE = re.compile(r"(?i)(?<=[?&])((?:[a-z-]*(?:sig|signature|token|credential|secret))=)[^&:]*")
_AT_IS_NO_USER = re.compile(r"(?i)(?:abfss?|wasbs?)://[^:]*@|github://")
"""container@account, org:repo@ref"""


def shown(url: str) -> str:
    """`url` as it may be printed: without passwords and signatures, and always encodable as UTF-8."""
    if "://" in url:
        lower = url.lower()
        if not _AT_IS_NO_USER.match(url):
            url = _USER.sub("***@", _PASSWORD.sub("***@", url))
        url = (
            _QUERY.sub("?***", url)
            if "http://" in lower or "https://" in lower
            else _SIGNATURE.sub(r"\1***", url)
        )
    # a file name that is not UTF-8 reaches Python as lone surrogates, which no report could be written with
    return url.encode("utf-8", "backslashreplace").decode("utf-8")


def without_slash(url: str) -> str:
    """`url` without the slash behind it, unless that is all there is of its path."""
    return url if url.endswith("://") or not url.strip("/") else url.rstrip("/")


class StoreError(Exception):
    """Something between us and the bytes failed; the message names the place, the problem and the remedy."""

    remedy = "look at the place named"

    def __init__(self, url: str, problem: str, key: str = "", remedy: str = "") -> None:
        # all of them as args: an exception that crosses to another process is made again from these
        super().__init__(url, problem, key, remedy)
        self.url = shown(url)
        self.key = key
        self.problem = problem
        self.remedy = remedy or self.remedy

    def __str__(self) -> str:
        return f"{self.url}: {self.problem}; {self.remedy}"


class AbsentError(StoreError):
    """The backend answered, and says that nothing is there."""

    remedy = "check the name"


class NoBucketError(AbsentError):
    """There is not even the bucket, or container, that the objects would lie in."""


class DeniedError(StoreError):
    """It may be there, but we are not allowed to know."""

    remedy = "check the permissions, or the credentials that are in use"


class UnreachableError(StoreError):
    """No usable answer: nothing is known about what is there."""

    remedy = "try again when the storage answers"


class ThrottledError(UnreachableError):
    """The backend answers, and wants to be asked less often."""

    remedy = "try again later, with fewer processes at once"


class ConflictError(StoreError):
    """Another writer was at the same name at the same moment, and nobody can tell yet who has it."""

    remedy = "try again"


class UnsupportedError(StoreError):
    """This backend, or this version of Safepoint on it, cannot do what was asked."""

    remedy = "use a store on a local disk, or in S3, GCS or Azure"


class OutsideStoreError(StoreError):
    """A name that leads, or could lead, out of the store; refused before anything is read."""

    remedy = "remove or rename it: names in a store are relative, without '..', and links stay inside"


class UnreadableError(StoreError):
    """Something is there, but it is not a file whose bytes can be read."""

    remedy = "put a regular file there"


class CorruptError(StoreError):
    """The bytes that came are not the bytes that are promised."""

    remedy = "fetch them again; if that does not help, restore them from a copy"


class TooLargeError(StoreError):
    """More bytes than the caller is willing to read."""

    remedy = "split the file, or raise the limit"


class NoSpaceError(StoreError):
    """The disk or the quota is full; nothing was written."""

    remedy = "free some space and try again"
