"""The action's step: its inputs become ``safepoint validate``, and what that says becomes outputs and a job summary.

Decided here: which reports are made, and what a reader of the job's page sees. Not decided here: what is wrong, and how
it is annotated; that is the command's business, and only its documented options and its JSON are used.

A report is a pass of its own. A job that wants all of them reads its records four times, which is less than it takes to
install the tool; in return nothing of a large store is ever held in memory, or written to the disk, for another format.

Whoever opens a pull request writes names and records, which the runner would take for commands if they came out at the
start of a line: the command escapes its own output, and here all else is printed while commands are stopped.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

# Isolated: a folder of the checked repository must not be taken for this package, or for one that it needs.
COMMAND = (sys.executable, "-I", "-m", "safepoint", "validate")
CANNOT_EVALUATE = 3
USAGE = 2
LISTED = 50
"""Findings in the job summary, which GitHub cuts off at 1 MiB."""
LONGEST = 300
"""Characters of one cell there."""


def main() -> int:
    """Runs the reports; the worst of their exit statuses."""
    inputs = {name: os.environ.get(f"SAFEPOINT_{name}", "").strip() for name in _INPUTS}
    names = [line for line in os.environ.get("SAFEPOINT_PATHS", "").split("\n") if line.strip()]
    if not names:
        return _refused("the input `paths` is empty: name what is to be checked, one a line")
    try:
        options = _options(inputs)
    except ValueError as error:
        return _refused(str(error))

    def report(output_format: str, output: str, *more: str) -> int:
        return _validate(
            [*options, *more, "--quiet", f"--format={output_format}", f"--output={output}"], names
        )

    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder, "findings.json")
        statuses = [report("json", str(counted), f"--limit={LISTED}")]
        if statuses[0] != USAGE:
            statuses.append(_logged(options, inputs["FORMAT"] or "github", names))
        found = json.loads(counted.read_bytes()) if counted.exists() else None
    outputs = _counts(found["summary"]) if found else {}
    for kind in ("sarif", "junit"):
        if found and (path := inputs[f"{kind.upper()}_FILE"]):
            before = _file(path)
            statuses.append(report(kind, path))
            # what an earlier step left there must not be taken for this report, nor be taken away: it may be an input
            outputs[f"{kind}-file"] = path if _file(path) not in {None, before} else ""
    status = max(map(_known, statuses))
    _append("GITHUB_OUTPUT", "".join(map(_output, {**outputs, "status": str(status)}.items())))
    _append("GITHUB_STEP_SUMMARY", _summary(found, status))
    return status


_INPUTS = (
    "RUN",
    "FORMAT",
    "FAIL_ON",
    "SELECT",
    "IGNORE",
    "BASELINE",
    "CONFIG",
    "ARTIFACTS",
    "SARIF_FILE",
    "JUNIT_FILE",
)
_LOGGED = ("", "github", "text", "json", "jsonl")
_SWITCHES = {"": [], "true": ["--artifacts"], "false": ["--no-artifacts"]}


def _options(inputs: Mapping[str, str]) -> list[str]:
    """The command's options; an input that is empty was not given."""
    # Each as one word: a value that begins with a dash is a value.
    named = ("RUN", "FAIL_ON", "BASELINE", "CONFIG")
    options = [f"--{name.lower().replace('_', '-')}={inputs[name]}" for name in named if inputs[name]]
    for name in ("SELECT", "IGNORE"):
        options += [f"--{name.lower()}={code}" for code in re.split(r"[\s,]+", inputs[name]) if code]
    if inputs["FORMAT"] not in _LOGGED:
        raise ValueError(
            f"the input `format` is {inputs['FORMAT']!r}: expected one of {', '.join(_LOGGED[1:])}"
        )
    artifacts = inputs["ARTIFACTS"].lower()
    if artifacts not in _SWITCHES:
        raise ValueError(f"the input `artifacts` is {inputs['ARTIFACTS']!r}: expected true or false")
    return options + _SWITCHES[artifacts]


def _validate(options: Sequence[str], names: Sequence[str]) -> int:
    """One report to a file; of its messages only those of a report that could not be made are shown."""
    done = subprocess.run(
        [*COMMAND, *options, "--", *names], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode not in {0, 1} and message:
        _say(message)
        _error(message.splitlines()[-1])
    return done.returncode


def _logged(options: Sequence[str], output_format: str, names: Sequence[str]) -> int:
    """The report that the log shows, as it is made."""
    command = [*COMMAND, *options, f"--format={output_format}", "--", *names]
    with nullcontext() if output_format == "github" else _commands_stopped():
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode


def _file(path: str) -> tuple[int, int] | None:
    """Which file it is that lies at `path`, whatever is in it; None: there is none."""
    with suppress(OSError):
        found = Path(path).stat()
        return found.st_dev, found.st_ino
    return None


def _known(status: int) -> int:
    """A status of the documented ones: what else ends a process (a signal, no memory) is no result."""
    return status if status in {0, 1, 2, 3} else CANNOT_EVALUATE


def _refused(problem: str) -> int:
    _error(problem)
    _append("GITHUB_OUTPUT", _output(("status", str(USAGE))))
    return USAGE


# What the runner reads


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    """Lines of the log, none of which is a command."""
    with _commands_stopped():
        _write(f"{text}\n")


@contextmanager
def _commands_stopped() -> Iterator[None]:
    token = secrets.token_hex(16)
    _write(f"::stop-commands::{token}\n")
    yield
    _write(f"::{token}::\n")


def _error(text: str) -> None:
    for letter, escape in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(letter, escape)
    _write(f"::error title=safepoint validate::{text}\n")


def _output(item: tuple[str, str]) -> str:
    """`item` as the file of a step's outputs wants it, whatever the value holds."""
    name, value = item
    end = secrets.token_hex(16)
    return f"{name}<<{end}\n{value}\n{end}\n"


def _append(variable: str, text: str) -> None:
    with Path(os.environ[variable]).open(
        "a", encoding="utf-8", errors="backslashreplace", newline="\n"
    ) as file:
        file.write(text)


# What people read


def _counts(summary: Mapping[str, Any]) -> dict[str, str]:
    findings = summary["findings"]
    counts = {
        "records": summary["records"],
        "errors": findings["error"],
        "warnings": findings["warning"],
        "notes": findings["info"],
        "suppressed": sum(summary.get("suppressed", {}).values()),
    }
    return {name: str(number) for name, number in counts.items()}


def _summary(found: Mapping[str, Any] | None, status: int) -> str:
    """Markdown for the job's page."""
    if found is None:
        return "### Safepoint: could not check anything\n\nThe log of the step says why.\n"
    counts = found["summary"]
    severities = counts["findings"]
    said = [
        _count(severities[severity], noun)
        for severity, noun in (("error", "error"), ("warning", "warning"), ("info", "note"))
        if severities[severity]
    ]
    known = counts.get("suppressed", {}).get("baseline")
    verdict = ", ".join(said) or ("nothing new" if known else "nothing wrong")
    if status == CANNOT_EVALUATE:
        verdict = f"could not check everything; {verdict}" if said else "could not check everything"
    read = ", ".join(_count(counts[f"{noun}s"], noun) for noun in ("run", "file", "record"))
    suppressed = sum(counts.get("suppressed", {}).values())
    lines = [
        f"### Safepoint: {verdict}",
        "",
        f"{read}{f'; {suppressed:,} suppressed' if suppressed else ''}.",
    ]
    shown = sorted(found["findings"], key=lambda finding: _ORDER[finding["severity"]])[:LISTED]
    if shown:
        lines += ["", "| | place | code | what is wrong |", "|---|---|---|---|", *map(_row, shown)]
        if more := sum(severities.values()) - len(shown):
            lines += ["", f"And {more:,} more."]
        lines += ["", f"What a code means and how to fix it: `safepoint explain {shown[0]['code']}`."]
    return "\n".join(lines) + "\n"


_ORDER = {"error": 0, "warning": 1, "info": 2}
_WORDS = {"error": "error", "warning": "warning", "info": "note"}


def _row(finding: Mapping[str, Any]) -> str:
    place = f"{finding['url']}:{finding['line']}:{finding['column']}" if finding["url"] else ""
    pointer = f" (at {finding['pointer']})" if finding["pointer"] else ""
    cells = (place, f"{finding['code']} {finding['name']}", f"{finding['message']}{pointer}")
    return f"| {_WORDS[finding['severity']]} | {' | '.join(map(_markdown, cells))} |"


def _markdown(text: str) -> str:
    """`text` for a cell, where none of it is markup: with a backslash any punctuation mark is only itself."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
