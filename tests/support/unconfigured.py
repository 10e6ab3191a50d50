"""A process in which nobody has configured any object storage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

OURS = ("AWS_", "AZURE_", "GOOGLE_", "GCSFS_", "STORAGE_EMULATOR", "REQUESTS_CA")


def forget(monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """Takes every setting out of the environment, of fsspec and of the home; the latter is returned."""
    for name in os.environ:
        if name.startswith(OURS) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # or botocore asks the machine who it is
    monkeypatch.setattr("fsspec.config.conf", {})
    return home
