"""``safepoint migrate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import click

from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
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
from safepoint.migrate import Migrated, migrate_lines, migrate_record
from safepoint.migrate.stores import migrate_store
from safepoint.render.findings import finding_document, finding_text
from safepoint.render.terminal import count, to_json
from safepoint.rules import catalogue, to_finding, to_findings
from safepoint.store import Outcome, Store, open_store
from safepoint.store.base import TEMPORARY
from safepoint.store.inputs import expand

SHOWN = 100
"""Findings of one code that text shows; all are counted."""


@click.command(
    cls=Command,
    examples=[
        "safepoint migrate v2/checkpoint.json --to v3 --output v3/checkpoint.json",
        "safepoint migrate ./store --to v3 --output ./store-v3",
    ],
    statuses={
        0: "migrated",
        1: "refused: nothing was written",
        2: "wrong usage",
        3: "something could not be read or written",
    },
)
@click.argument("given", metavar="INPUT", type=LOCATION)
@click.option("--to", required=True, type=click.Choice(["v1", "v2", "v3"]), help="The version to write.")
@click.option(
    "--output", type=LOCATION, metavar="URL", help="Where to write; nothing that is there is overwritten."
)
@click.option("--allow-loss", is_flag=True, help="Write even what the version cannot hold entirely.")
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    given: str,
    *,
    to: str,
    output: str | None,
    allow_loss: bool,
    output_format: str,
    storage: dict[str, Any],
) -> None:
    """Bring records to another version of the format; the source is never changed.

    INPUT is a file with one record, JSON Lines, a folder or a store; - is standard input. One file goes to standard
    output unless --output names a place; a folder or store needs --output. With --format json a report replaces the
    findings; it goes to standard output if the records do not.

    A copy of a run that has not ended is a second place where it could go on: go on in one of them only.
    """
    version = Version.parse(to)
    assert version is not None
    if output is not None:
        _require_place(output)
    source = None if given == "-" else _source(given, storage)
    if source is None or source[1] is not None:
        result, findings = _one(source, version, allow_loss=allow_loss)
        refused = result.data is None
        if result.data is not None and output is None:
            # A stored record needs no line feed; a terminal, and whoever appends the next record, does.
            write(result.data if result.data.endswith(b"\n") else result.data + b"\n")
        elif result.data is not None and output is not None:
            findings += _put(output, result.data, storage)
            refused = any(finding.code == "SP604" for finding in findings)
        summary: dict[str, Any] = {"done": not refused, "migrated": int(result.changed and not refused)}
    else:
        if output is None:
            raise click.UsageError(f"{given} is a folder: name a new place for the copy with --output.")
        store, target = source[0], open_store(output, **storage)
        report = migrate_store(store, target, version, allow_loss=allow_loss)
        findings, refused = (
            _located(report.faults, lambda place: store.get(place.key) if place.key else None),
            not report.done,
        )
        if report.done:
            note(
                "a run that has not ended could go on in both places now: make sure that nobody writes the original"
            )
        counts = ("migrated", "copied", "dropped", "left")
        summary = {"done": report.done, **{name: getattr(report, name) for name in counts}}
    _report(findings, summary, output_format, on_stdout=output is not None)
    ctx.exit(int(refused))


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


def _one(
    source: tuple[Store, str | None] | None, version: Version, *, allow_loss: bool
) -> tuple[Migrated, list[Finding]]:
    if source is None or source[1] is None:
        data, place = read_input(), Place("-", "-")
    else:
        data, place = source[0].get(source[1]), Place(source[0].url_of(source[1]), source[1])
    if _is_lines(place.key, data):
        result = migrate_lines(data, version, allow_loss=allow_loss, place=place)
    else:
        result = migrate_record(data, version, allow_loss=allow_loss)
    return result, _located(_placed(result.faults, place), lambda _: data)


def _is_lines(key: str, data: bytes) -> bool:
    """JSON Lines by its name; without one, several lines that are not one JSON text."""
    if key != "-":
        return key.endswith(".jsonl")
    return b"\n" in data.strip() and bool(parse(data)[1])


def _placed(faults: Iterable[Fault], place: Place) -> Iterable[Fault]:
    return (fault if fault.place else fault.at(place) for fault in faults)


def _text(data: bytes, place: Place) -> bytes:
    """The JSON text at `place`, out of its file's bytes."""
    if place.key.endswith(".jsonl") or place.offset:
        return data[place.offset :].partition(b"\n")[0]
    return data


def _located(faults: Iterable[Fault], read: Callable[[Place], bytes | None]) -> list[Finding]:
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


def _report(findings: list[Finding], summary: dict[str, Any], output_format: str, *, on_stdout: bool) -> None:
    if output_format == "json":
        documents = [finding_document(finding, catalogue.code(finding.code).name) for finding in findings]
        text = to_json({"findings": documents, "summary": summary})
        write(text) if on_stdout else note(text.decode().rstrip())
        return
    seen: Counter[str] = Counter()
    for finding in _together(findings):
        seen[finding.code] += 1
        if seen[finding.code] <= SHOWN:
            note(finding_text(finding, catalogue.code(finding.code).name, screen(error_stream=True)))
    numbers = ", ".join(f"{number} {name}" for name, number in summary.items() if name != "done")
    hidden = sum(max(0, n - SHOWN) for n in seen.values())
    more = f" ({hidden:,} more of the same codes not shown)" if hidden else ""
    outcome = "done" if summary["done"] else "refused, nothing was written; as far as it came"
    lines = seen.total()
    places = f" in {count(len(findings), 'place')}" if len(findings) > lines else ""
    note(f"{outcome}: {numbers}; {count(lines, 'finding')}{places}{more}")


def _together(findings: Iterable[Finding]) -> Iterator[Finding]:
    """What a record has no place for, in one line instead of one for each member."""
    for (code, _, _), group in groupby(findings, key=lambda f: (f.code, f.url, f.message)):
        same = list(group)
        if code == "SP603" and len(same) > 1:
            names = ", ".join(finding.pointer for finding in same)
            yield replace(same[0], message=f"{same[0].message}: {names}", pointer="")
        else:
            yield from same
