"""The conformance cases of RFC 8785 in ``fixtures/canonical``, which any language can run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from safepoint.core.digest import canonical, digest_bytes, digest_value
from safepoint.core.strictjson import parse

CASES = sorted(
    path.parent for path in (Path(__file__).parents[2] / "fixtures/canonical").rglob("expect.json")
)


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 11


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_value_has_exactly_its_canonical_bytes_and_digest(case: Path) -> None:
    expected = json.loads((case / "expect.json").read_bytes())
    wanted = (case / expected["output"]).read_bytes()
    value, faults = parse((case / "input.json").read_bytes())
    assert faults == ()
    assert canonical(value) == wanted
    assert digest_value(value) == digest_bytes(wanted) == expected["digest"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_canonical_form_is_its_own_canonical_form(case: Path) -> None:
    wanted = (case / "canonical.json").read_bytes()
    # the standard parser: canonical form writes floats from 2^53 on like integers, which stored JSON may not
    value = json.loads(wanted, parse_int=lambda digits: float(digits) if len(digits) > 15 else int(digits))
    assert canonical(value) == wanted
