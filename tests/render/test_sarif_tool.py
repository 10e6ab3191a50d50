"""Microsoft's SARIF validator has no error and no warning for what we write, about every fixture.

It is an npm package of its own, ``@microsoft/sarif-multitool``, with a program for each platform in it::

    npm install --no-save @microsoft/sarif-multitool@5
    chmod u+x node_modules/@microsoft/sarif-multitool-*/Sarif.Multitool   # where npm runs no install scripts

It is looked for where ``SAFEPOINT_SARIF_MULTITOOL`` says, in ``node_modules`` of the project, and on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from checks import CLEAN, HOSTILE, NOWHERE, RUN, reported

from safepoint import api
from safepoint.render.report import Context
from safepoint.render.reports import REPORTS
from safepoint.rules import catalogue

ROOT = Path(__file__).parents[2]
KINDS = ("Sarif", "Ghas")
"""The format's own rules, and those of GitHub's code scanning."""


@pytest.fixture(scope="module")
def tool() -> str:
    named = os.environ.get("SAFEPOINT_SARIF_MULTITOOL")
    found = named or shutil.which("sarif-multitool", path=ROOT / "node_modules/.bin")
    found = found or shutil.which("sarif-multitool")
    if found:
        return found
    missing = "npm package @microsoft/sarif-multitool is not installed: see the top of this file"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def report_of(paths: Iterable[str], base: Path) -> str:
    """The log of a whole check of `paths`."""
    validation = api.validate(*paths, excerpts="masked")
    known = Context(
        catalogue.code,
        validation.summary,
        evaluated=lambda: validation.evaluated,
        status=lambda: int(bool(validation.severities["error"])),
        base=str(base),
        version="1.2.3",
    )
    return "".join(REPORTS["sarif"](validation.checked(), known))


def complaints(tool: str, folder: Path, kind: str) -> list[str]:
    """What the tool says of the logs in `folder`."""
    out = folder / "said" / f"{kind}.json"
    out.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [tool, "validate", str(folder / "*.sarif"), "--rule-kind", kind, "--output", str(out)],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
        # the program asks for a library of its system that a small image lacks, and needs none of it here
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
    )
    assert out.exists(), f"the tool did not run: {done.stdout}{done.stderr}"
    (run,) = json.loads(out.read_text("utf-8-sig"))["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"]
    assert f"Done. {len(list(folder.glob('*.sarif')))} files scanned." in done.stdout
    return [
        f"{result['ruleId']}: {result['message'].get('arguments')}"
        for result in run.get("results", [])
        if result.get("level", "warning") in {"error", "warning"}
    ]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name in ("bad", "warn", "hostile"):
        cases = [path.parent for path in (ROOT / "fixtures" / name).rglob("expect.json")]
        text = report_of([str(case) for case in cases], ROOT)
        assert len(json.loads(text)["runs"][0]["results"]) >= len(cases)
        (folder / f"{name}.sarif").write_text(text, "utf-8")
    (folder / "elsewhere.sarif").write_text(report_of([str(ROOT / "fixtures/bad")], folder), "utf-8")
    (folder / "nothing.sarif").write_text(report_of([str(folder / "none")], folder), "utf-8")
    (folder / "clean.sarif").write_text(reported("sarif", CLEAN), "utf-8")
    (folder / "made-up.sarif").write_text(reported("sarif", RUN, HOSTILE, NOWHERE, base="/home/me"), "utf-8")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_the_validator_has_no_error_and_no_warning(tool: str, logs: Path, kind: str) -> None:
    assert not complaints(tool, logs, kind)


def test_the_validator_would_have_said_what_is_wrong(tool: str, tmp_path: Path) -> None:
    log = json.loads(reported("sarif", RUN))
    del log["runs"][0]["results"][0]["message"]
    log["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] = -1
    (tmp_path / "broken.sarif").write_text(json.dumps(log), "utf-8")
    said = complaints(tool, tmp_path, "Sarif")
    assert [complaint.partition(":")[0] for complaint in said] == ["JSON1002", "JSON1008"]
