"""Where the URI of an artifact leads, told from its text alone (SPEC.md#artifact-references).

Decided here: which URIs name something on the reader's machine, which an object of the run's own store, and which an
object of other storage that can be asked for by itself. Not decided here: whether anybody may ask (the caller's
schemes), and what lies there (``reader``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes, urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CLIMBS = re.compile(r"(^|[/\\])\.\.([/\\]|$)")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#@\\]+)/([^?#]+)(\?[^#]*)?")

WEB = frozenset({"http", "https"})
"""Schemes whose servers read a path by themselves, and whose query belongs to the address."""

ON_THIS_MACHINE = frozenset({"file", "local"})
"""Schemes that name files of whoever reads, and not of whoever wrote."""


def is_relative(uri: str) -> bool:
    """Whether a URI reference starts at the folder of its run."""
    return not _SCHEME.match(uri)


def leads_outside(uri: str) -> bool:
    """Whether `uri` names something on this machine that is not inside the store, however often it is decoded."""
    return any(map(_names_this_machine, _readings(uri)))


def _readings(uri: str) -> Iterator[str]:
    """The URI, and what it is to those who decode it once more than they should: ``%2e%2e``, ``%252e%252e``."""
    yield uri
    while (decoded := unquote(uri)) != uri:
        yield decoded
        uri = decoded


def _names_this_machine(uri: str) -> bool:
    try:
        scheme = urlsplit(uri).scheme.lower()
    except ValueError:  # brackets that hold no address: its scheme is all that counts
        scheme = uri.partition(":")[0].lower()
    if scheme in ON_THIS_MACHINE or (len(scheme) == 1 and uri[1:2] == ":"):
        return True
    return not scheme and (uri.startswith(("/", "\\", "~")) or bool(_CLIMBS.search(uri)))


def path_of(uri: str) -> str | None:
    """The path below its run's folder that a relative reference names, decoded once; None where it names no object."""
    if not is_relative(uri) or "?" in uri or "#" in uri:
        return None
    return _decoded(uri)


def _decoded(path: str) -> str | None:
    try:
        text = unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return None
    return "/".join(part for part in text.split("/") if part != ".") or None


class Address(NamedTuple):
    """An object of other storage."""

    scheme: str
    authority: str
    """Bucket, container or host."""
    key: str
    """Its name there."""
    query: str
    """Of a web address, with its question mark; often a signature."""

    @property
    def root(self) -> str:
        """The URL that keys of this storage start from."""
        return f"{self.scheme}://{self.authority}{self.query}"


def address_of(uri: str, schemes: Collection[str]) -> Address | None:
    """What `uri` names in storage of one of these schemes; None where it names nothing that may be asked for.

    A user or an account in it would choose whose credentials are used, ``::`` a second kind of storage behind the
    first, and dots as a part of its path another place than its text shows: none of them is followed.
    """
    found = _ADDRESS.fullmatch(uri)
    if found is None or "::" in uri:
        return None
    scheme, authority, path, query = found[1].lower(), found[2], found[3], found[4] or ""
    if scheme not in schemes or (query and scheme not in WEB):
        return None
    if any(not part or part in {".", ".."} for text in _readings(path) for part in re.split(r"[/\\]", text)):
        return None
    key = path if scheme in WEB else _decoded(path)
    return None if key is None else Address(scheme, authority, key, query)
