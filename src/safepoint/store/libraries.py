"""The libraries that speak to a backend: which versions are installed, and from which on they do as they are told.

Decided here: the oldest version of each whose conditions are known to reach the backend; pyproject.toml asks for
the same. Not decided here: which library is used (``connecting``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

_FSSPEC = ("fsspec", "2025.9")
_OBSTORE = (("obstore", "0.11"),)

_USED: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("s3", "fsspec"): (("s3fs", "2025.9"), ("aiobotocore", "2.16"), _FSSPEC),
    ("gs", "fsspec"): (("gcsfs", "2025.9"), _FSSPEC),
    ("az", "fsspec"): (("adlfs", "2025.8"), _FSSPEC),
    ("s3", "obstore"): _OBSTORE,
    ("gs", "obstore"): _OBSTORE,
    ("az", "obstore"): _OBSTORE,
}
"""Backend and driver to the packages that have a part in it, each with its oldest good version."""


@dataclass(frozen=True, slots=True)
class Library:
    """One package, as it is installed."""

    name: str
    version: str
    at_least: str
    """The oldest version that is known to be good."""

    @property
    def too_old(self) -> bool:
        """Whether it may drop a condition and overwrite."""
        return _numbers(self.version) < _numbers(self.at_least)


def libraries_of(backend: str, driver: str) -> tuple[Library, ...]:
    """What has a part in speaking to a backend, as far as it is installed.

    Args:
        backend: as `Capabilities.backend` names it.
        driver: ``fsspec`` or ``obstore``; empty where no library is needed.
    """
    found = []
    for name, at_least in _USED.get((backend, driver), (_FSSPEC,) if driver else ()):
        try:
            found.append(Library(name, version(name), at_least))
        except PackageNotFoundError:
            continue  # one version of a library brings it, another does without
    return tuple(found)


def _numbers(text: str) -> tuple[int, ...]:
    """A version's numbers; what comes behind them (``rc1``, ``.post0``) never makes one too old."""
    found = re.match(r"[0-9]+(?:\.[0-9]+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()
