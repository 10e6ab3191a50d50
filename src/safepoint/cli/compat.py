"""``safepoint compat``.

Decided here: what the arguments name, which stored payloads are tried, which way on is pointed out where the settings
have one, and what the exit status is. Not decided here: what is compatible (``payloads.compatibility``), and how it is
printed (``render.compat``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from glob import has_magic
from pathlib import Path
from typing import Any

import click

from safepoint import api
from safepoint.cli.base import base_of
from safepoint.cli.choices import Unusable, settings_of
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    WholeNumber,
    note,
    screen,
    storage_option,
    storage_words,
)
from safepoint.cli.output import STDOUT, opened
from safepoint.core.finding import Finding, Severity
from safepoint.payloads import SNAPSHOTS, PayloadSchemaError
from safepoint.payloads.errors import PayloadMigrationError
from safepoint.render.compat import FORMATS as OWN_FORMATS
from safepoint.render.compat import verdict_text, way_text
from safepoint.render.overview import quote
from safepoint.render.report import RANKS, Context
from safepoint.render.terminal import Screen
from safepoint.rules import catalogue
from safepoint.settings import FAIL_ON, FORMATS, Settings
from safepoint.version import __version__

_FEW = 20
"""Findings of one code that people are shown; programs get all. They differ in the file, and hardly in what to do."""


@click.command(
    cls=Command,
    examples=[
        "safepoint compat schemas/state-4.json schemas/state-5.json",
        "safepoint compat support-agent/state@4 support-agent/state@5 ./store",
        "safepoint compat state-4.json state-5.json s3://bucket/agents --payload support-agent/state@4",
        "safepoint compat state-4.json state-5.json ./store --payload support-agent/state@4 --stored-only",
    ],
    statuses={
        0: "compatible: the new schema accepts all that the old one does, and every stored payload that was tried",
        1: "incompatible, or nobody can tell; with --fail-on error only where a payload would be refused",
        2: "wrong usage, or a schema or settings that cannot be used",
        3: "a store, or something in it, could not be read",
    },
    groups={
        "What is tried": ["payloads", "snapshot", "stored_only", "storage"],
        "What counts": ["fail_on"],
        "What is shown": ["output_format", "output", "limit", "quiet"],
        "Settings": ["config", "no_config"],
    },
)
@click.argument("old", metavar="OLD_SCHEMA", type=LOCATION)
@click.argument("new", metavar="NEW_SCHEMA", type=LOCATION)
@click.argument("stores", metavar="[STORE]...", nargs=-1, type=LOCATION)
@click.option(
    "--payload",
    "payloads",
    multiple=True,
    metavar="NAME@VERSION",
    help="Try the payloads that name this schema. Repeatable.  [default: what the settings call OLD_SCHEMA]",
)
@click.option(
    "--snapshot",
    type=click.Choice(SNAPSHOTS),
    help="Only this one of the two, where the settings have a schema for each.",
)
@click.option(
    "--stored-only", is_flag=True, help="What is stored alone decides; what the rules find is only told."
)
@storage_option
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="warning",
    show_default=True,
    help="The mildest severity that makes the exit status 1; what nobody can tell is a warning.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--output",
    "-o",
    type=LOCATION,
    metavar="FILE",
    default=STDOUT,
    help="Write the report to FILE, once it is whole.",
)
@click.option(
    "--limit",
    type=WholeNumber(0),
    metavar="N",
    help=f"Show at most N findings of one code; all are counted. 0: all.  [default: {_FEW}, for programs all]",
)
@click.option("--quiet", "-q", is_flag=True, help="Only findings and the verdict.")
@click.option(
    "--config",
    type=LOCATION,
    metavar="FILE",
    help="The settings.  [default: the nearest safepoint.toml, or pyproject.toml that has some]",
)
@click.option("--no-config", is_flag=True, help="No settings: schemas are named by their paths.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    old: str,
    new: str,
    stores: tuple[str, ...],
    payloads: tuple[str, ...],
    snapshot: str | None,
    storage: dict[str, Any],
    fail_on: str,
    output_format: str,
    output: str,
    limit: int | None,
    config: str | None,
    *,
    stored_only: bool,
    quiet: bool,
    no_config: bool,
) -> None:
    """Does NEW_SCHEMA still accept every payload that was written by OLD_SCHEMA?

    Schemas are files, or names such as support-agent/state@4 of the settings. They are compared by rules: compatible is
    what is proven, and each finding comes with a payload that shows it, made up from the schemas. With a STORE (a path,
    a glob or an fsspec URL) what is stored is tried as well. Nothing is changed, and no stored value is shown.
    """
    settings = settings_of({"config": config, "no_config": no_config})
    if not stores and (payloads or stored_only):
        raise click.UsageError("--payload and --stored-only speak of stored payloads: name a STORE too")
    if snapshot is not None and not stores and not {old, new} & settings.payload_schemas.keys():
        raise click.UsageError(
            "--snapshot says which schema of a name, or which stored payloads: name a STORE too"
        )
    before = _Schema(old, "OLD_SCHEMA", settings, snapshot)
    after = _Schema(new, "NEW_SCHEMA", settings, snapshot)
    _require_other_file(output, before.path, after.path)
    tried = _tried(before, payloads, snapshot, settings) if stores else None
    try:
        found = api.compat(
            before.path,
            after.path,
            *stores,
            payloads=tried,
            stored_only=stored_only,
            storage_options=storage,
        )
    except PayloadSchemaError as error:
        raise Unusable(str(error)) from error
    named: dict[str, Severity | None] = {"never": None, "error": "error", "info": "info"}
    threshold = named.get(fail_on, "warning")
    words = [*(["--config", config] if config else []), *storage_words(storage)]
    way = _way(_names(before, payloads, snapshot, settings), _names(after, (), snapshot, settings), settings)
    if way is not None:
        way["command"] = _command(stores, way, words)
    _report(found, output_format, output, settings, threshold, way, limit=limit, quiet=quiet)
    beside = screen(error_stream=True)
    if output != STDOUT and not quiet:
        note(f"{output}: {verdict_text(found.summary(), beside)}")
    elif output_format not in OWN_FORMATS and not quiet:
        note(verdict_text(found.summary(), beside))
        for line in way_text({**found.summary(), "settings": settings.path, "way": way}, beside):
            note(line)
    ctx.exit(_status(found, threshold))


class _Schema:
    """What one of the two arguments names."""

    def __init__(self, given: str, argument: str, settings: Settings, snapshot: str | None) -> None:
        known = settings.payload_schemas.get(given)
        self.given = given
        self.name = given if known is not None else None
        """In the settings; None: it is a path."""
        if known is None:
            if not Path(given).is_file():
                raise _missing(given, argument, settings)
            self.path = given
            return
        paths = {known} if isinstance(known, str) else set(known.values())
        if snapshot is not None and not isinstance(known, str):
            if snapshot not in known:
                raise Unusable(f"{settings.path}: {given} has no schema for {snapshot}")
            paths = {known[snapshot]}
        if len(paths) > 1:
            both = " or ".join(SNAPSHOTS)
            raise click.UsageError(
                f"{argument}: {given} has a schema for each snapshot; say which with --snapshot {both}"
            )
        [self.path] = paths


def _missing(given: str, argument: str, settings: Settings) -> click.ClickException:
    from difflib import get_close_matches

    if "@" not in given and (Path(given).exists() or not settings.payload_schemas):
        problem = "it is no file" if Path(given).exists() else "no such file"
        return click.UsageError(f"{argument}: {given}: {problem}; name a JSON Schema")
    close = get_close_matches(given, settings.payload_schemas, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    where = f"no payload schema of {settings.path}" if settings.path else "there are no settings that name it"
    return click.UsageError(f"{argument}: {given} is no file, and {where}{hint}")


def _tried(
    old: _Schema, given: Collection[str], snapshot: str | None, settings: Settings
) -> Mapping[str, Collection[str]]:
    """The payload schemas whose stored payloads are tried, each with its snapshots."""
    chosen = (snapshot,) if snapshot is not None else SNAPSHOTS
    for name in given:
        if "@" not in name:
            raise click.UsageError(
                f"--payload: got {name!r}, expected a name and a version, as support-agent/state@4"
            )
    if given:
        return {name: _members(settings.payload_schemas.get(name), None, chosen) for name in given}
    names = settings.payload_schemas if old.name is None else {old.name: settings.payload_schemas[old.name]}
    found = {name: members for name, known in names.items() if (members := _members(known, old.path, chosen))}
    if not found:
        known = (
            f"{settings.path} has no payload schema with the file" if settings.path else "no settings name"
        )
        raise click.UsageError(
            f"{known} {old.path}, so it is not known which stored payloads were written by it; "
            "say so with --payload NAME@VERSION, as checkpoints name it in payloadSchema"
        )
    return found


def _members(
    known: str | Mapping[str, str] | None, path: str | None, chosen: Collection[str]
) -> tuple[str, ...]:
    """The snapshots of one payload schema of the settings that are tried, those alone whose file is `path`."""
    if known is None or (isinstance(known, str) and (path is None or _alike(known, path))):
        return tuple(chosen)
    if isinstance(known, str):
        return ()
    return tuple(
        member for member, file in known.items() if member in chosen and (path is None or _alike(file, path))
    )


def _alike(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _names(
    schema: _Schema, given: Collection[str], snapshot: str | None, settings: Settings
) -> Collection[str]:
    """What payload schemas the settings call one of the two; `given`, where payloads were named themselves."""
    if given or schema.name is not None:
        return given or [str(schema.name)]
    chosen = (snapshot,) if snapshot is not None else SNAPSHOTS
    return [name for name, known in settings.payload_schemas.items() if _members(known, schema.path, chosen)]


def _way(old: Collection[str], new: Collection[str], settings: Settings) -> dict[str, Any] | None:
    """A way that the settings have from one of the old names to one of the new ones."""
    if not settings.payload_migrations:
        return None
    from safepoint.payloads.ways import Ways

    for target in new:
        try:
            chains = Ways(settings.payload_migrations, [target]).chains
        except PayloadMigrationError:
            continue  # of two ways none is the one to take: migrate says so
        for source in old:
            if source in chains:
                code = any(step.function is not None for step in chains[source])
                return {"from": source, "to": target, "code": code}
    return None


def _command(stores: Collection[str], way: Mapping[str, Any], words: Collection[str]) -> str:
    """The command that tries the way on what is stored."""
    # a pattern names files, and one file alone is no whole journal
    [store] = map(quote, stores) if len(stores) == 1 and not has_magic(*stores) else ["STORE"]
    code = ["--allow-code"] if way["code"] else []
    return " ".join(
        ["safepoint migrate", store, *map(quote, ["--payload", way["to"], *code, *words]), "--dry-run"]
    )


def _require_other_file(output: str, *read: str) -> None:
    if output != STDOUT and any(_alike(output, path) for path in read):
        raise click.UsageError(f"--output {output} is one of the two schemas: name another file")


def _report(
    found: api.Compatibility,
    shape: str,
    output: str,
    settings: Settings,
    threshold: Severity | None,
    way: Mapping[str, Any] | None,
    *,
    limit: int | None,
    quiet: bool,
) -> None:
    started, here = time.monotonic(), ""
    with suppress(FileNotFoundError):  # the working folder was removed
        here = os.path.realpath(".")
    people = shape in {"text", "github"}
    context = Context(
        describe=catalogue.code,
        summary=lambda: {**found.summary(), "way": way},
        screen=screen() if shape == "text" and output == STDOUT else Screen(),
        seconds=(lambda: time.monotonic() - started) if shape == "junit" else None,
        evaluated=lambda: found.evaluated,
        status=lambda: _status(found, threshold),
        command="compat",
        fail_on=threshold,
        here=here,
        base=base_of(shape, here) if shape in {"github", "sarif"} else here,
        settings=settings.path,
        version=__version__,
        most_of_a_code=limit if limit is not None else _FEW * people,
        quiet=quiet or shape not in OWN_FORMATS,
    )
    known = {id(finding): detail for finding, detail in found.differences}
    with opened(output, for_people=people) as put:
        if shape in OWN_FORMATS:

            def details(finding: Finding) -> Any:
                return known.get(id(finding))

            pieces = OWN_FORMATS[shape](found.checked(), context, details)
        else:
            from safepoint.render.reports import REPORTS

            pieces = REPORTS[shape](found.checked(), context)
        for piece in pieces:
            put(piece)


def _status(found: api.Compatibility, threshold: Severity | None) -> int:
    if not found.evaluated:
        return CannotEvaluate.exit_code
    if threshold is None:
        return 0
    return int(
        any(found.severities[severity] for severity, rank in RANKS.items() if rank >= RANKS[threshold])
    )
