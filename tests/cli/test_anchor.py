"""``safepoint anchor``, and ``--anchor`` of the commands that compare with what it wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from recorded import record_run

import safepoint
from safepoint.core.digest import digest_stored

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a store in it."""
    monkeypatch.chdir(tmp_path)
    record_run("store", "run-1")
    record_run("store", "run-2", 1, ends=False)
    return tmp_path


def test_an_anchor_is_told_by_its_digest_and_its_place(run: Run, here: Path) -> None:
    result = run("anchor", "store", "--output", "place", "--now", "2026-05-07T11:00:00Z")
    written = here / "place/anchors/0000000001.json"
    assert result.exit_code == 0
    assert result.stdout == f"{digest_stored(written.read_bytes())}  place/anchors/0000000001.json\n"
    assert result.stderr == "place: anchor 1 of 2 runs, 14 records: something new of 2 runs\n"
    assert json.loads(written.read_bytes())["createdAt"] == "2026-05-07T11:00:00Z"
    again = run("anchor", "store", "--output", "place")
    assert (again.exit_code, again.stdout) == (0, "")
    assert again.stderr == (
        "place: nothing is new since anchor 1: 2 runs, 14 records\n"
        "only the heads of the logs were compared with it; to have every record checked: "
        "safepoint validate store --anchor place\n"
    )


def test_a_report_as_json_has_the_digest_of_the_newest_anchor_also_where_nothing_is_new(
    run: Run, here: Path
) -> None:
    first = json.loads(run("anchor", "store", "--output", "place", "--format", "json").stdout)
    digest = digest_stored((here / "place/anchors/0000000001.json").read_bytes())
    assert first == {
        "written": [{"sequence": 1, "digest": digest, "url": "place/anchors/0000000001.json"}],
        "findings": [],
        "summary": {
            "refused": False,
            "anchor": {"sequence": 1, "digest": digest},
            "runs": 2,
            "records": 14,
            "changed": 2,
            "damaged": 0,
        },
    }
    again = json.loads(run("anchor", "store", "--output", "place", "--format", "json").stdout)
    assert again["written"] == []
    assert again["summary"]["anchor"] == {"sequence": 1, "digest": digest}


def test_a_store_that_contradicts_its_anchor_is_refused_until_somebody_answers_for_it(
    run: Run, here: Path
) -> None:
    run("anchor", "store", "--output", "place")
    shutil.rmtree(here / "store/runs/run-1")
    refused = run("anchor", "store", "--output", "place")
    assert refused.exit_code == 1
    assert refused.stdout.startswith(
        "store/runs/run-1/:1:1: SP327 anchored-run-missing: anchor 1 has seen run 'run-1'"
    )
    assert refused.stderr == "place: refused, nothing was written: 1 finding against anchor 1\n"
    report = json.loads(run("anchor", "store", "--output", "place", "--format", "json").stdout)
    assert report["summary"]["refused"]
    assert [finding["code"] for finding in report["findings"]] == ["SP327"]
    accepted = run(
        "anchor", "store", "--output", "place", "--accept", "lost with its disk", "--by", "m.moreau"
    )
    assert accepted.exit_code == 0
    assert "1 contradiction accepted" in accepted.stderr
    assert run("validate", "store", "--anchor", "place").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["store"], "Missing option '--output'"),
        (["store", "--output", "store/anchors"], "lies in the other"),
        (["store", "--output", "."], "lies in the other"),
        (["store", "--output", "place/anchor.json"], "name a folder"),
        (["store", "--output", "place", "--accept", "why"], "go together"),
        (["store", "--output", "place", "--by", "me"], "go together"),
        (["store", "--output", "place", "--accept", " ", "--by", "me"], "neither is empty"),
        (["store", "--output", "place", "--accept", "why", "--by", "a\nb"], "without control characters"),
        (["store", "--output", "place", "--accept", "why", "--by", "me"], "leave out --accept"),
        (["store", "--output", "place", "--output-storage-option", "x"], "--output-storage-option: expected"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(run: Run, here: Path, arguments: list[str], words: str) -> None:
    result = run("anchor", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert not (here / "place").exists()


def test_what_cannot_be_read_is_no_anchor(run: Run, here: Path) -> None:
    assert run("anchor", "nowhere", "--output", "place").exit_code == 3
    (here / "empty").mkdir()
    assert "no run was found" in run("anchor", "empty", "--output", "place").stderr
    shutil.copytree("store", "several/one")
    shutil.copytree("store", "several/two")
    result = run("anchor", "several", "--output", "place")
    assert result.exit_code == 3
    assert "safepoint anchor several/one --output place" in result.stderr
    assert not (here / "place").exists()


def test_validate_says_which_anchor_it_compared_with(run: Run, here: Path) -> None:
    run("anchor", "store", "--output", "place", "--now", "2026-05-07T11:00:00Z")
    record_run("store", "run-3")
    result = run("validate", "store", "--anchor", "place")
    assert result.exit_code == 0
    line = "place: compared with anchor 1 of 2026-05-07T11:00:00Z; runs known to it: 2, checked: 3"
    assert line in result.stderr.splitlines()
    assert line not in run("validate", "store", "--anchor", "place", "--quiet").stderr
    max((here / "store/runs/run-2/journal").iterdir()).unlink()
    for options in ([], ["--jobs", "2"], ["--run", "run-2"], ["--anchor", "place/anchors/0000000001.json"]):
        cut = run("validate", "store", "--anchor", "place", *options)
        assert cut.exit_code == 1
        assert "store/runs/run-2/journal/0000000004.json:1:1: SP325 anchored-head-missing" in cut.stdout


def test_a_report_is_never_written_over_an_anchor(run: Run, here: Path) -> None:
    run("anchor", "store", "--output", "place")
    before = (here / "place/anchors/0000000001.json").read_bytes()
    result = run("validate", "store", "--anchor", "place", "--output", "place/anchors/0000000001.json")
    assert result.exit_code == 2
    assert (here / "place/anchors/0000000001.json").read_bytes() == before


@pytest.mark.parametrize("names", [["store", "other"], ["-"], ["store", "-"]])
def test_an_anchor_is_of_one_store(run: Run, here: Path, names: list[str]) -> None:
    shutil.copytree(here / "store", here / "other")
    run("anchor", "store", "--output", "place")
    result = run("validate", *names, "--anchor", "place", stdin=b"")
    assert result.exit_code == 2
    assert "anchors are of one whole store" in result.stderr


@pytest.mark.parametrize("name", ["store/safepoint.json", "store/runs/run-1/journal/*", "stores"])
def test_files_and_folders_of_stores_are_never_compared(run: Run, here: Path, name: str) -> None:
    run("anchor", "store", "--output", "place")
    shutil.copytree(here / "store", here / "stores/one")
    shutil.copytree(here / "store", here / "stores/two")
    result = run("validate", name, "--anchor", "place", "--format", "json")
    assert result.exit_code == 3
    assert "SP001" in {finding["code"] for finding in json.loads(result.stdout)["findings"]}


def test_bytes_are_never_compared(run: Run, here: Path) -> None:
    run("anchor", "store", "--output", "place")
    validation = safepoint.validate(b"{}", anchor="place")
    assert {finding.code for finding in validation} == {"SP001"}
    assert not validation.evaluated


@pytest.mark.parametrize("command", [["validate", "store"], ["guard", "store", "--run", "run-2"]])
def test_anchors_in_their_store_prove_nothing(run: Run, here: Path, command: list[str]) -> None:
    run("anchor", "store", "--output", "place")
    shutil.copytree(here / "place", here / "store/place")
    result = run(*command, "--anchor", "store/place")
    assert result.exit_code == 2
    assert "prove nothing" in result.stderr


def test_a_guard_consults_the_anchor_and_names_it(run: Run, here: Path) -> None:
    run("anchor", "store", "--output", "place")
    digest = digest_stored((here / "place/anchors/0000000001.json").read_bytes())
    asked = ["guard", "store", "--run", "run-2", "--now", "2026-05-07T10:02:00Z"]
    decision = json.loads(run(*asked, "--anchor", "place", "--format", "json").stdout)
    assert decision["basis"]["anchorDigest"] == digest
    assert decision["verdict"] == json.loads(run(*asked, "--format", "json").stdout)["verdict"]
    max((here / "store/runs/run-2/journal").iterdir()).unlink()
    result = run(*asked, "--anchor", "place")
    assert result.exit_code == 13
    assert "SP708" in result.stdout


def test_a_guard_says_by_which_anchor_it_judged_and_that_it_knows_nothing_of_a_run(
    run: Run, here: Path
) -> None:
    run("anchor", "store", "--output", "place", "--now", "2026-05-07T11:00:00Z")
    record_run("store", "run-3", 1, ends=False)
    known = " ".join(run("guard", "store", "--run", "run-2", "--anchor", "place").stdout.split())
    assert ", and anchor 1 of 2026-05-07T11:00:00Z (sha256:" in known
    assert "not checked: anchor" not in known
    asked = ["guard", "store", "--run", "run-3", "--now", "2026-05-07T10:02:00Z", "--anchor", "place"]
    unknown = run(*asked)
    assert unknown.exit_code == 0
    assert "not checked: anchor: it knows nothing of this run; " in unknown.stdout


def test_a_changed_description_is_said_of_one_run_too(run: Run, here: Path) -> None:
    demanding = {"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": ["sharded"]}
    (here / "store/safepoint.json").write_text(json.dumps(demanding))
    run("anchor", "store", "--output", "place")
    (here / "store/safepoint.json").write_text(json.dumps({**demanding, "features": []}))
    one = ["store", "--run", "run-2", "--anchor", "place"]
    for options in ([], ["--anchor", "place/anchors/0000000001.json"]):
        checked = run("validate", *one, *options)
        assert checked.exit_code == 1
        assert "store/safepoint.json:1:1: SP329 store-document-changed" in checked.stdout
    judged = run("guard", *one, "--now", "2026-05-07T10:02:00Z")
    assert judged.exit_code == 13
    assert "SP329 integrity" in judged.stdout
    assert "say with --accept why" in judged.stdout
    (here / "store/safepoint.json").unlink()
    assert "SP329" in run("validate", *one).stdout
    assert run("guard", *one).exit_code == 13


def test_a_guard_judges_nothing_by_anchors_that_are_not_sound(run: Run, here: Path) -> None:
    run("anchor", "store", "--output", "place")
    (here / "place/anchors/0000000001.json").write_bytes(b"{")
    result = run("guard", "store", "--run", "run-2", "--anchor", "place")
    assert result.exit_code == 3
    assert "nothing was judged by them" in result.stderr
    assert run("guard", "store", "--run", "run-2", "--anchor", "nowhere").exit_code == 3
