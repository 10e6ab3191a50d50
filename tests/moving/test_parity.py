"""The guard answers a copy as it answered the original, or says why it does not: on every stored case of the guard.

A copy in the same version differs in one thing: it has no authority until its original is sealed (SP726), or says that
it goes on by its owner's death alone. What goes down loses what the lower version cannot say, so that there the answer
may only become stricter.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.timestamp import parse_time
from safepoint.core.version import V1, V2, V3, Version
from safepoint.guard import Decision
from safepoint.migrate import Migrator
from safepoint.moving.migration import Report, migrate_store
from safepoint.payloads import PayloadSchemas
from safepoint.payloads.migrations import PayloadMigrations, PayloadStep
from safepoint.store import open_store

FIXTURES = Path(__file__).parents[2] / "fixtures" / "guard"
NAMES = sorted(path.name for path in FIXTURES.iterdir())

NOTHING_TO_COPY = {"SP330", "SP331", "SP614"}
"""Why a store whose run is a part of a copy itself is refused, also by a migration that is to keep going."""

NOT_WRITABLE = {"SP216", "SP217"}
"""Why nothing is written in the name of a store whose own description asks for more than is known here."""

GONE_BELOW = frozenset({"no-checkpoint-yet"})
"""Cases whose run has no record of a kind that v1 or v2 knows: of them nothing is left to judge."""


@dataclass(frozen=True, slots=True)
class Case:
    """A stored case of the guard: a store, and the question about its run."""

    folder: Path
    expect: Mapping[str, Any]

    @classmethod
    def load(cls, name: str) -> Case:
        return cls(FIXTURES / name, json.loads((FIXTURES / name / "expect.json").read_bytes()))

    @property
    def store(self) -> Path:
        return self.folder / str(self.expect["store"])

    @property
    def facts(self) -> Mapping[str, Any]:
        given = self.expect.get("facts")
        return {} if given is None else json.loads((self.folder / given).read_bytes())

    def judge(self, store: Path) -> Decision:
        """The same question about another store; where nobody can claim in it, it is an archive."""
        url, options = str(store), {}
        if "claims" in self.expect:
            archive = shutil.make_archive(f"{store}-archive", "zip", store)
            url = f"zip://::{archive}"
            options = {"assume_one_writer": True} if self.expect["claims"] == "assumed" else {}
        named = ("facts", "policy", "request", "anchor")
        documents = {name: str(self.folder / self.expect[name]) for name in named if name in self.expect}
        run, now = self.expect["run"], self.expect["now"]
        return safepoint.guard(url, run, now=now, storage_options=options, **documents)

    def copied(self, source: Path, target: Path, migrator: Migrator, **asked: Any) -> Report:
        """A migration at the very moment of the question."""
        now = parse_time(self.expect["now"])
        return migrate_store(
            open_store(str(source)), open_store(str(target)), migrator, clock=lambda: now, **asked
        )


def codes(decision: Decision) -> list[str]:
    return [reason.code for reason in decision.reasons]


def compare(before: Decision, copy: Decision) -> None:
    """Nothing is told apart from the digests that the answer rests on; or the copy has no authority, and says so."""
    if codes(copy) == codes(before):
        # a copy of a copy names another original
        assert answer(copy) == answer(before) or "SP726" in codes(before)
        assert (copy.verdict, copy.document()["plan"]) == (before.verdict, before.document()["plan"])
    else:
        assert copy.verdict != "resume"
        assert set(codes(copy)) - set(codes(before)) == {"SP726"}
        assert set(codes(before)) - set(codes(copy)) <= {"SP799"}


def answer(decision: Decision) -> dict[str, Any]:
    """The decision without the digests that it rests on, and without what a copy says of its original."""
    document = decision.document()
    basis = document.pop("basis")
    document["notChecked"] = [text for text in document["notChecked"] if not text.startswith("original: ")]
    return {**document, "leaseEpoch": basis["leaseEpoch"], "policy": basis["policyDigest"]}


def found(store: Path) -> Counter[str]:
    return Counter(finding.code for finding in safepoint.validate(store))


def is_refused(report: Report, target: Path) -> bool:
    """Whether nothing was copied, for one of the few reasons that let a case have no copy."""
    if report.outcome == "done":
        return False
    assert report.outcome == "refused"
    unreadable = [f for f in report.tally.faults if f.place and f.place.key.endswith("/origin.json")]
    assert report.tally.codes.keys() & (NOTHING_TO_COPY | NOT_WRITABLE) or unreadable
    assert not target.exists()
    return True


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_answered_as_its_original_once_that_is_sealed(name: str, tmp_path: Path) -> None:
    case = Case.load(name)
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(case.store, source)
    before, faults = case.judge(source), found(source)
    migrator = Migrator(V3, keep_going=True)
    report = case.copied(source, target, migrator)
    if is_refused(report, target):
        return
    assert found(target) == faults
    copy = case.judge(target)
    compare(before, copy)
    asked = case.copied(source, target, migrator, sealed_by="ops")
    outcomes = [seal.outcome for seal in asked.seals if seal.run_id == case.expect["run"]]
    if outcomes == ["sealed"]:
        assert case.judge(source).verdict != "resume"
        assert case.judge(target).document() == before.document()
    else:
        assert case.judge(source).document() == before.document()
        assert case.judge(target).document() == copy.document()
    assert found(target) == faults


@pytest.mark.parametrize("low", [V1, V2], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_going_down_and_up_again_never_makes_the_answer_laxer(
    name: str, low: Version, tmp_path: Path
) -> None:
    case = Case.load(name)
    below, above = tmp_path / "below", tmp_path / "above"
    source = tmp_path / "source"
    shutil.copytree(case.store, source)
    before = case.judge(source)
    report = case.copied(source, below, Migrator(low, allow_loss=True, keep_going=True))
    if is_refused(report, below):
        return
    if name in GONE_BELOW:
        assert not (below / "runs" / str(case.expect["run"])).exists()
        return
    lowered = case.judge(below)
    assert case.copied(below, above, Migrator(V3, allow_loss=True, keep_going=True)).outcome == "done"
    raised = case.judge(above)
    assert "resume" not in {lowered.verdict, raised.verdict} - {before.verdict}
    assert raised.verdict == lowered.verdict


# with other payloads


def is_of_other_bytes(case: Case) -> bool:
    """Whether the case rests on the very bytes of its records, which get a payload here."""
    beside = {path.name for path in case.store.rglob("*.json")}
    return (
        "anchor" in case.expect
        or bool(beside & {"origin.json", "seal.json"})
        or not case.facts.keys().isdisjoint({"heads", "knownPayloadSchemas"})
    )


class Rewriting:
    """Gives every checkpoint of v3 a payload, and links the records behind anew."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.changed = 0

    def text(self, data: bytes) -> bytes:
        try:
            value = json.loads(data)
        except ValueError:
            return data
        if not isinstance(value, dict) or value.get("schemaVersion") != "v3":
            return data
        if value.get("recordType") == "checkpoint":
            self.changed += 1
            value |= {"payloadSchema": "agent/state@1", "stateSnapshot": {"n": self.changed}}
        if value.get("previousDigest") in self.digests:
            value["previousDigest"] = self.digests[value["previousDigest"]]
        rewritten = encode_record(value)
        if value != json.loads(data):
            self.digests[digest_stored(data)] = digest_stored(rewritten)
            return rewritten
        return data

    def store(self, folder: Path) -> None:
        for path in in_order(folder.rglob("journal/*.json")):
            path.write_bytes(self.text(path.read_bytes()))
        for path in sorted(folder.rglob("*.jsonl")):
            lines = path.read_bytes().split(b"\n")
            path.write_bytes(b"\n".join(self.text(line) if line else line for line in lines))


def in_order(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (path.parent, int(path.stem)))


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> PayloadMigrations:
    """One step, which calls ``n`` by another name."""
    folder = tmp_path_factory.mktemp("steps")
    names = {"agent/state@1": "n", "agent/state@2": "count"}
    for member in names.values():
        schema = {
            "type": "object",
            "properties": {"stateSnapshot": {"required": [member], "additionalProperties": False}},
        }
        schema["properties"]["stateSnapshot"]["properties"] = {member: {"type": "integer"}}  # type: ignore[index]
        (folder / f"{member}.json").write_text(json.dumps(schema))
    (folder / "step.json").write_text('[{"op": "move", "from": "/n", "path": "/count"}]')
    schemas = PayloadSchemas.load({name: str(folder / f"{member}.json") for name, member in names.items()})
    step = PayloadStep("agent/state@1", "agent/state@2", patch=str(folder / "step.json"))
    return PayloadMigrations.load([step], schemas)


@pytest.mark.parametrize("name", [name for name in NAMES if not is_of_other_bytes(Case.load(name))])
def test_other_payloads_change_nothing_but_the_digests_of_the_answer(
    name: str, steps: PayloadMigrations, tmp_path: Path
) -> None:
    case = Case.load(name)
    source, target = tmp_path / "source", tmp_path / "target"
    untouched = shutil.copytree(case.store, tmp_path / "untouched")
    shutil.copytree(untouched, source)
    rewriting = Rewriting()
    rewriting.store(source)
    before, faults = case.judge(source), found(source)
    assert before.verdict == case.judge(untouched).verdict
    migrator = Migrator(payloads=steps.toward(["agent/state@2"]), keep_going=True)
    report = case.copied(source, target, migrator, sealed_by="ops")
    if is_refused(report, target):
        return
    fates = report.tally.fates
    assert fates["migrated"] + fates["asIs"] >= min(1, rewriting.changed)
    assert found(target) == faults
    compare(before, case.judge(target))
