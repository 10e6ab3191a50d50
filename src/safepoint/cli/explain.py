"""``safepoint explain``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from safepoint.cli.completion import complete_codes
from safepoint.cli.console import Command, format_option, screen, write
from safepoint.core.kind import KINDS
from safepoint.core.version import CURRENT
from safepoint.render.explanation import codes_text, explanation_text
from safepoint.render.terminal import to_json
from safepoint.rules import catalogue


@click.command(
    cls=Command,
    examples=["safepoint explain SP214", "safepoint explain missing-version", "safepoint explain SP3"],
)
@click.argument("code", metavar="[CODE]", required=False, shell_complete=complete_codes)
@format_option
def command(code: str | None, output_format: str) -> None:
    """What a code means, why it matters, and how to fix it.

    CODE is a code or its name: SP214, 214 or missing-version. The beginning of codes, such as SP3, lists those that
    begin so; without CODE all are listed.
    """
    if code is not None and not _beginning(code):
        document = _document(_find(code))
        write(to_json(document) if output_format == "json" else explanation_text(document, screen()))
        return
    documents = [_document(known) for known in _those(code or "SP")]
    write(to_json({"codes": documents}) if output_format == "json" else codes_text(documents, screen()))


def _beginning(code: str) -> bool:
    return re.fullmatch(r"(SP)?[0-9]{0,2}", code.strip(), re.IGNORECASE) is not None


def _those(beginning: str) -> Sequence[catalogue.Code]:
    wanted = f"SP{beginning.strip().upper().removeprefix('SP')}"
    if found := [known for known in catalogue.codes() if known.id.startswith(wanted)]:
        return found
    raise _unknown(wanted)


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
    raise _unknown(wanted if wanted.startswith("SP") else code)


def _unknown(code: str) -> click.UsageError:
    from safepoint.selection.codes import hint

    return click.UsageError(f"no code {code!r}; {hint(code)}")
