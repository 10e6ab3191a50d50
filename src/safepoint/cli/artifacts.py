"""``--allow-artifact-scheme``, which means the same wherever artifacts are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def artifact_scheme_option(command: _Command) -> _Command:
    """``--allow-artifact-scheme SCHEME``, as a set named ``allow_artifact_schemes``; None where none is given."""
    return click.option(
        "--allow-artifact-scheme",
        "allow_artifact_schemes",
        multiple=True,
        metavar="SCHEME",
        callback=_schemes,
        help="Also look at artifacts outside of the store, by URLs of this scheme: s3, gs, az, https ... Whatever host "
        "or bucket a record names is asked. Repeatable.",
    )(command)


def _schemes(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> frozenset[str] | None:
    if not given:
        return None
    from safepoint.store.elsewhere import parse_schemes

    try:
        return parse_schemes(given)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
