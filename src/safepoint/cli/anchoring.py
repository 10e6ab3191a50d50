"""The options with which a store is compared with its anchors, and what may not be compared.

Decided here: that anchors which lie in the store that they speak of are refused before anything is read. Not decided
here: what contradicts an anchor (``reader.comparing``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from safepoint.cli.choices import STDIN
from safepoint.cli.console import LOCATION, more_storage_option
from safepoint.render.terminal import plain
from safepoint.store.copying import overlap

if TYPE_CHECKING:
    from safepoint.reader.anchors import Anchors

_Command = TypeVar("_Command", bound=Callable[..., Any])


def anchor_options(command: _Command) -> _Command:
    """``--anchor PLACE``, and ``--anchor-storage-option`` for other credentials there."""
    command = more_storage_option("--anchor-storage-option", "anchor_storage", "the anchors")(command)
    return click.option(
        "--anchor",
        type=LOCATION,
        metavar="PLACE",
        help="Compare with what `safepoint anchor` wrote to PLACE, or with one anchor in it and all before that.",
    )(command)


def require_apart(store: str, anchor: str | None) -> None:
    """Refuses anchors that lie in the store, or a store that lies among its anchors."""
    if anchor is None:
        return
    if overlap(store, anchor):
        raise click.UsageError(
            f"--anchor {anchor}: one of it and {store} lies in the other. Anchors that lie in their store are changed "
            "and put back with it, and prove nothing: keep them outside."
        )


def require_one_apart(names: Sequence[str], anchor: str | None) -> None:
    """As `require_apart`, and refuses more than one store: anchors are of one."""
    if anchor is None:
        return
    if len(names) != 1 or names[0] == STDIN:
        raise click.UsageError("--anchor: anchors are of one whole store; name that store or folder alone.")
    require_apart(names[0], anchor)


def anchors_line(anchors: Anchors, runs: int) -> str:
    """Which anchors were compared with, so that nobody takes what is newer for compared."""
    which = f"anchor {anchors.sequence} of {plain(anchors.created or 'no known time')}"
    return f"{plain(anchors.url)}: compared with {which}; runs known to it: {len(anchors.runs):,}, checked: {runs:,}"
