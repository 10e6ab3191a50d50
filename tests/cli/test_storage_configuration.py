"""Storage that is configured wrongly: one line that names the place, exit status 3, and no secret."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECRET = "Sup3rS3cret"


def answer(folder: Path, *options: str, **variables: str) -> tuple[int, str]:
    environment = {
        **os.environ,
        "FSSPEC_CONFIG_DIR": str(folder),
        "AWS_EC2_METADATA_DISABLED": "true",
        **variables,
    }
    words = [word for option in options for word in ("--storage-option", option)]
    done = subprocess.run(
        [sys.executable, "-m", "safepoint", "runs", "s3://bucket/store", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s3.ini", f"[s3]\nsecret=ab%{SECRET}\n"),
        ("s3.ini", f"[s3]\nsecret {SECRET}\n"),
        ("s3.json", f'{{"s3": {{"secret": "{SECRET}" "key": 1}}}}'),
        ("s3.json", f'{{"s3": ["{SECRET}"]}}'),
        ("s3.json", f'["{SECRET}"]'),
    ],
)
def test_a_faulty_file_of_fsspec_is_named_and_not_quoted(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    status, said = answer(tmp_path)
    assert status == 3
    assert SECRET not in said
    assert said.count("\n") == 1
    assert "FSSPEC_CONFIG_DIR" in said


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("endpoint_uri=http://127.0.0.1:9", "options"),
        (f's3={{"key":"{SECRET}"', "options"),
        ("profile=nobody", "profile"),
        ("driver=best", "driver"),
    ],
)
def test_an_option_that_cannot_be_used_is_no_outage(tmp_path: Path, option: str, word: str) -> None:
    status, said = answer(tmp_path, option)
    assert status == 3
    assert SECRET not in said
    assert said.count("\n") == 1
    assert word in said
    assert "try again" not in said
