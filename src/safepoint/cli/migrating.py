"""``safepoint migrate`` of a whole folder or store.

Decided here: what is printed, the progress bar, and the exit status. Not decided here: what is done (``moving``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from safepoint.cli.console import CannotEvaluate, note, screen, write
from safepoint.cli.migrate import documents, located
from safepoint.core.fault import Place
from safepoint.migrate import Migrator
from safepoint.moving.migration import (
    NeverGoesOnError,
    Report,
    Watch,
    migrate_store,
    plan_store,
    seal_store,
)
from safepoint.recorder.errors import RecorderError
from safepoint.render.migration import findings_lines, news, next_steps, store_summary
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue
from safepoint.store import Store, StoreError


def migrate(
    source: Store,
    target: Store | None,
    migrator: Migrator,
    options: Mapping[str, Any],
    *,
    looking: bool,
    check: bool,
) -> int:
    """Migrates a store, or says what that would do; the exit status.

    Args:
        source: what is migrated.
        target: where it goes; None where it is only looked at.
        migrator: how a record migrates.
        options: of the command.
        looking: nothing is written.
        check: whether anything would change is the status.
    """
    jobs = options["jobs"]
    try:
        with _bar() as watch:
            if looking or target is None:
                report = plan_store(source, migrator, target, jobs=jobs, watch=watch)
            elif migrator.to is None and migrator.payloads is None:
                report = seal_store(source, target, sealed_by=options["by"], watch=watch)
            else:
                report = migrate_store(
                    source, target, migrator, sealed_by=options["by"], jobs=jobs, watch=watch
                )
    except KeyboardInterrupt:
        if target is not None and not looking:
            note("give the same command again to go on")
        raise
    except NeverGoesOnError as error:
        raise click.UsageError(f"--seal: {error}") from error
    except RecorderError as error:
        raise CannotEvaluate(f"{target.url if target else source.url}: {error}") from error

    def read(place: Place) -> bytes | None:
        try:
            return source.get(place.key) if place.key and place.url == source.url_of(place.key) else None
        except StoreError:
            return None

    findings = located(report.tally.faults, read)
    summary = _summary(report)
    if options["output_format"] == "json":
        write(to_json({"findings": documents(findings), "summary": summary}))
    else:
        beside = screen(error_stream=True)
        told = news(findings, report.outcome)
        for line in findings_lines(told, catalogue.name_of, beside):
            note(line)
        note(store_summary(summary, told, beside, looking=looking))
        allowed = {name: bool(options[name]) for name in ("allow_loss", "keep_going", "seal")}
        for line in next_steps(summary, **allowed, looking=looking):
            note("\n".join(beside.prose(line, rest="  ")))
    return _status(report, check=check)


def _status(report: Report, *, check: bool) -> int:
    tally = report.tally
    if report.outcome == "refused" or tally.fates["asIs"] or report.unsealed:
        return 1
    return int(check and report.outcome == "planned" and tally.would_change > 0)


def _summary(report: Report) -> dict[str, Any]:
    tally = report.tally
    sealed: dict[str, int] = {}
    for seal in report.seals:
        sealed[seal.outcome] = sealed.get(seal.outcome, 0) + 1
    return {
        "outcome": report.outcome,
        "done": report.outcome in {"done", "nothingToDo"},
        "resumed": report.resumed,
        "objects": tally.fates.total(),
        **{fate: tally.fates[fate] for fate in ("migrated", "copied", "asIs", "dropped", "left", "refused")},
        "runs": tally.runs,
        "openRuns": tally.open_runs,
        "bytesRead": tally.read,
        "bytesWritten": tally.written,
        "codes": {code: tally.codes[code] for code in sorted(tally.codes)},
        "run": report.run_id,
        "digest": report.digest,
        "sealed": sealed,
        "seals": [seal.document() for seal in report.seals],
    }


@contextmanager
def _bar() -> Iterator[Watch]:
    """A progress bar where somebody looks; else nothing."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("runs {task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks: dict[str, Any] = {}

        def watch(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=of)
            shown.update(tasks[what], completed=done)

        yield watch
