"""The codes and what is known of each, read from the modules ``spNNN_*.py`` beside this one.

Decided here: how a code finds its module. A command that reports three codes imports three modules, not all
of them. Not decided here: when a code is reported (the room that sees the fault, or the module's ``check``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

from safepoint.core.finding import Severity

_MODULE = re.compile(r"(sp[0-9]{3})_[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means, for good: its meaning never changes, and a retired code is never used again."""

    id: str
    """``SP`` and three digits."""
    name: str
    """The same in words, ``kebab-case``."""
    severity: Severity
    section: str
    """Anchor in SPEC.md of the rule that was broken."""
    text: str
    """First line: what it means; then the paragraphs ``Why:`` and ``Fix:``."""

    @property
    def summary(self) -> str:
        """What it means, in one line."""
        return self.text.partition("\n")[0]


@cache
def _names() -> Mapping[str, str]:
    # the folder's listing rather than pkgutil, which imports inspect, or pathlib: every start pays for them
    names = os.listdir(os.path.dirname(__file__))
    found = (_MODULE.fullmatch(name.removesuffix(".py")) for name in names)
    return {match[1].upper(): match[0] for match in found if match}


@cache
def module(code_id: str) -> ModuleType:
    """The module that explains `code_id`.

    Raises:
        KeyError: no such code.
    """
    return import_module(f"{__package__}.{_names()[code_id]}")


def code(code_id: str) -> Code:
    """What is known of `code_id`, such as ``SP214``.

    Raises:
        KeyError: no such code.
    """
    found = module(code_id)
    return Code(code_id, found.NAME, found.SEVERITY, found.SECTION, (found.__doc__ or "").strip())


def name_of(code_id: str) -> str:
    """The name of a code, such as ``sequence-gap``."""
    return code(code_id).name


def codes() -> tuple[Code, ...]:
    """Every code, by number."""
    return tuple(code(code_id) for code_id in sorted(_names()))
