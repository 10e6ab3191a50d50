"""``safepoint doctor``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from safepoint.cli.console import (
    LOCATION,
    Command,
    WholeNumber,
    format_option,
    note,
    screen,
    storage_option,
    write,
)
from safepoint.render.doctor import VERDICTS, doctor_text, verdict_of
from safepoint.render.progress import writer
from safepoint.render.terminal import to_json
from safepoint.store.probing import PROMISES, Proof, Trial


@click.command(
    cls=Command,
    examples=[
        "safepoint doctor ./store",
        "safepoint doctor s3://bucket/store",
        "safepoint doctor s3://bucket/store --storage-option endpoint_url=https://minio.example --writers 8",
    ],
    statuses={
        0: "everything that can be tried was proven here",
        1: "something cannot be enforced here: do not keep records there",
        3: "something could not be tried, such as writing with credentials that only read",
    },
)
@click.argument("url", type=LOCATION)
@click.option(
    "--writers", type=WholeNumber(2), metavar="N", default=4, show_default=True, help="Processes that race."
)
@click.option(
    "--rounds",
    type=WholeNumber(1),
    metavar="N",
    default=25,
    show_default=True,
    help="Names that they race for.",
)
@format_option
@storage_option
@click.pass_context
def command(
    ctx: click.Context,
    url: str,
    *,
    writers: int,
    rounds: int,
    output_format: str,
    storage: dict[str, Any],
) -> None:
    """Try whether the storage behind URL keeps two workers apart.

    URL is a store, or the place for one. No record is touched: all is done in a scratch folder, .tmp-doctor- and random
    letters, which readers pass over and which is removed again, also after Ctrl-C; what could not be removed is named.
    Real processes race for the same names, which takes some 500 requests and up to half a minute.

    That a protocol is known proves nothing: some servers accept the condition, and overwrite all the same.
    """
    trial = Trial(url, storage, writers=writers, rounds=rounds)
    try:
        with _telling() as tell:
            proofs = trial.run(tell)
    except BaseException:
        for place in _tidy(trial):
            note(f"left behind: {place}")
        raise
    document = _document(trial, proofs, _tidy(trial))
    write(to_json(document) if output_format == "json" else doctor_text(document, screen()))
    ctx.exit(VERDICTS[document["verdict"]][0])


def _tidy(trial: Trial) -> Sequence[str]:
    try:
        return trial.tidy()
    except KeyboardInterrupt:
        note(f"left behind: {trial.scratch}")
        raise


@contextmanager
def _telling() -> Iterator[Callable[[str], object]]:
    """What says on the terminal what is done, in a line that is empty afterwards."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    put = writer(sys.stderr.fileno())
    try:
        yield lambda words: put(f"\r\x1b[K{words} …")
    finally:
        put("\r\x1b[K")


def _document(trial: Trial, proofs: Sequence[Proof], left: Sequence[str]) -> dict[str, Any]:
    known = trial.capabilities
    told = [
        {
            "name": p.name,
            "promise": PROMISES[p.name],
            "promised": p.promised,
            "proven": p.proven,
            "how": p.how,
        }
        for p in proofs
    ]
    return {
        "url": trial.store.url,
        "verdict": verdict_of(told),
        "backend": known.backend,
        "driver": trial.driver or None,
        "libraries": [{**asdict(library), "tooOld": library.too_old} for library in trial.libraries],
        "claim": known.create or None,
        "durable": known.durable,
        "durableBy": known.durable_by or None,
        "scratch": None
        if any(p.name == "writes" and p.proven == "untried" for p in proofs)
        else trial.scratch,
        "left": list(left),
        "proofs": told,
    }
