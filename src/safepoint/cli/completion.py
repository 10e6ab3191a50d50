"""What a shell offers at a TAB, besides the names of commands, options and files.

Decided here: that a TAB fetches nothing: the runs of a store elsewhere are not offered.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.shell_completion import CompletionItem

_MOST = 1000
"""Runs of a store that are offered."""


def complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's
    """Codes and their names, behind the last comma of what is there already."""
    from click.shell_completion import CompletionItem

    from safepoint.rules import catalogue

    before, comma, word = incomplete.rpartition(",")
    known = catalogue.codes()
    words = {code.id: code for code in known} | {code.name: code for code in known}
    return [
        CompletionItem(before + comma + name, help=code.summary if name == code.id else code.id)
        for name, code in words.items()
        if name.lower().startswith(word.lower()) and (word or name == code.id)
    ]


def complete_kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's
    """The kinds that a record may have in the version that was named before, or in the newest."""
    from click.shell_completion import CompletionItem

    from safepoint import schemas
    from safepoint.core.version import CURRENT, Version

    version = Version.parse(str(ctx.params.get("version"))) or CURRENT
    return [CompletionItem(kind) for kind in schemas.kinds(version) if kind.startswith(incomplete)]


def complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's
    """The runs of the stores on this machine that stand before it on the line."""
    from click.shell_completion import CompletionItem

    # not yet sorted into parameters, as the option without a value keeps the parser from its end
    runs = (run for store in ctx.args for run in _runs_of(store) if run.startswith(incomplete))
    # a folder may be called for what is no id: line feeds and escapes would be the shell's to obey
    runs = (run for run in runs if run.isprintable())
    return [CompletionItem(run) for run in dict.fromkeys(islice(runs, _MOST))]


def _runs_of(url: str) -> Iterator[str]:
    from safepoint.store import StoreError, open_store
    from safepoint.store.layout import run_ids
    from safepoint.store.opening import local_path

    try:
        if local_path(url) is not None:
            yield from run_ids(open_store(url))
    except StoreError:
        return  # what cannot be read offers nothing; the command will say so
