"""What a URL is made of, as far as keys are put behind it."""

from __future__ import annotations

from urllib.parse import unquote

from safepoint.store.base import why_no_key


def split_chain(url: str) -> tuple[str, str, str]:
    """A chained URL cut around the part that keys belong to: ``simplecache::``, ``s3://bucket``, nothing."""
    parts = url.split("::")
    at = next((index for index, part in enumerate(parts) if "://" in part), 0)
    before, after = parts[:at], parts[at + 1 :]
    return "".join(part + "::" for part in before), parts[at], "".join("::" + part for part in after)


def is_plain_on_the_web(key: str) -> bool:
    """Whether a web server, which decodes what it is asked for, takes `key` for the path that it is."""
    return not any(mark in key for mark in "?#\\") and not why_no_key(unquote(key))
