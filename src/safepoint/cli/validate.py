"""``safepoint validate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from safepoint import api
from safepoint.cli.console import CannotEvaluate, Command, format_option, note, read_input, screen, write
from safepoint.core.finding import Finding
from safepoint.render.findings import finding_document, finding_text, summary_text
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue

RANKS = {"error": 2, "warning": 1, "info": 0}


@click.command(
    cls=Command,
    examples=["safepoint validate ./store 'records/**/*.json'", "safepoint validate - < checkpoint.json"],
    statuses={
        0: "nothing at or above --fail-on",
        1: "findings at or above --fail-on",
        3: "something could not be read, or there was nothing to check",
    },
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@format_option
@click.option(
    "--fail-on",
    type=click.Choice(list(RANKS)),
    default="error",
    show_default=True,
    help="The mildest severity that makes the exit status 1.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Show at most so many findings of one code; all are counted. 0: no limit.",
)
@click.pass_context
def command(
    ctx: click.Context, inputs: tuple[str, ...], output_format: str, fail_on: str, limit: int
) -> None:
    """Check records, runs and stores.

    INPUT is a path, a folder, a store, a glob or an fsspec URL; - is standard input. Of a folder of stores each is
    checked by itself. Nothing is ever changed.
    """
    validation = api.Validation(read_input() if given == "-" else given for given in dict.fromkeys(inputs))
    shown = _limited(validation, limit)
    if output_format == "json":
        documents = [finding_document(finding, catalogue.code(finding.code).name) for finding in shown]
        write(to_json({"findings": documents, "summary": _summary(validation, len(documents))}))
    else:
        out, lines = screen(), 0
        for finding in shown:
            write(finding_text(finding, catalogue.code(finding.code).name, out) + "\n")
            lines += 1
        if lines:
            note(f"what a code means and how to fix it: safepoint explain {_first(validation)}")
        note(summary_text(_summary(validation, lines), screen(error_stream=True)))
    ctx.exit(_status(validation, fail_on))


def _limited(validation: api.Validation, limit: int) -> Iterator[Finding]:
    seen: Counter[str] = Counter()
    for finding in validation:
        seen[finding.code] += 1
        if not limit or seen[finding.code] <= limit:
            yield finding


def _summary(validation: api.Validation, shown: int) -> dict[str, object]:
    return {**validation.summary(), "hidden": validation.codes.total() - shown}


def _first(validation: api.Validation) -> str:
    return max(validation.codes, key=lambda code: RANKS[catalogue.code(code).severity])


def _status(validation: api.Validation, fail_on: str) -> int:
    if not validation.evaluated:
        return CannotEvaluate.exit_code
    return int(any(RANKS[severity] >= RANKS[fail_on] for severity, n in validation.severities.items() if n))
