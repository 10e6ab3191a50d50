"""Which findings count: codes, patterns of paths, and what a baseline knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from safepoint.core.finding import Finding
from safepoint.selection import (
    Baseline,
    BaselineError,
    CodesError,
    Known,
    PathIgnore,
    Scope,
    Selection,
    file_name,
    parse_codes,
    parse_ignored,
    parse_pattern,
)


def finding(code: str = "SP207", url: str = "a.json", pointer: str = "/createdAt", line: int = 1) -> Finding:
    return Finding(code, "error", url, url.rpartition("/")[2], pointer, line, 1, f"said at {line}")


def everything(known: Known) -> bool:
    return True


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["SP207"], {"SP207"}),
        (["sp207", "SP214"], {"SP207", "SP214"}),
        (["bad-time, Missing-Version"], {"SP207", "SP214"}),
        (["SP207,,", " "], {"SP207"}),
        ([""], set()),
    ],
)
def test_codes_are_written_as_codes_or_names(written: list[str], meant: set[str]) -> None:
    assert parse_codes(written) == meant


def test_the_beginning_of_a_code_means_all_that_begin_so() -> None:
    assert {"SP301", "SP313"} <= parse_codes(["SP3"])
    assert all(code.startswith("SP3") for code in parse_codes(["SP3"]))
    assert parse_codes(["SP30"]) < parse_codes(["SP3"]) < parse_codes(["SP"])


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("SP999", "codes begin with SP0 to SP8; safepoint explain lists all"),
        ("SP399", "safepoint explain SP3 lists those that begin so"),
        ("SP2O7", "did you mean SP207?"),
        ("SP9", "no beginning of codes"),
        ("bad-tme", "did you mean bad-time"),
        ("nonsense!", "safepoint explain lists all codes"),
        ("SP2077", "did you mean SP207"),
    ],
)
def test_what_means_no_code_is_named_with_what_may_have_been_meant(written: str, hint: str) -> None:
    with pytest.raises(CodesError, match="is no code") as caught:
        parse_codes(["SP207", written])
    assert repr(written) in str(caught.value)
    assert hint in str(caught.value)


def test_what_was_not_looked_at_cannot_be_ignored() -> None:
    with pytest.raises(CodesError, match="SP002 is never ignored"):
        parse_ignored(["SP3,sp002"])
    assert parse_ignored(["SP0"]).isdisjoint({"SP001", "SP002"})
    hidden = Selection(select=frozenset({"SP207"}), ignore=frozenset({"SP001", "SP002"}))
    assert hidden.admit(finding("SP001")) is None
    assert hidden.admit(finding("SP002")) is None


def test_without_a_choice_every_finding_counts() -> None:
    assert Selection().admit(finding()) is None


def test_ignored_codes_win_over_selected_ones() -> None:
    selection = Selection(select=frozenset({"SP207", "SP214"}), ignore=frozenset({"SP214"}))
    found = {code: selection.admit(finding(code)) for code in ("SP207", "SP214", "SP301")}
    assert found == {"SP207": None, "SP214": "ignored", "SP301": "unselected"}


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("legacy", ["legacy/a.json", "x/legacy/y/a.json", "legacy"], ["legacy2/a.json", "a.legacy"]),
        ("legacy/", ["legacy/a.json", "x/legacy/a.json"], ["legacy2/a.json"]),
        ("*.json", ["a.json", "x/y/a.json"], ["a.jsonl", "json"]),
        ("stores/old", ["stores/old/runs/r/a.json"], ["x/stores/old/a.json"]),
        ("./stores/*/a.json", ["stores/x/a.json"], ["stores/x/y/a.json", "stores/a.json"]),
        ("stores/**/a.json", ["stores/a.json", "stores/x/y/a.json"], ["stores/x/ba.json"]),
        ("stores/**", ["stores/a", "stores/x/y"], ["stores", "a/stores/x"]),
        ("**/old/*.json", ["old/a.json", "x/y/old/a.json"], ["old/x/a.json"]),
        ("run-[0-9]/a?.json", ["run-1/ab.json"], ["run-x/ab.json", "run-1/a/.json"]),
        ("run-[!0-9]", ["run-x/ab.json"], ["run-1/ab.json"]),
        ("a+b(c).json", ["a+b(c).json"], ["aab(c).json"]),
        ("[^a]x", ["bx", "^x"], ["ax"]),
        ("[a^]", ["^", "a"], ["b"]),
        ("s3://bucket/old", ["s3://bucket/old/runs/r/a.json"], ["s3://bucket/older/a.json"]),
    ],
)
def test_patterns_read_as_in_gitignore(pattern: str, matched: list[str], others: list[str]) -> None:
    compiled = parse_pattern(pattern)
    assert [name for name in matched if not compiled.fullmatch(name)] == []
    assert [name for name in others if compiled.fullmatch(name)] == []


def test_a_path_is_ignored_by_its_place_under_the_settings_or_by_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    entry = PathIgnore(parse_pattern("data/old"), frozenset({"SP207"}), "written by hand in 2024", "data/old")
    by_key = PathIgnore(
        parse_pattern("runs/r-1"), frozenset({"SP207"}), "the run is known to be broken", "runs/r-1"
    )
    selection = Selection(per_path=(entry, by_key), folder="project")
    inside = finding(url="project/data/old/a.json")
    assert selection.admit(inside) == "ignored"
    assert selection.admit(finding(url=str(tmp_path / "project/data/old/a.json"))) == "ignored"
    assert selection.admit(finding(url=(tmp_path / "project/data/old/a.json").as_uri())) == "ignored"
    assert selection.admit(finding("SP214", url="project/data/old/a.json")) is None
    assert selection.admit(finding(url="data/old/a.json")) is None
    remote = Finding("SP207", "error", "memory://b/s/runs/r-1/a.json", "runs/r-1/a.json", "", 1, 1, "m")
    assert selection.admit(remote) == "ignored"


def test_files_are_named_relative_to_who_speaks_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert file_name("x/a.json", ".") == "x/a.json"
    assert file_name(str(tmp_path / "x/a.json"), "x") == "a.json"
    assert file_name("a.json", "x") == "../a.json"
    assert file_name("s3://b/a.json", "x") == "s3://b/a.json"
    assert file_name("-", "x") == "-"
    assert file_name("", "x") == ""
    assert file_name("caf\udce9.json", ".") == "caf\\udce9.json"


def test_a_baseline_takes_each_finding_as_often_as_it_knows_it(tmp_path: Path) -> None:
    key = Known("a.json", "SP207", "/createdAt")
    baseline = Baseline(".", {key: 2})
    selection = Selection(baseline=baseline)
    found = [selection.admit(finding(line=line)) for line in (7, 8, 9)]
    assert found == ["baseline", "baseline", None]
    assert selection.admit(finding(pointer="/runId")) is None
    assert selection.admit(finding(url="b.json")) is None
    assert selection.admit(finding("SP001")) is None


def test_what_is_ignored_does_not_use_a_baseline_up() -> None:
    baseline = Baseline(".", {Known("a.json", "SP207", "/createdAt"): 1})
    assert Selection(ignore=frozenset({"SP207"}), baseline=baseline).admit(finding()) == "ignored"
    assert baseline.found.total() == 0


def test_a_baseline_is_written_and_read_back(tmp_path: Path) -> None:
    recording = Baseline(str(tmp_path))
    for url in (f"{tmp_path}/x/b.json", f"{tmp_path}/a.json", f"{tmp_path}/a.json"):
        assert recording.takes(finding(url=url))
    path = tmp_path / "known.json"
    path.write_bytes(recording.encode(everything, None))
    text = path.read_text()
    assert json.loads(text) == {
        "baseline": 1,
        "findings": [
            {"file": "a.json", "code": "SP207", "pointer": "/createdAt", "count": 2},
            {"file": "x/b.json", "code": "SP207", "pointer": "/createdAt", "count": 1},
        ],
    }
    assert len([line for line in text.splitlines() if '"file"' in line]) == 2, "a line each, for git"
    again = Baseline.load(str(path))
    assert again.known == recording.found
    assert again.stale(everything) == recording.found
    assert again.stale(lambda known: known.file == "a.json").total() == 2


def test_an_empty_baseline_is_one(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(Baseline(str(tmp_path)).encode(everything, None))
    assert Baseline.load(str(path)).known == {}


def test_writing_keeps_what_was_not_looked_for() -> None:
    before = Baseline(".", {Known("a.json", "SP207", ""): 1, Known("b.json", "SP207", ""): 3})
    now = Baseline(".")
    now.takes(finding(url="a.json", pointer="/x"))
    written = json.loads(now.encode(lambda known: known.file == "a.json", before))["findings"]
    assert [(entry["file"], entry["pointer"], entry["count"]) for entry in written] == [
        ("a.json", "/x", 1),
        ("b.json", "", 3),
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "no baseline: "),
        ("[]", "expected an object with a list of findings"),
        ('{"baseline": 1}', "expected an object with a list of findings"),
        ('{"baseline": 2, "findings": []}', "write it anew"),
        (
            '{"baseline": 1, "findings": [{"file": "a", "code": "SP207", "pointer": ""}]}',
            "finding 1 of the list",
        ),
        (
            '{"baseline": 1, "findings": [{"file": "a", "code": "SP207", "pointer": "", "count": true}]}',
            "finding 1",
        ),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(content)
    with pytest.raises(BaselineError) as caught:
        Baseline.load(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


def test_a_baseline_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"--write-baseline .* makes one"):
        Baseline.load(str(tmp_path / "absent.json"))
    with pytest.raises(BaselineError, match="directory"):
        Baseline.load(str(tmp_path))


def test_the_same_finding_listed_twice_counts_twice(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    entry = {"file": "a", "code": "SP207", "pointer": "", "count": 1}
    path.write_text(json.dumps({"baseline": 1, "findings": [entry, entry]}))
    assert Baseline.load(str(path)).known == {Known("a", "SP207", ""): 2}


def test_inputs_reach_what_lies_in_and_below_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s").mkdir()
    scope = Scope(["s", "one.json", "logs/**/*.json", "s3://b/x", "memory://b/*/a.json", "-"])
    reached = ["s/runs/r/a.json", "one.json", "logs/a.json", "logs/x/y/a.json", "s3://b/x/y", "-"]
    assert [name for name in reached if not scope.reaches(name, ".")] == []
    others = ["t/a.json", "one.jsonl", "logs/a.jsonl", "s3://b/xy", "s3://c/x"]
    assert [name for name in others if scope.reaches(name, ".")] == []
    assert scope.reaches("../s/a.json", "elsewhere")
    assert scope.reaches("memory://b/y/a.json", ".")
