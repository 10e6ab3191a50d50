"""Credentials and endpoints are found where docs/backends.md says, without a word on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import Place, place_at
from servers import ADMIN, az_options

FOREIGN = ("AWS_", "AZURE_", "FSSPEC_", "GOOGLE_", "STORAGE_EMULATOR_")
PAIR = {"AWS_ACCESS_KEY_ID": ADMIN[0], "AWS_SECRET_ACCESS_KEY": ADMIN[1], "AWS_DEFAULT_REGION": "us-east-1"}
DRIVERS = ("fsspec", "obstore")


def listed(place: Place, environment: dict[str, str], *options: str) -> list[str]:
    """The runs that the command finds in `place`, with nothing of our own environment for any storage."""
    place.foreign.put("runs/run-7/journal/0000000001.json", b"{}")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    command = [sys.executable, "-m", "safepoint", "runs", place.url, "--format", "json", *options]
    done = subprocess.run(
        command,
        env={**kept, "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [run["runId"] for run in json.loads(done.stdout)["runs"]]


@pytest.mark.parametrize("driver", DRIVERS)
def test_s3_is_configured_by_the_environment(driver: str) -> None:
    place = place_at(f"seaweedfs-{driver}")
    assert place.server
    environment = {**PAIR, "AWS_ENDPOINT_URL": place.server.address}
    assert listed(place, environment, "--storage-option", f"driver={driver}") == ["run-7"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_s3_is_configured_by_a_profile(driver: str, tmp_path: Path) -> None:
    place = place_at(f"seaweedfs-{driver}")
    assert place.server
    (tmp_path / "config").write_text(
        f"[profile audit]\nregion = us-east-1\nendpoint_url = {place.server.address}\n"
    )
    (tmp_path / "credentials").write_text(
        f"[audit]\naws_access_key_id = {ADMIN[0]}\naws_secret_access_key = {ADMIN[1]}\n"
    )
    environment = {
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }
    assert listed(place, environment, "--storage-option", "profile=audit") == ["run-7"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_any_backend_is_configured_by_the_files_of_fsspec(driver: str, tmp_path: Path) -> None:
    place = place_at(f"seaweedfs-{driver}")
    assert place.server
    settings = {"endpoint_url": place.server.address, "key": ADMIN[0], "secret": ADMIN[1]}
    (tmp_path / "conf.json").write_text(json.dumps({"s3": settings}))
    options = ("--storage-option", f"driver={driver}")
    assert listed(place, {"FSSPEC_CONFIG_DIR": str(tmp_path)}, *options) == ["run-7"]


def test_gcs_is_configured_by_the_environment() -> None:
    place = place_at("fake-gcs-server-fsspec")
    assert place.server
    environment = {"FSSPEC_GS_TOKEN": "anon", "STORAGE_EMULATOR_HOST": place.server.address}
    assert listed(place, environment) == ["run-7"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_azure_is_configured_by_the_environment(driver: str) -> None:
    place = place_at(f"azurite-{driver}")
    assert place.server
    text = az_options(place.server.address)["connection_string"]
    options = ("--storage-option", f"driver={driver}")
    assert listed(place, {"AZURE_STORAGE_CONNECTION_STRING": text}, *options) == ["run-7"]
