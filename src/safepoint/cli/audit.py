"""``safepoint audit``.

Decided here: the options, what each stream gets, and what the exit status is. Not decided here: the answers (``audit``)
and how they are printed (``render``).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from safepoint import api
from safepoint.cli.base import base_of
from safepoint.cli.completion import complete_runs
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    note,
    one_store,
    screen,
    storage_option,
    storage_words,
)
from safepoint.cli.output import STDOUT, opened
from safepoint.cli.targets import check_targets
from safepoint.render.report import Context
from safepoint.render.terminal import Screen, to_json
from safepoint.rules import catalogue
from safepoint.settings import FORMATS, Settings
from safepoint.version import __version__

if TYPE_CHECKING:
    from safepoint.audit import Audit
    from safepoint.core.finding import Checked, Severity

FAIL_ON = ("error", "warning", "never")
_FEW = 100
"""Findings of one code that GitHub is handed; it shows ten of each severity."""


@click.command(
    cls=Command,
    examples=[
        "safepoint audit ./store --policy policy.toml",
        "safepoint audit s3://bucket/agents --run run-7 --policy policy.toml",
        "safepoint audit ./store --policy policy.toml --fail-on warning --format junit --output audit.xml",
    ],
    statuses={
        0: "all points are passed; or nobody can tell, unless --fail-on is warning",
        1: "a point failed; or nobody can tell, and --fail-on is warning",
        2: "wrong usage: nothing was looked at",
        3: "the store or the policy could not be read, or there was no run to look at",
    },
)
@click.argument("store", type=LOCATION)
@click.option("--run", "run_id", metavar="RUN", shell_complete=complete_runs, help="Look only at this run.")
@click.option(
    "--policy",
    type=LOCATION,
    metavar="FILE",
    help="The policy that the guard is given, JSON or TOML. Without it nobody can tell what the project has set.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="error",
    show_default=True,
    help="error: what failed makes the exit status 1; warning: also where nobody can tell; never: neither.",
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
    help="Write the answers to FILE, once they are whole; nothing that is looked at is written over.",
)
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    run_id: str | None,
    policy: str | None,
    fail_on: str,
    output_format: str,
    output: str,
    storage: dict[str, Any],
) -> None:
    """Does recovery hold in STORE? The checklist of ten points, answered from the records.

    Each point is passed, failed, or such that nobody can tell, with the evidence and what to do. A point that
    fails in one run fails as a whole. Reads only.
    """
    if output != STDOUT:
        check_targets(output, None, [store, *([policy] if policy is not None else [])], None, Settings())
    threshold: Severity | None = (
        None if fail_on == "never" else "warning" if fail_on == "warning" else "error"
    )
    with one_store(ctx):
        audit = api.audit(store, run=run_id, policy=policy, storage_options=storage)
        told = _Told(audit, store, run_id, storage_words(storage), threshold)
        # text is written when all is known; what streams is written as it comes
        with opened(output, for_people=output_format in {"text", "github"}) as put:
            for piece in told.pieces(output_format, to_screen=output == STDOUT):
                put(piece)
    if not audit.runs:
        gone = f" ({audit.deleted:,} deleted)" if audit.deleted else ""
        raise CannotEvaluate(f"{store}: no run was found to look at{gone}; name a store that holds records")
    if output != STDOUT or output_format not in {"text", "json"}:
        from safepoint.render.audit import headline

        note(f"{store}: {headline(told.document())}")
    ctx.exit(told.status())


class _Told:
    """One pass, told in one of the formats."""

    def __init__(
        self, audit: Audit, store: str, run_id: str | None, words: list[str], threshold: Severity | None
    ) -> None:
        self.audit, self.store, self.run_id, self.words, self.threshold = (
            audit,
            store,
            run_id,
            words,
            threshold,
        )
        self.codes: Counter[str] = Counter()
        self.severities: Counter[str] = Counter()

    def pieces(self, shape: str, *, to_screen: bool) -> Iterator[str]:
        """The output, as it can be said."""
        if shape in {"text", "json"}:
            for _ in self.audit:
                pass
            if self.audit.runs and shape == "json":
                yield to_json(self.document()).decode()
            elif self.audit.runs:
                from safepoint.render.audit import audit_text

                yield audit_text(self.document(), screen() if to_screen else Screen())
        elif shape == "jsonl":
            yield from self._lines()
        else:
            from safepoint.render.reports import REPORTS

            yield from REPORTS[shape](self._checked(), self._context(shape))

    def document(self) -> dict[str, Any]:
        """What all runs together say."""
        from safepoint.audit.document import document

        return document(self.audit, self.store, self.run_id, self.words)

    def status(self) -> int:
        """0 where nothing is as grave as `threshold`."""
        result = self.audit.result
        if self.threshold is None:
            return 0
        return int(result == "failed" or (result == "cannot tell" and self.threshold == "warning"))

    def _lines(self) -> Iterator[str]:
        from safepoint.audit.document import answers

        for examined in self.audit:
            for answer in answers(examined, self.store, self.words):
                yield to_json({"type": "answer", **answer}, indent=False).decode()
        if self.audit.runs:
            yield to_json({"type": "audit", **self.document()}, indent=False).decode()

    def _checked(self) -> Iterator[Checked]:
        from safepoint.audit.document import checked

        for examined in self.audit:
            for found in checked(examined, self.store):
                self.codes.update(finding.code for finding in found.findings)
                self.severities.update(finding.severity for finding in found.findings)
                yield found

    def _context(self, shape: str) -> Context:
        from safepoint.audit.document import summary_of

        started, here = time.monotonic(), ""
        with suppress(FileNotFoundError):
            here = os.path.realpath(".")
        return Context(
            describe=catalogue.code,
            summary=lambda: summary_of(self.audit, self.codes, self.severities),
            seconds=(lambda: time.monotonic() - started) if shape == "junit" else None,
            evaluated=lambda: self.audit.runs > 0,
            status=lambda: self.status() if self.audit.runs else CannotEvaluate.exit_code,
            command="audit",
            fail_on=self.threshold,
            here=here,
            base=base_of(shape, here) if shape in {"github", "sarif"} else here,
            version=__version__,
            most_of_a_code=_FEW if shape == "github" else 0,
            quiet=True,
        )
