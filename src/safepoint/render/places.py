"""What a file is called where other programs look it up: a path below some folder, or a URI (RFC 3986).

Decided here: which names are paths, which of them lie below a folder, and what is percent-encoded.
"""

from __future__ import annotations

import posixpath
import re

STANDARD_INPUT = "-"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_CHAIN = re.compile(r"::(?![^\[\]]*\])")  # not the colons of an IPv6 address
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_IN_URI = "!$&'()*+,;=:@/~"
"""What stands for itself in a URI's path, besides letters, digits and ``-._``."""


def path_below(url: str, base: str, here: str = "") -> str | None:
    """The path of `url` relative to `base`; None where it is no local file, or lies elsewhere.

    Args:
        url: a path, or a URL.
        base: absolute path of a folder; empty: what is not absolute lies in it.
        here: absolute path of the folder that relative paths start from; empty: that is `base`.
    """
    path = _local(url)
    if not path or path == STANDARD_INPUT:
        return None
    if base:
        path = posixpath.relpath(posixpath.join(here or base, path), base)
    path = posixpath.normpath(path)
    return None if path.startswith(("/", "../")) or path == ".." else path


def uri_of(url: str, here: str) -> str:
    """The absolute URI of `url`, whose relative paths start from `here`; where nobody knows that, a relative one."""
    path = _local(url)
    if path is not None:
        whole = posixpath.normpath(posixpath.join(here, path))
        return ("file://" if whole.startswith("/") else "") + _quoted(whole, "/")
    if _CHAIN.search(url):
        # A chain of file systems is one opaque name: no URI has an authority like that.
        scheme, _, rest = url.partition(":")
        return f"{scheme}:{_quoted(rest.lstrip('/'), '/')}"
    scheme, _, rest = url.partition("://")
    authority, slash, rest = rest.partition("/")
    if scheme in {"http", "https"}:
        # written by the user, who has encoded what had to be; other schemes name their objects as they are
        rest = _LONE_PERCENT.sub("%25", _quoted(rest, _IN_URI + "?#%"))
        return f"{scheme}://{_quoted(authority, _IN_URI + '[]')}{slash}{rest}"
    return f"{scheme}://{_quoted(authority, _IN_URI)}{slash}{_quoted(rest, _IN_URI)}"


def quoted_path(path: str) -> str:
    """`path` as a relative URI."""
    return _quoted(path, "/")


def _quoted(text: str, safe: str) -> str:
    from urllib.parse import quote

    try:
        # a file's name that is no UTF-8 reaches us as lone surrogates, which stand for its bytes
        return quote(text, safe, errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(text, safe, errors="surrogatepass")


def _local(url: str) -> str | None:
    """The path that `url` names on this machine; None for a place elsewhere."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        return url
    if scheme[1] == "file" and "::" not in url:
        from urllib.parse import unquote

        return unquote(url.removeprefix("file://"), errors="surrogateescape")
    return None
