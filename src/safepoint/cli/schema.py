"""``safepoint schema``."""

from __future__ import annotations

import click

from safepoint import schemas
from safepoint.cli.completion import complete_kinds
from safepoint.cli.console import Command, write
from safepoint.cli.examples import example
from safepoint.core.version import V1, V2, V3, Version
from safepoint.render.terminal import to_json

VERSIONS = {str(version): version for version in (V1, V2, V3)}


@click.command(
    cls=Command,
    examples=["safepoint schema checkpoint > checkpoint.schema.json", "safepoint schema facts --example"],
)
@click.argument("kind", metavar="[KIND]", required=False, shell_complete=complete_kinds)
@click.option(
    "--version",
    type=click.Choice(list(VERSIONS)),
    default="v3",
    show_default=True,
    help="The version of the format.",
)
@click.option("--example", "as_example", is_flag=True, help="Print a small valid record of KIND instead.")
def command(kind: str | None, version: str, *, as_example: bool) -> None:
    """Print the JSON Schema of KIND, in one piece; without KIND, list the kinds.

    An example validates by itself.
    """
    wanted: Version = VERSIONS[version]
    known = schemas.kinds(wanted)
    if kind is None and as_example:
        raise click.UsageError(f"name the kind to show an example of: {', '.join(known)}.")
    if kind is None:
        write("".join(f"{name}\n" for name in known))
        return
    if kind not in known:
        raise click.UsageError(f"{version} has no kind {kind!r}; it has {', '.join(known)}.")
    write(to_json(example(kind, wanted) if as_example else schemas.schema(kind, wanted)))
