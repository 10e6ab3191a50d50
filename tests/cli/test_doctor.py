"""``safepoint doctor``: what it prints, what its status says, and that it tidies up."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from servers import READER, gcp_storage_emulator, seaweedfs

from safepoint.store.probing import PROMISES, Trial

Run = Callable[..., Result]

QUICK = ("--writers", "2", "--rounds", "8")


def options(storage: Any) -> list[str]:
    pairs = (
        f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in storage.items()
    )
    return [word for pair in pairs for word in ("--storage-option", pair)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


def test_a_local_folder_is_proven(run: Run, store: Path) -> None:
    result = run("doctor", store, *QUICK)
    assert result.exit_code == 0, result.output
    assert "PROVEN HERE" in result.stdout
    assert "2 processes, 8 names, met at" in result.stdout
    assert "it survives a crash            yes       not tried  cannot be tried from outside" in result.stdout
    assert "it is promised: fsync(2) of file and folder" in result.stdout
    assert result.stderr == ""
    assert list(store.iterdir()) == []


def test_the_report_as_json_holds_every_promise(run: Run, store: Path) -> None:
    document = json.loads(run("doctor", store, *QUICK, "--format", "json").stdout)
    assert (document["verdict"], document["claim"], document["left"]) == (
        "proven",
        "hard link to a synced file",
        [],
    )
    assert [proof["name"] for proof in document["proofs"]] == [
        name for name in PROMISES if name != "libraries"
    ]
    assert document["scratch"].startswith(f"{store}/.tmp-doctor-")


def test_a_missing_folder_is_status_3_and_says_how_to_make_it(run: Run, tmp_path: Path) -> None:
    result = run("doctor", tmp_path / "nowhere")
    assert result.exit_code == 3
    assert "NOT PROVEN: there is no such folder; nothing more can be proven." in result.stdout
    assert f"mkdir -p {tmp_path / 'nowhere'}" in result.stdout
    assert "tried in  nothing was written" in result.stdout


def test_storage_of_an_unknown_kind_is_status_3(run: Run) -> None:
    result = run("doctor", "nonsense://x")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "storage of an unknown kind" in result.stderr


def test_an_archive_can_only_be_read(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.writestr("safepoint.json", "{}")
    result = run("doctor", f"zip://::{tmp_path / 's.zip'}")
    assert result.exit_code == 1
    assert "NOT ENFORCEABLE HERE: no way is known to claim a name" in result.stdout
    assert "SP725" in result.stdout
    assert "safepoint.json: 2 bytes" in result.stdout
    assert "not reached  an object can be written; also for an empty object" in result.stdout


def test_a_file_system_without_hard_links_is_refused(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    result = run("doctor", store)
    assert result.exit_code == 1
    assert "NOT ENFORCEABLE HERE: this file system has no hard links" in result.stdout
    assert "Safepoint does not write there." in result.stdout
    assert list(store.iterdir()) == []


def test_a_server_that_ignores_conditions_is_not_enforceable(run: Run) -> None:
    spot = gcp_storage_emulator().spot("fsspec")
    result = run("doctor", spot.url, *options(spot.options), *QUICK)
    assert result.exit_code == 1
    assert (
        "NOT ENFORCEABLE HERE: the condition (ifGenerationMatch=0) is accepted, and not kept."
        in result.stdout
    )
    assert "Two workers can both be told that they own one run." in result.stdout
    assert "storage   gs, through gcsfs " in result.stdout


def test_credentials_that_only_read_are_status_3_and_appear_nowhere(run: Run) -> None:
    spot = seaweedfs().spot("fsspec", key=READER[0], secret=READER[1])
    result = run("doctor", spot.url, *options(spot.options))
    assert result.exit_code == 3
    assert "writing is refused by these credentials" in result.stdout
    assert "with the credentials of a worker" in result.stdout
    assert "left behind" not in result.output
    assert READER[1] not in result.output


def test_what_could_not_be_removed_is_named(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = tuple(f"{store}/.tmp-doctor-x/{number}.json" for number in range(3))
    monkeypatch.setattr(Trial, "tidy", lambda _: places)
    result = run("doctor", store, *QUICK)
    assert "but not all of it could be removed" in result.stdout
    assert "left behind  3 objects below" in result.stdout


@pytest.mark.parametrize("number", ["0", "1", "x"])
def test_a_race_needs_two(run: Run, store: Path, number: str) -> None:
    result = run("doctor", store, "--writers", number)
    assert result.exit_code == 2
    assert "expected a whole number of at least 2" in result.stderr


def test_an_interrupted_trial_is_tidied_up(store: Path) -> None:
    command = [sys.executable, "-m", "safepoint", "doctor", str(store), "--rounds", "100000"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        until = time.monotonic() + 60
        while not list(store.glob(".tmp-doctor-*/runs/*/journal/0000000003.json")):
            assert time.monotonic() < until
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to the writers as well
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, b"", b"interrupted")
    assert list(store.iterdir()) == []
