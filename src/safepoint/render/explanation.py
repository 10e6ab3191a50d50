"""What ``safepoint explain`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from safepoint.render.findings import STYLES
from safepoint.render.terminal import Screen


def explanation_text(code: Mapping[str, str], screen: Screen) -> str:
    """One code's story.

    Args:
        code: ``code, name, severity, section, text``.
        screen: where it goes.
    """
    severity = screen.paint(code["severity"], STYLES[code["severity"]])
    title = f"{code['code']} {code['name']}"
    head = f"{screen.paint(title, 'bold')} ({severity})"
    text = code["text"]
    for word in ("Why:", "Fix:"):
        text = text.replace(f"\n\n{word}", f"\n\n{screen.paint(word, 'bold')}")
    return f"{head}\n\n{text}\n\n{screen.paint(code['section'], 'dim')}\n"


def codes_text(codes: Sequence[Mapping[str, str]], screen: Screen) -> str:
    """All codes, one line each."""
    rows = [
        (code["code"], (code["severity"], STYLES[code["severity"]]), code["name"], code["summary"])
        for code in codes
    ]
    return screen.table(("code", "severity", "name", "means"), rows, indent="")
