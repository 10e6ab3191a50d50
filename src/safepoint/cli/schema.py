"""``safepoint schema``."""

from __future__ import annotations

import click

from safepoint import schemas
from safepoint.cli.console import write
from safepoint.core.version import V1, V2, V3, Version
from safepoint.render.terminal import to_json

VERSIONS = {str(version): version for version in (V1, V2, V3)}


@click.command()
@click.argument("kind", required=False)
@click.option("--version", type=click.Choice(list(VERSIONS)), default="v3", show_default=True)
def command(kind: str | None, version: str) -> None:
    """Print the JSON Schema of KIND, in one piece; without KIND, list the kinds."""
    wanted: Version = VERSIONS[version]
    known = schemas.kinds(wanted)
    if kind is None:
        write("".join(f"{name}\n" for name in known))
        return
    if kind not in known:
        raise click.UsageError(f"{version} has no kind {kind!r}; it has {', '.join(known)}.")
    write(to_json(schemas.schema(kind, wanted)))
