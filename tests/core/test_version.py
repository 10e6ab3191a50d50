"""Versions are compared as integers, and a malformed one is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.version import V2, V3, Version


@given(st.integers(0, 999_999), st.integers(0, 999_999))
def test_a_version_comes_back_from_its_text(major: int, minor: int) -> None:
    version = Version(major, minor)
    assert Version.parse(str(version)) == version


def test_versions_are_ordered_as_numbers_and_not_as_text() -> None:
    assert Version.parse("v3.0") == V3
    assert V2 < V3 < Version(3, 9) < Version(3, 10) < Version(10)


@pytest.mark.parametrize(
    "text", ["", "3", "v", "V3", "v3.", "v3.1.2", "v03", "v3.01", "v-3", "v3\n", "v\u0663", "v1234567"]
)
def test_a_malformed_version_is_none(text: str) -> None:
    assert Version.parse(text) is None
