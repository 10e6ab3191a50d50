"""Both schema engines judge alike, each schema is complete in itself, and it is found wherever Safepoint runs."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import safepoint
from safepoint import schemas
from safepoint.core.kind import Identity, recognise
from safepoint.core.strictjson import parse
from safepoint.core.version import V1, V2, V3, Version
from safepoint.schemas import engines as judges
from safepoint.schemas import files
from safepoint.schemas.special import WORDS

ROOT = Path(__file__).parents[1]
DIGEST = "sha256:" + "0" * 64
NONCE = "0123456789abcdef0123456789abcdef"
REQUEST = {"recordType": "request", "schemaVersion": "v3", "goal": "continue"}
IDENTITIES = [Identity(kind, version) for version in (V1, V2, V3) for kind in schemas.kinds(version)]


def conforming() -> Iterator[tuple[Identity, Any]]:
    """Every record and document of the suite's good cases, and of one that only a repaired copy can hold."""
    folders = ("good", "warn/sp011-set-aside")
    for path in sorted(path for name in folders for path in (ROOT / "fixtures" / name).rglob("*.json*")):
        texts = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        for text in texts if path.suffix != ".aside" and path.name != "expect.json" else ():
            value = json.loads(text)
            identity, _ = recognise(value)
            if identity:
                yield identity, value


GOOD = list(conforming())


def test_the_good_cases_hold_every_kind_of_every_version() -> None:
    found = {(identity.kind, identity.version.major) for identity, _ in GOOD}
    assert {(identity.kind, identity.version.major) for identity in IDENTITIES} <= found


@pytest.mark.parametrize(("identity", "value"), GOOD)
def test_a_good_record_is_good_for_both_engines(identity: Identity, value: Any) -> None:
    assert list(schemas.check(identity, value)) == []
    assert list(schemas.check(identity, value, engine="jsonschema")) == []


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members and elements of `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in inner:
        yield (*path, step)
        yield from places(member, (*path, step))


ODD = st.sampled_from(
    [
        *(
            None,
            True,
            False,
            0,
            1,
            -1,
            1.0,
            1.5,
            2**53,
            "",
            "x",
            "A b",
            "a\n",
            "\x7f",
            "é" * 257,
            [],
            [None],
            {},
        ),
        *("v3", "2026-02-29T10:00:00Z", "2024-02-29T10:00:00.5Z", "2026-05-07T10:00:00+02:00", DIGEST, NONCE),
        *({"x-y": 1}, {"X": 1}, ["a", "a"], "C:\\x", "started", "committed", "human"),
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[Identity, Any]:
    identity, value = draw(st.sampled_from(GOOD))
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(sorted(places(value), key=repr)))
        holder = value
        for step in above:
            holder = holder[step]
        match draw(st.sampled_from(["drop", "change", "rename"])):
            case "drop" if isinstance(holder, dict) and len(value) > 1:
                del holder[last]
            case "rename" if isinstance(holder, dict):
                ending = draw(st.sampled_from(["x", "\n", ""]))
                holder[f"{last}{ending}"] = holder.pop(last)
            case _:
                holder[last] = copy.deepcopy(draw(ODD))
    return identity, value


@cache
def names(identity: Identity) -> tuple[list[str], dict[str, list[Any]]]:
    """The members that a kind has or once had in another version, and for every member what good records say there."""
    known = list(schemas.schema(identity.kind, identity.version)["properties"])
    said: dict[str, list[Any]] = {}
    for other, value in GOOD:
        known += [name for name in value if other.kind == identity.kind]
        for name, item in value.items():
            said.setdefault(name, []).append(item)
    return sorted(set(known)), said


@st.composite
def generated(draw: st.DrawFn) -> tuple[Identity, Any]:
    """A record that nobody wrote: any of its kind's members, with what any record may say there, or with anything."""
    identity = draw(st.sampled_from(IDENTITIES))
    known, said = names(identity)
    odd = draw(st.sets(st.sampled_from(known), max_size=2))
    value: dict[str, Any] = {}
    for name in draw(st.sets(st.sampled_from(known), min_size=len(known) // 2)):
        pool = st.sampled_from(said[name]) if name in said and name not in odd else ODD
        value[name] = copy.deepcopy(draw(pool))
    return identity, value


def thorough(examples: int) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    seeded = "CI" in os.environ
    return settings(max_examples=examples, deadline=None, derandomize=seeded, suppress_health_check=slow)


@thorough(2000)
@given(mutated())
def test_both_engines_say_the_same_of_any_change(case: tuple[Identity, Any]) -> None:
    engines_agree(*case)


@thorough(700)
@given(generated())
def test_both_engines_say_the_same_of_any_record(case: tuple[Identity, Any]) -> None:
    engines_agree(*case)


def test_both_engines_say_the_same_of_every_fixture() -> None:
    texts = [
        text
        for path in sorted((ROOT / "fixtures").rglob("*.json*"))
        for text in (path.read_bytes().split(b"\n") if path.suffix == ".jsonl" else [path.read_bytes()])
    ]
    recognised = 0
    for text in texts:
        value, faults = parse(text)
        identity = None if faults else recognise(value)[0]
        if identity:
            engines_agree(identity, value)
            recognised += 1
    assert recognised > 500


@pytest.mark.parametrize("folder", ["good", "near", "warn", "bad", "hostile", "guard"])
def test_a_whole_validation_says_the_same_with_either_engine(folder: str) -> None:
    inputs = [
        str(path)
        for case in sorted((ROOT / "fixtures" / folder).iterdir())
        for path in sorted(case.iterdir())
        if path.name != "expect.json"
    ]
    assert inputs
    fast = list(safepoint.validate(*inputs))
    assert list(safepoint.validate(*inputs, engine="jsonschema")) == fast


@thorough(1200)
@given(mutated(), st.integers(2, 9))
def test_what_the_rewritten_schemas_pass_is_sound(case: tuple[Identity, Any], sequence: int) -> None:
    identity, value = case
    word = value.get(WORDS.get(identity.kind, ""))
    assume(identity.version == V3 and "sequence" in value and isinstance(word, str | None))
    # what the rewritten schemas take for granted
    value |= {
        "recordType": identity.kind,
        "schemaVersion": "v3",
        "runId": "run-1",
        "sequence": sequence,
        "previousDigest": DIGEST,
    }
    if schemas.all_valid(identity.kind, word, [value]):
        faults = schemas.check(identity, value, engine="jsonschema")
        assert [fault for fault in faults if fault.code != "SP509"] == []


def engines_agree(identity: Identity, value: Any) -> None:
    judge = judges.fast_judge(identity.kind, identity.version.major)
    assert judge
    fast = judge(value)
    assert fast == judges.reference_judge(identity.kind, identity.version.major).is_valid(value)
    found = list(schemas.check(identity, value))
    assert found == list(schemas.check(identity, value, engine="jsonschema"))
    # what no schema can say is found besides, whatever the engine
    assert bool([fault for fault in found if fault.code not in {"SP220", "SP509"}]) == (not fast)
    assert len(found) == len(set(found))


def test_a_payload_may_be_deeper_than_an_engine_likes() -> None:
    deep: Any = None
    for _ in range(300):
        deep = [deep]
    assert list(schemas.check(Identity("request", V3), {**REQUEST, "x-deep": deep})) == []


def test_the_verdict_is_the_same_without_the_fast_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    judges.fast_judge.cache_clear()
    try:
        assert judges.fast_judge("request", 3) is None
        assert list(schemas.check(Identity("request", V3), REQUEST)) == []
        assert [f.code for f in schemas.check(Identity("request", V3), {**REQUEST, "goal": "go"})] == [
            "SP209"
        ]
    finally:
        judges.fast_judge.cache_clear()


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda i: f"{i.version} {i.kind}")
def test_a_schema_is_complete_in_itself(identity: Identity) -> None:
    alone = json.loads(json.dumps(schemas.schema(identity.kind, identity.version)))
    jsonschema.Draft202012Validator.check_schema(alone)
    assert alone["$id"] == f"urn:safepoint:{identity.version}:{identity.kind}"
    known = {alone["$id"], *alone["$defs"]}
    assert {ref.partition("#")[0] for ref in files.references(alone)} <= known | {""}
    slow, fast = jsonschema.Draft202012Validator(alone), jsonschema_rs.Draft202012Validator(alone)
    values = [
        value
        for known_as, value in GOOD
        if (known_as.kind, known_as.version.major) == (identity.kind, identity.version.major)
    ]
    assert values
    assert all(slow.is_valid(value) and fast.is_valid(value) for value in values)
    assert not slow.is_valid([])
    assert not fast.is_valid([])


@pytest.mark.parametrize("version", [V1, V2, V3], ids=str)
def test_the_schema_of_any_record_judges_as_that_of_its_kind(version: Version) -> None:
    alone = schemas.schema("record", version)
    slow, fast = jsonschema.Draft202012Validator(alone), jsonschema_rs.Draft202012Validator(alone)
    for identity, value in GOOD:
        if identity.version.major == version.major:
            broken = {**value, "runId": 5, "layout": 5, "generatedAt": 5, "goal": 5, "attemptsInLife": "5"}
            assert slow.is_valid(value)
            assert fast.is_valid(value)
            assert not slow.is_valid(broken)
            assert not fast.is_valid(broken)


def test_a_schema_is_the_callers_own() -> None:
    schemas.schema("checkpoint", V3)["properties"].clear()
    assert schemas.schema("checkpoint", V3)["properties"]


def test_a_kind_that_a_version_lacks_has_no_schema() -> None:
    with pytest.raises(KeyError, match="v2 has no kind 'lease'"):
        schemas.schema("lease", V2)
    assert schemas.kinds(Version(4)) == ()


def run(code: str, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    return done.stdout.strip()


PROBE = """
import sys
from safepoint import schemas
from safepoint.schemas import files
from safepoint.core.kind import Identity
from safepoint.core.version import V3
def engines():
    return [name for name in ("jsonschema", "jsonschema_rs", "importlib.resources") if name in sys.modules]
before = engines()
value = {"recordType": "store", "schemaVersion": "v3", "layout": 1}
assert not list(schemas.check(Identity("store", V3), value))
good = engines()
assert list(schemas.check(Identity("store", V3), {**value, "layout": 2}))
print(before, good, engines()[:2], files.folder())
"""


def test_an_engine_is_imported_when_it_is_needed_and_not_before() -> None:
    assert run(PROBE).startswith("[] ['jsonschema_rs'] ['jsonschema', 'jsonschema_rs'] ")


def test_in_a_checkout_the_schemas_lie_at_its_top() -> None:
    assert Path(files.folder()) == ROOT / "schema"


def test_a_wheel_holds_the_same_schemas_and_finds_them(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {
            name: archive.read(name) for name in archive.namelist() if name.startswith("safepoint/schema/")
        }
        archive.extractall(tmp_path / "site")
    assert packed == {
        f"safepoint/{path.relative_to(ROOT).as_posix()}": path.read_bytes()
        for path in (ROOT / "schema").rglob("*.json")
    }
    folder = re.search(r"\S+$", run(PROBE, PYTHONPATH=str(tmp_path / "site")))
    assert folder
    assert Path(folder[0]) == tmp_path / "site" / "safepoint" / "schema"
