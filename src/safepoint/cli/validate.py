"""``safepoint validate``.

Decided here: the options, what each stream gets, and what the exit status is. Not decided here: what is a finding
(``api``), which of them count (``selection``) and how they are printed (``render``).
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from safepoint import api
from safepoint.cli.anchoring import anchor_options, anchors_line, require_one_apart
from safepoint.cli.artifacts import artifact_scheme_option
from safepoint.cli.choices import (
    STDIN,
    Accepted,
    engine_of,
    idle,
    inputs_of,
    payloads_of,
    selection_of,
    settings_of,
    unlooked_for,
)
from safepoint.cli.completion import complete_codes, complete_runs
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    WholeNumber,
    note,
    open_input,
    screen,
    storage_option,
)
from safepoint.cli.output import STDOUT, opened
from safepoint.render.findings import summary_text
from safepoint.render.report import RANKS, Context
from safepoint.render.terminal import Screen
from safepoint.rules import catalogue
from safepoint.settings import ENGINES, FAIL_ON, FORMATS, Settings
from safepoint.version import __version__

if TYPE_CHECKING:
    from safepoint.core.finding import Checked, Severity
    from safepoint.render.report import Report
    from safepoint.rules import Excerpts

FEW = 100
"""Findings of one code that people are shown where they do not say how many; programs get all."""
_ALLOCATIONS = 100_000
"""Containers that may be made before unreachable ones are looked for."""
FOR_PEOPLE = frozenset({"text", "github"})


def _codes(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> frozenset[str] | None:
    if not given:
        return None
    from safepoint.selection import CodesError, parse_codes, parse_ignored

    try:
        codes = (parse_ignored if param.name == "ignore" else parse_codes)(given)
    except CodesError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    if not codes and param.name == "select":
        raise click.BadParameter(
            "it selects nothing; name a code, or leave it out to have every code", ctx, param
        )
    return codes


def _codes_option(name: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(
        name, multiple=True, metavar="CODES", callback=_codes, shell_complete=complete_codes, help=help_text
    )


@click.command(
    cls=Command,
    examples=[
        "safepoint validate ./store 'records/**/*.json'",
        "safepoint validate - < checkpoint.json",
        "safepoint validate s3://bucket/agents --run run-7 --storage-option anon=true",
        "git diff --name-only -z | safepoint validate --files-from - --null",
        "safepoint validate ./store --format sarif --output safepoint.sarif",
        "safepoint validate ./store --anchor /mnt/elsewhere/anchors-of-store",
        "safepoint validate ./store --write-baseline known.json",
        "safepoint validate ./store --baseline known.json --fail-on warning",
    ],
    statuses={
        0: "nothing at or above --fail-on",
        1: "findings at or above --fail-on",
        2: "wrong usage, or settings that cannot be used",
        3: "something could not be read, or there was nothing to check",
    },
    groups={
        "What is checked": [
            "files_from",
            "null",
            "run_id",
            "artifacts",
            "allow_artifact_schemes",
            "storage",
            "anchor",
            "anchor_storage",
        ],
        "What counts": ["select", "ignore", "fail_on", "baseline", "write_baseline"],
        "What is shown": ["output_format", "output", "limit", "max_findings", "show_values", "quiet"],
        "How it is done": ["jobs", "schema_engine", "config", "no_config"],
    },
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=LOCATION)
@click.option(
    "--files-from",
    type=LOCATION,
    metavar="FILE",
    help="Also check the files that FILE lists, one a line; - is standard input.",
)
@click.option(
    "--null",
    "-0",
    is_flag=True,
    help="The names in --files-from end with NUL, as git and find print them with -z.",
)
@click.option(
    "--run", "run_id", metavar="RUN", shell_complete=complete_runs, help="Only this run of a store."
)
@click.option(
    "--artifacts/--no-artifacts",
    default=None,
    help="Also read the artifacts in the store, and compare size and digest; else nobody looks at them.",
)
@artifact_scheme_option
@storage_option
@anchor_options
@_codes_option(
    "--select",
    "Only these: codes, their beginnings (SP3) or names, with commas or blanks between them. Repeatable.",
)
@_codes_option("--ignore", "Not these; wins over --select. SP001 and SP002 always count. Repeatable.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    help="The mildest severity that makes the exit status 1.  [default: error]",
)
@click.option(
    "--baseline", type=LOCATION, metavar="FILE", help="Findings that FILE lists do not count; '' for none."
)
@click.option(
    "--write-baseline",
    type=LOCATION,
    metavar="FILE",
    help="Accept what is found: list it in FILE, and exit with 0.",
)
@click.option("--format", "output_format", type=click.Choice(FORMATS), help="Output format.  [default: text]")
@click.option(
    "--output",
    "-o",
    type=LOCATION,
    metavar="FILE",
    default=STDOUT,
    help="Write the report to FILE, once it is whole; nothing that is checked is written over.",
)
@click.option(
    "--limit",
    type=WholeNumber(0),
    metavar="N",
    help=f"Show at most N findings of one code; all are counted. 0: all.  [default: {FEW}, for programs all]",
)
@click.option(
    "--max-findings",
    type=WholeNumber(0),
    metavar="N",
    help="Show at most N findings; all are counted. 0: all.",
)
@click.option(
    "--show-values/--mask-values",
    default=None,
    help="Show the accused lines, as they are, or with values masked, which may be payloads.  "
    "[default: masked, and only on a terminal]",
)
@click.option("--quiet", "-q", is_flag=True, help="Only findings: no counts, no notes, no progress.")
@click.option(
    "--jobs",
    "-j",
    type=WholeNumber(0),
    metavar="N",
    help="Processes that check. 0: one for each processor.  [default: 1]",
)
@click.option(
    "--schema-engine",
    type=click.Choice(ENGINES),
    help="auto: jsonschema-rs where it is installed; jsonschema: always the reference, much slower.  [default: auto]",
)
@click.option(
    "--config",
    type=LOCATION,
    metavar="FILE",
    help="The settings.  [default: the nearest safepoint.toml, or pyproject.toml that has some, in the working folder "
    "or above; never beside what is checked]",
)
@click.option("--no-config", is_flag=True, help="No settings but these options.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    inputs: tuple[str, ...],
    files_from: str | None,
    null: bool,
    run_id: str | None,
    storage: dict[str, Any],
    anchor: str | None,
    anchor_storage: dict[str, Any],
    write_baseline: str | None,
    output: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Check records, runs and stores.

    INPUT is a path, a folder, a store, a glob or an fsspec URL; - is standard input. Of a folder of stores each is
    checked by itself. Nothing that is checked is ever changed.
    """
    started = time.monotonic()
    # Records are trees, which nobody need look through for circles; by default a tenth of the time goes into that.
    gc.set_threshold(_ALLOCATIONS)
    settings = settings_of(given)
    if given["allow_artifact_schemes"] and not settings.artifacts:
        raise click.UsageError("--allow-artifact-scheme says where artifacts may lie: give --artifacts too")
    names = inputs_of(inputs, files_from, null=null)
    require_one_apart(names, anchor)
    if output != STDOUT or write_baseline is not None:
        from safepoint.cli.targets import check_targets

        read = names if anchor is None else [*names, anchor]
        check_targets(output, write_baseline, read, files_from, settings)
    payloads = payloads_of(settings)
    accepted = None
    if settings.baseline or write_baseline:
        accepted = Accepted(settings, names, run_id, write_baseline)
    selection = selection_of(settings, accepted)
    shape = settings.output_format or "text"
    out = screen() if shape == "text" and output == STDOUT else Screen()
    validation = api.validate(
        *(open_input() if name == STDIN else name for name in names),
        run=run_id,
        artifacts=bool(settings.artifacts),
        allow_artifact_schemes=settings.allow_artifact_schemes or (),
        selection=selection,
        payload_schemas=payloads,
        excerpts=_excerpts(settings, shape, out),
        engine=engine_of(settings),
        jobs=_jobs(settings.jobs),
        anchor=anchor,
        anchor_storage_options=anchor_storage,
        storage_options=storage,
    )
    threshold, here = _threshold(settings.fail_on), _here()
    context = Context(
        describe=catalogue.code,
        summary=validation.summary,
        screen=out,
        # Lines in a log or a test compare better without a time that differs each time.
        seconds=(lambda: time.monotonic() - started) if out.width is not None or shape == "junit" else None,
        evaluated=lambda: validation.evaluated,
        status=lambda: _status(validation, threshold),
        fail_on=threshold,
        here=here,
        base=_base(shape, here),
        settings=settings.path,
        version=__version__,
        most=settings.max_findings or 0,
        most_of_a_code=settings.limit if settings.limit is not None else FEW * (shape in FOR_PEOPLE),
        quiet=quiet,
    )
    if not quiet:
        for line in unlooked_for(settings):
            note(line)
    with opened(output, for_people=shape in FOR_PEOPLE) as put:
        for piece in _report(shape)(_watched(validation, quiet=quiet), context):
            put(piece)
    if output != STDOUT and not quiet:
        note(f"{output}: {summary_text(validation.summary(), screen(error_stream=True))}")
    if validation.anchors is not None and not quiet:
        note(anchors_line(validation.anchors, validation.summary()["runs"]))
    if accepted and selection:
        accepted.settle(selection, evaluated=validation.evaluated, quiet=quiet)
    if selection and settings.per_path and validation.evaluated and run_id is None and not quiet:
        for line in idle(settings, selection, names):
            note(line)
    ctx.exit(_status(validation, threshold))


def _report(shape: str) -> Report:
    if shape == "text":
        # what most checks want does not pay for the import of all the others
        from safepoint.render.text import text_report

        return text_report
    from safepoint.render.reports import REPORTS

    return REPORTS[shape]


def _excerpts(settings: Settings, shape: str, out: Screen) -> Excerpts:
    """Lines are shown where somebody looks at them, or asks for them; some formats want to know where they end."""
    if settings.show_values is not None:
        return "plain" if settings.show_values else "masked"
    return "masked" if out.width is not None or shape in {"sarif", "junit", "github"} else "none"


def _jobs(given: int | None) -> int:
    return (os.cpu_count() or 1) if given == 0 else given or 1


def _here() -> str:
    with suppress(FileNotFoundError):
        return os.path.realpath(".")
    return ""  # the working folder was removed; URLs and absolute paths can still be checked


def _base(shape: str, here: str) -> str:
    if shape not in {"github", "sarif"}:
        return here  # the others name files as the user did
    from safepoint.cli.base import base_of

    return base_of(shape, here)


def _watched(validation: api.Validation, *, quiet: bool) -> Iterable[Checked]:
    """What was checked, with a line on standard error that says how far it is, if somebody sees it."""
    terminal = screen(error_stream=True)
    if quiet or terminal.width is None:
        return validation.checked()
    from safepoint.render.progress import watched, writer

    draw = writer(sys.stderr.fileno())
    return watched(validation.checked(), draw, terminal.width, validation.summary)


def _threshold(fail_on: str | None) -> Severity | None:
    """The mildest severity that fails; None: none does."""
    named: dict[str, Severity | None] = {"never": None, "warning": "warning", "info": "info"}
    return named.get(fail_on or "error", "error")


def _status(validation: api.Validation, threshold: Severity | None) -> int:
    if not validation.evaluated:
        return CannotEvaluate.exit_code
    if threshold is None:
        return 0
    failing = (severity for severity, rank in RANKS.items() if rank >= RANKS[threshold])
    return int(any(validation.severities[severity] for severity in failing))
