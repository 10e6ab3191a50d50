"""``safepoint explain``."""

from __future__ import annotations

import difflib
import re

import click

from safepoint.cli.console import Command, format_option, screen, write
from safepoint.core.kind import KINDS
from safepoint.core.version import CURRENT
from safepoint.render.explanation import codes_text, explanation_text
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue


@click.command(cls=Command, examples=["safepoint explain SP214", "safepoint explain missing-version"])
@click.argument("code", metavar="[CODE]", required=False)
@format_option
def command(code: str | None, output_format: str) -> None:
    """What a code means, why it matters, and how to fix it.

    CODE is a code or its name: SP214, 214 or missing-version. Without CODE all are listed.
    """
    if code is None:
        documents = [_document(known) for known in catalogue.codes()]
        write(to_json({"codes": documents}) if output_format == "json" else codes_text(documents, screen()))
        return
    document = _document(_find(code))
    write(to_json(document) if output_format == "json" else explanation_text(document, screen()))


def _document(known: catalogue.Code) -> dict[str, str]:
    return {
        "code": known.id,
        "name": known.name,
        "severity": known.severity,
        "section": f"SPEC.md#{known.section}",
        "summary": known.summary,
        "text": known.text,
    }


def _find(code: str) -> catalogue.Code:
    wanted = code.strip().upper()
    if re.fullmatch(r"[0-9]{3}", wanted):
        wanted = f"SP{wanted}"
    try:
        return catalogue.code(wanted)
    except KeyError:
        pass
    by_name = {known.name: known for known in catalogue.codes()}
    if code.lower() in by_name:
        return by_name[code.lower()]
    if code.lower() in KINDS[CURRENT.major]:
        raise click.UsageError(
            f"{code.lower()} is no code but a kind of record; see `safepoint schema {code.lower()}`, "
            "or the same with --example."
        )
    ids = {known.id: known for known in by_name.values()}
    near = difflib.get_close_matches(wanted, ids, n=3) or difflib.get_close_matches(
        code.lower(), by_name, n=3
    )
    hint = f" Near it: {', '.join(near)}." if near else ""
    raise click.UsageError(f"no code {code!r}.{hint} `safepoint explain` lists all.")
