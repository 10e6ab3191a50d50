"""``safepoint anchor``.

Decided here: the options, and what each stream and the exit status say. Not decided here: what is anchored, and what
contradicts it (``upkeep.anchor``).
"""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Any

import click

from safepoint import api
from safepoint.cli.console import (
    LOCATION,
    CannotEvaluate,
    Command,
    format_option,
    more_storage_option,
    note,
    now_option,
    one_store,
    screen,
    storage_option,
    storage_words,
    write,
)
from safepoint.reader.stores import require_one
from safepoint.render.anchoring import anchored_json, anchored_text, summary_line
from safepoint.rules import catalogue
from safepoint.store.copying import overlap
from safepoint.upkeep.anchor import Acceptance, NothingToAcceptError, Report, anchor_store


@click.command(
    cls=Command,
    examples=[
        "safepoint anchor ./store --output /mnt/elsewhere/anchors-of-store",
        "safepoint anchor s3://bucket/store --output s3://audit/store --output-storage-option profile=auditor",
        "safepoint validate ./store --anchor /mnt/elsewhere/anchors-of-store",
        "safepoint anchor ./store --output PLACE --accept 'restored after the disk failed' --by m.moreau",
    ],
    statuses={
        0: "anchored, or nothing is new since the newest anchor",
        1: "refused, nothing was written: the store contradicts its anchors, or the anchors each other",
        2: "wrong usage",
        3: "something could not be read or written, or the store holds no run",
    },
)
@click.argument("store", type=LOCATION)
@click.option(
    "--output",
    required=True,
    type=LOCATION,
    metavar="PLACE",
    help="A folder or URL outside of STORE, best one that its writers cannot write; anchors are added, never changed.",
)
@click.option(
    "--accept",
    metavar="REASON",
    help="What contradicts the anchors is right, for this reason, which the anchor keeps. Needs --by.",
)
@click.option("--by", metavar="WHO", help="Who answers for --accept.")
@now_option
@format_option
@storage_option
@more_storage_option("--output-storage-option", "output_storage", "PLACE")
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    *,
    output: str,
    accept: str | None,
    by: str | None,
    now: int | None,
    output_format: str,
    storage: dict[str, Any],
    output_storage: dict[str, Any],
) -> None:
    """Write down elsewhere how far each run of STORE has come.

    An anchor holds the digest of each log's newest record. Later `validate --anchor PLACE` finds what a chain cannot
    show by itself: a tail that was cut, a record that was changed together with every digest behind it, a run that is
    gone, a store that was put back to an earlier state. Anchoring itself compares only the heads. The newest line of
    the output is worth telling to somebody else, too.
    """
    accepted = _accepted(accept, by)
    if output.endswith(".json"):
        raise click.UsageError(f"--output {output}: anchors go into a folder of theirs; name a folder.")
    if overlap(store, output):
        raise click.UsageError(
            f"--output {output}: one of it and {store} lies in the other. Who can change the store could change its "
            "anchors, and who puts it back puts them back: name a place outside."
        )
    opened = api.open_store(store, **storage)
    place = api.open_store(output, **{**storage, **output_storage})
    with one_store(ctx):
        require_one(opened)
    try:
        report = anchor_store(
            opened, place, now=api.moment_of(now), nonce=secrets.token_hex(16), accepted=accepted
        )
    except NothingToAcceptError as error:
        raise click.UsageError(f"{error}; leave out --accept.") from error
    check = ["safepoint", "validate", opened.url, "--anchor", place.url, *storage_words(storage)]
    check += storage_words(output_storage, "--anchor-storage-option")
    _tell(report, place.url, output_format, check)
    ctx.exit(_status(report))


def _accepted(reason: str | None, by: str | None) -> Acceptance | None:
    if reason is None and by is None:
        return None
    if not (reason and reason.strip()) or not (by and by.strip()):
        raise click.UsageError("--accept REASON and --by WHO go together, and neither is empty.")
    if len(reason) > 4096 or len(by) > 256 or not by.isprintable():
        raise click.UsageError("--accept takes 4096 characters, and --by 256 without control characters.")
    return Acceptance(reason, by)


def _tell(report: Report, place: str, output_format: str, check: list[str]) -> None:
    written = [asdict(anchor) for anchor in report.written]
    summary = {
        "refused": report.refused,
        "anchor": {"sequence": report.sequence or None, "digest": report.digest},
        **{name: getattr(report, name) for name in ("runs", "records", "changed", "damaged")},
    }
    if output_format == "json":
        write(anchored_json(written, report.findings, summary, catalogue.name_of))
        return
    for line in anchored_text(written, report.findings, catalogue.name_of, screen()):
        write(line)
    shown = screen(error_stream=True)
    note(summary_line(summary, len(written), len(report.findings), place, shown, check=check))


def _status(report: Report) -> int:
    if report.refused and any(finding.code in {"SP001", "SP002"} for finding in report.findings):
        return CannotEvaluate.exit_code
    return int(report.refused)
