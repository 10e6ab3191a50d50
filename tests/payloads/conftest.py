"""A project of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from payload_steps import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
