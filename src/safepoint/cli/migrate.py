"""``safepoint migrate``.

Decided here: the options, what goes to which stream, and the exit status. Not decided here: how a record migrates
(``migrate``) and how a store does (``moving``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from safepoint.cli.choices import Unusable, payloads_of, settings_of
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    WholeNumber,
    format_option,
    note,
    read_input,
    screen,
    storage_option,
    write,
)
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding
from safepoint.core.strictjson import parse
from safepoint.core.version import Version
from safepoint.migrate import Migrated, Migrator
from safepoint.render.findings import finding_document
from safepoint.render.migration import findings_lines, record_summary
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue, to_finding, to_findings
from safepoint.store import Outcome, Store, open_store
from safepoint.store.base import TEMPORARY
from safepoint.store.inputs import expand

if TYPE_CHECKING:
    from safepoint.payloads.migrations import PayloadChange


@click.command(
    cls=Command,
    examples=[
        "safepoint migrate v2/checkpoint.json --to v3 --output v3/checkpoint.json",
        "safepoint migrate ./store --to v3 --dry-run",
        "safepoint migrate ./store --to v3 --output ./store-v3 --jobs 0",
        "safepoint migrate ./store --payload support-agent/state@5 --output ./store-5 --seal --by ops@example.org",
        "safepoint migrate ./store --output ./store-5 --seal --by ops@example.org",
        "safepoint migrate ./store --to v3 --check",
    ],
    statuses={
        0: "migrated; with --check: nothing would change",
        1: "refused, and nothing was written; or not all was migrated or sealed; with --check: something would change",
        2: "the command or the settings were used wrongly",
        3: "something could not be read or written; give the same command again to go on",
    },
    groups={
        "What to write": ["to", "payloads", "allow_code", "output", "storage"],
        "What to allow": ["allow_loss", "keep_going"],
        "The original": ["seal", "by"],
        "Only looking": ["dry_run", "check"],
        "How it is done": ["jobs", "config", "no_config", "output_format"],
    },
)
@click.argument("given", metavar="INPUT", type=LOCATION)
@click.option("--to", type=click.Choice(["v1", "v2", "v3"]), help="The version of the format to write.")
@click.option(
    "--payload",
    "payloads",
    multiple=True,
    metavar="NAME@VERSION",
    help="Bring checkpoints to this payload schema, by the project's own steps. Repeatable.",
)
@click.option("--allow-code", is_flag=True, help="Call the Python functions that the settings name as steps.")
@click.option(
    "--output", type=LOCATION, metavar="URL", help="Where to write; nothing that is there is overwritten."
)
@click.option("--allow-loss", is_flag=True, help="Write even what the version cannot hold entirely.")
@click.option(
    "--keep-going", is_flag=True, help="Copy what cannot be migrated as it is, and migrate the rest."
)
@click.option(
    "--seal",
    is_flag=True,
    help="Once the copy is whole, end the authority of the original runs: their last record names the copy. Of a copy "
    "that is finished already neither --to nor --payload need be said.",
)
@click.option("--by", metavar="WHO", help="Who answers for --seal.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--check", is_flag=True, help="As --dry-run, with status 1 where anything would change: for CI."
)
@click.option(
    "--jobs",
    "-j",
    type=WholeNumber(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that share the runs of a store on a local disk. 0: one for each processor.",
)
@click.option(
    "--config",
    type=LOCATION,
    metavar="FILE",
    help="The settings with payload schemas and steps.  [default: the nearest safepoint.toml or pyproject.toml]",
)
@click.option("--no-config", is_flag=True, help="No settings.")
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    given: str,
    *,
    to: str | None,
    output: str | None,
    storage: dict[str, Any],
    dry_run: bool,
    check: bool,
    **options: Any,
) -> None:
    """Bring records to another version of the format, or checkpoints to another version of your own payloads.

    INPUT is a file with one record, JSON Lines, a folder or a store; - is standard input. One file goes to standard
    output unless --output names a place; a folder or store needs --output, which must be an empty place. The source is
    never changed: --seal alone appends to it. With --format json a report replaces the findings; it goes to standard
    output if the records do not.

    A store is looked through before anything is written, and read back after. Killed at any moment, it goes on when the
    same command is given again. A copied run may only go on once its original is sealed, or its old owner proved dead.
    """
    if to is None and not options["payloads"] and not options["seal"]:
        raise click.UsageError("say what to write: --to v3, --payload NAME@VERSION, or both")
    if options["seal"] and not options["by"]:
        raise click.UsageError("--seal ends the authority of the originals: say who answers for it with --by")
    if options["seal"] and (dry_run or check or output is None):
        raise click.UsageError("--seal needs an --output, and is not for --dry-run or --check")
    if options["by"] and not options["seal"]:
        raise click.UsageError("--by says who seals: give --seal too")
    if output is not None:
        _require_place(output)
    migrator = _migrator(None if to is None else Version.parse(to), options)
    looking = dry_run or check
    source = None if given == "-" else _source(given, storage)
    if source is not None and source[1] is None:
        from safepoint.cli.migrating import migrate

        if output is None and not looking:
            raise click.UsageError(f"{given} is a folder: name a new place for the copy with --output.")
        target = None if output is None else open_store(output, **storage)
        options["jobs"] = options["jobs"] or os.cpu_count() or 1
        ctx.exit(migrate(source[0], target, migrator, options, looking=looking, check=check))
    if options["seal"]:
        raise click.UsageError(f"--seal is for the journals of a store; {given} is one file")
    result, findings = _one(source, migrator)
    done = result.data is not None
    if result.data is not None and not looking:
        if output is None:
            # A stored record needs no line feed; a terminal, and whoever appends the next record, does.
            write(result.data if result.data.endswith(b"\n") else result.data + b"\n")
        else:
            findings += _put(output, result.data, storage)
            done = not any(finding.code == "SP604" for finding in findings)
    on_stdout = output is not None or looking
    _report(findings, result, options["output_format"], done=done, dry=looking, on_stdout=on_stdout)
    ctx.exit(int(not done or result.kept > 0 or (check and result.changed)))


def _migrator(to: Version | None, options: dict[str, Any]) -> Migrator:
    change = _change(options) if options["payloads"] else None
    return Migrator(to, allow_loss=options["allow_loss"], payloads=change, keep_going=options["keep_going"])


def _change(options: dict[str, Any]) -> PayloadChange:
    """The project's steps to the payload schemas that were asked for."""
    from safepoint.payloads.migrations import PayloadMigrationError, PayloadMigrations

    settings = settings_of({"config": options["config"], "no_config": options["no_config"]})
    schemas = payloads_of(settings)
    if schemas is None:
        raise Unusable(_without(settings.path, no_config=options["no_config"]))
    try:
        steps = PayloadMigrations.load(settings.payload_migrations, schemas, allow_code=options["allow_code"])
        return steps.toward(options["payloads"])
    except PayloadMigrationError as error:
        # a message about one step begins with the file already
        known = str(error).startswith(settings.path)
        raise Unusable(str(error) if known else f"{settings.path}: {error}") from error


def _without(path: str, *, no_config: bool) -> str:
    """That there are no payload schemas, and what to do; `path` is that of the settings."""
    needed = "[payload-schemas] and [[payload-migrations]]"
    if path:
        return f"{path}: --payload needs {needed} there; another file is named with --config FILE"
    if no_config:
        return f"--payload needs {needed} in the settings: leave out --no-config, or name them with --config FILE"
    missing = "--payload: no safepoint.toml was found from here upwards"
    return f"{missing}: name it with --config FILE; it needs {needed}"


def _source(given: str, storage: dict[str, Any]) -> tuple[Store, str | None]:
    """The store of `given`, and the key in it; None for all of it."""
    found = list(expand([given], **storage))
    for source in found:
        if isinstance(source, Fault):
            raise CannotEvaluate(f"{source.place.url if source.place else given}: {source.message}")
    keys = [
        (source.store, key)
        for source in found
        if not isinstance(source, Fault)
        for key in source.keys or (None,)
    ]
    if len(keys) != 1:
        raise click.UsageError(
            f"{given} names {len(keys)} files or stores: migrate one at a time, or a whole folder of files."
        )
    return keys[0]


def _one(source: tuple[Store, str | None] | None, migrator: Migrator) -> tuple[Migrated, list[Finding]]:
    if source is None or source[1] is None:
        data, place = read_input(), Place("-", "-")
    else:
        data, place = source[0].get(source[1]), Place(source[0].url_of(source[1]), source[1])
    lines = _is_lines(place.key, data)
    result = migrator.lines(data, place) if lines else migrator.record(data)
    if (
        result.data is None
        and migrator.keep_going
        and not any(f.code in {"SP601", "SP605"} for f in result.faults)
    ):
        kept = Fault("SP613", "not migrated; it is written as it was")
        result = Migrated(data, result.identity, (*result.faults, kept), changed=False, kept=1)
    return result, located(_placed(result.faults, place), lambda _: data)


def _is_lines(key: str, data: bytes) -> bool:
    """JSON Lines by its name; without one, several lines of which the first is a whole object."""
    if key != "-":
        return key.endswith(".jsonl")
    first, _, rest = data.lstrip().partition(b"\n")
    return bool(rest.strip()) and isinstance(parse(first)[0], dict)


def _placed(faults: Iterable[Fault], place: Place) -> Iterable[Fault]:
    return (fault if fault.place else fault.at(place) for fault in faults)


def _text(data: bytes, place: Place) -> bytes:
    """The JSON text at `place`, out of its file's bytes."""
    if place.key.endswith(".jsonl") or place.offset:
        return data[place.offset :].partition(b"\n")[0]
    return data


def located(faults: Iterable[Fault], read: Callable[[Place], bytes | None]) -> list[Finding]:
    """Findings with line and column, in the order of the faults' files and lines.

    Args:
        faults: each with its place.
        read: the bytes of the file at a place; None where there is none to look into.
    """
    found: list[Finding] = []
    for place, group in groupby(faults, key=lambda fault: fault.place):
        those = list(group)
        text = None
        if place and any(fault.pointer or fault.offset is not None for fault in those):
            data = read(place)
            text = data if data is None else _text(data, place)
        found += to_findings(those, text)
    return found


def _require_place(output: str) -> None:
    """Refuses what could be meant, but not be found again."""
    if output == "-":
        raise click.UsageError("--output - is no place: without --output one file goes to standard output.")
    if output.rpartition("/")[2].startswith(TEMPORARY):
        raise click.UsageError(
            f"--output {output}: names that begin with {TEMPORARY} are passed over by readers."
        )


def _put(output: str, data: bytes, storage: dict[str, Any]) -> list[Finding]:
    # The name is looked for behind the scheme: in file://x it would be found before it.
    scheme, is_url, path = output.rpartition("://")
    folder, slash, name = path.rpartition("/")
    if not name or (is_url and not slash):
        raise click.UsageError(f"--output {output} is a folder; INPUT is one file, so name one.")
    store = open_store(scheme + is_url + (folder or slash) if slash else ".", **storage)
    outcome = store.put_if_absent(name, data)
    if outcome is Outcome.WON:
        return []
    if outcome is Outcome.UNKNOWN:
        raise CannotEvaluate(f"{store.url_of(name)}: nobody can tell whether it was written; try again")
    message = "something else is already there; nothing was overwritten: remove it, or name another place"
    return [to_finding(Fault("SP604", message, place=Place(store.url_of(name), name)), None)]


def _report(
    findings: list[Finding], result: Migrated, output_format: str, *, done: bool, dry: bool, on_stdout: bool
) -> None:
    if output_format == "json":
        summary = {
            "done": done and not dry,
            "migrated": int(result.changed and done),
            "linesKept": result.kept,
        }
        text = to_json({"findings": documents(findings), "summary": summary})
        write(text) if on_stdout else note(text.decode().rstrip())
        return
    for line in findings_lines(findings, catalogue.name_of, screen(error_stream=True)):
        note(line)
    note(record_summary(findings, done=done, changed=result.changed, dry=dry))


def documents(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings for JSON."""
    return [finding_document(finding, catalogue.name_of(finding.code)) for finding in findings]
