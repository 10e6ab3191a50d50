"""Safepoint: checkpoints of AI-agent runs that you can prove are safe to resume from.

Decided here: what ``import safepoint`` offers, and that it costs nothing until it is used. The functions
live in ``safepoint.api``; ``help(safepoint.validate)`` shows types, units and errors.
"""

# ruff: noqa: TC004 - type checkers read the imports below, programs get the names from the descriptors

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from safepoint.version import __version__

if TYPE_CHECKING:
    from safepoint.api import Compatibility as Compatibility
    from safepoint.api import Decision as Decision
    from safepoint.api import Finding as Finding
    from safepoint.api import InputRefusedError as InputRefusedError
    from safepoint.api import Migrated as Migrated
    from safepoint.api import PayloadMigrationError as PayloadMigrationError
    from safepoint.api import PayloadMigrations as PayloadMigrations
    from safepoint.api import PayloadSchemas as PayloadSchemas
    from safepoint.api import PayloadStep as PayloadStep
    from safepoint.api import RetractedError as RetractedError
    from safepoint.api import Selection as Selection
    from safepoint.api import SeveralStoresError as SeveralStoresError
    from safepoint.api import Store as Store
    from safepoint.api import StoreError as StoreError
    from safepoint.api import UnknownRunError as UnknownRunError
    from safepoint.api import Validation as Validation
    from safepoint.api import audit as audit
    from safepoint.api import check_decision as check_decision
    from safepoint.api import compat as compat
    from safepoint.api import guard as guard
    from safepoint.api import guard_all as guard_all
    from safepoint.api import migrate as migrate
    from safepoint.api import migrate_store as migrate_store
    from safepoint.api import open_artifact as open_artifact
    from safepoint.api import open_store as open_store
    from safepoint.api import read_artifact as read_artifact
    from safepoint.api import validate as validate

__all__ = [
    "Compatibility",
    "Decision",
    "Finding",
    "InputRefusedError",
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
    "__version__",
    "audit",
    "check_decision",
    "compat",
    "guard",
    "guard_all",
    "migrate",
    "migrate_store",
    "open_artifact",
    "open_store",
    "read_artifact",
    "validate",
]


class _Public:
    """One public name, looked up in ``safepoint.api`` each time it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, package: ModuleType | None, owner: type) -> Any:
        from safepoint import api

        return getattr(api, self.name)

    def __set__(self, package: ModuleType, value: object) -> None:
        """Ignored: the import system would bind the rooms ``audit``, ``guard`` and ``migrate`` over the functions."""


class _Face(ModuleType):
    """This package, with descriptors for its public names.

    A module-level ``__getattr__`` would be shorter, but it is only asked for names that are not there, and the
    rooms ``safepoint.guard`` and ``safepoint.migrate`` are there as soon as anything imports them.
    """

    def __getattr__(self, name: str) -> Any:
        """The write side, which is a room and a public name alike."""
        if name == "recorder":
            return import_module(f"{__name__}.recorder")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


for _name in set(__all__) - {"__version__"}:
    _public = _Public()
    _public.__set_name__(_Face, _name)
    setattr(_Face, _name, _public)
del _name, _public

sys.modules[__name__].__class__ = _Face
