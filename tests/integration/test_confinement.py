"""Names and ids that would lead out of a store: refused or encoded at every entry, and nothing outside is touched.

What links, pipes and names that change can do is in ``test_confinement_links.py``.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from canaries import CANARY, PLAN, REFERENCE, RUN, Outside, lay
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import safepoint as package
from safepoint.cli.completion import complete_runs
from safepoint.cli.main import safepoint
from safepoint.core.ident import encode_segment
from safepoint.recorder import (
    Declares,
    IllegalRecord,
    RecorderError,
    RunExists,
    grant_approval,
    request_approval,
    request_cancel,
    resume_run,
    start_run,
)
from safepoint.store import AbsentError, Entry, OutsideStoreError, StoreError, UnsupportedError, open_store
from safepoint.store.layout import artifact_key, heartbeat_key, journal_key, parse_key, recovery_key, run_ids

STEPS_UP = ["..", "../outside", "../../outside", "../outside/runs/run-1", "a/../../outside", "..\\outside"]
ABSOLUTE = ["/etc", "//host/share", "\\\\server\\share", "~root", "C:x", "C:\\x", "file:///etc/hostname"]
ENCODED = [
    "%2e%2e%2foutside",
    "=2E=2E=2Foutside",
    "%252e%252e%252foutside",
    "..%c0%afoutside",
    "&#46;&#46;/x",
]
LOOKALIKES = ["\uff0e\uff0e\uff0foutside", "..\u2215outside", "..\u2044outside", "a\u202eb", "\u2024\u2024/x"]
OF_SYSTEMS = [
    "CON",
    "NUL.txt",
    "aux",
    "COM1",
    "a:b",
    "x:$DATA",
    "x.",
    "x...",
    "x ",
    " x",
    ".hidden",
    ".tmp-x",
]
OF_SHELLS = ["-rf", "*", "[a]", "$(id)", "`id`", "a;b", "'", '"', "safepoint.json", "runs", "journal.jsonl"]
ODD_IDS = [*STEPS_UP, *ABSOLUTE, *ENCODED, *LOOKALIKES, *OF_SYSTEMS, *OF_SHELLS]

NO_IDS = ["", "\0", "a\0b", "a\nb", "a\x7fb", "\x1b[2J", "a" * 257, "a\ud800b"]
"""What no record may have as an id."""

TOO_LONG = ["a" * 256, "é" * 43, "é" * 256, "\U0001f600" * 256]
"""Ids whose segment has more than the 255 bytes that file systems hold."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    """Beside the working folder, and beside the store in it."""
    return Outside(tmp_path / "outside")


@pytest.fixture
def guarded(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    with outside.watched(monkeypatch):
        yield outside


def run(*arguments: str) -> Result:
    """A command, which ends with an answer and not with a traceback, and shows nothing of what lies outside."""
    result = CliRunner().invoke(safepoint, [*arguments], standalone_mode=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in {0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 20}, result.output
    assert CANARY not in result.output
    return result


def begin(store: Path, run_id: str) -> package.recorder.RecordedRun:
    return start_run(store, run_id, workflow="w", holder="h", ttl_seconds=60)


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("run_id", ODD_IDS, ids=ascii)
def test_an_odd_run_id_is_one_folder_in_the_store_or_no_run_at_all(here: Path, run_id: str) -> None:
    store = here / "store"
    if ".." in re.split(r"[/\\]", run_id):
        with pytest.raises(IllegalRecord, match="SP006"):  # no reader would accept it
            begin(store, run_id)
        assert not store.exists()
        return
    recorded = begin(store, run_id)
    recorded.checkpoint(
        "cp", state="s", step_name="b", artifact_refs=[recorded.put_artifact(b"x", artifact_id="a")]
    )
    recorded.beat()
    request_approval(store, run_id, "ask", content_digest=REFERENCE["digest"], checkpoint_id="cp")
    grant_approval(store, run_id, "ask", actor="boss")
    request_cancel(store, run_id, reason="enough", by="boss")
    assert entries(here) == ["store"]
    assert entries(store) == ["runs", "safepoint.json"]
    assert entries(store / "runs") == [encode_segment(run_id)]
    assert list(run_ids(open_store(str(store)))) == [run_id]
    assert package.read_artifact(store, run_id, "a") == b"x"
    for command in (("validate", "--artifacts"), ("guard",), ("show",)):
        run(command[0], "store", *command[1:], f"--run={run_id}")
    listed = json.loads(run("runs", "store", "--format", "json").stdout)
    assert [found["runId"] for found in listed["runs"]] == [run_id]


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("run_id", NO_IDS, ids=ascii)
def test_what_is_no_id_is_refused_before_anything_is_written(here: Path, run_id: str) -> None:
    store = here / "store"
    with pytest.raises(IllegalRecord):
        begin(store, run_id)
    assert not store.exists()
    lay(store)
    before = names(store)
    for entry in (
        lambda: resume_run(store, run_id, holder="h"),
        lambda: request_cancel(store, run_id, reason="r", by="boss"),
        lambda: grant_approval(store, run_id, "ask", actor="boss"),
        lambda: package.guard(store, run_id),
        lambda: package.read_artifact(store, run_id, "plan"),
    ):
        with pytest.raises((RecorderError, StoreError, LookupError)):
            entry()  # type: ignore[no-untyped-call]
    assert names(store) == before


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("run_id", [*ODD_IDS, *NO_IDS, *TOO_LONG], ids=lambda text: ascii(text)[:30])
def test_a_run_that_is_not_there_is_said_to_be_missing_whatever_it_is_called(here: Path, run_id: str) -> None:
    lay(here / "store")
    if "\0" in run_id or "\ud800" in run_id:
        with pytest.raises(package.UnknownRunError):
            package.guard("store", run_id)  # no shell can pass it on
        return
    for command in ("validate", "guard", "show"):
        result = run(command, "store", f"--run={run_id}")
        assert result.exit_code in {2, 3}
        assert len(result.output.splitlines()) <= 12


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("run_id", TOO_LONG, ids=lambda text: ascii(text)[:12])
def test_an_id_too_long_for_the_disk_is_refused_and_never_shortened(here: Path, run_id: str) -> None:
    with pytest.raises(UnsupportedError, match="use a shorter id"):
        begin(here / "store", run_id)
    assert not (here / "store/runs").exists() or entries(here / "store/runs") == []
    longest = "é" * 42
    begin(here / "store", longest)
    assert entries(here / "store/runs") == [encode_segment(longest)]


def test_ids_that_look_alike_stay_two_runs(here: Path) -> None:
    twins = [unicodedata.normalize(form, "café") for form in ("NFC", "NFD")]
    twins += ["Run", "run", "x", "x.", "x ", "\uff0e", "a=2E", "a."]
    for run_id in twins:
        begin(here / "store", run_id)
    assert set(run_ids(open_store("store"))) == set(twins)
    assert run("validate", "store").exit_code == 0
    for run_id in twins:
        assert (
            json.loads(run("show", "store", f"--run={run_id}", "--format", "json").stdout)["runId"] == run_id
        )


def test_where_two_ids_share_a_folder_the_second_is_no_run(here: Path) -> None:
    """As on a disk that ignores case, for which a link stands here."""
    store = lay(here / "store", run_id="run")
    (store / "runs/RUN").symlink_to("run")
    before = names(store)
    with pytest.raises(RunExists):
        begin(store, "RUN")
    result = run("guard", "store", "--run", "RUN", "--format", "json")
    assert json.loads(result.stdout)["verdict"] == "hand_over"
    assert "SP007" in result.stdout
    with pytest.raises(RecorderError):
        resume_run(store, "RUN", holder="h")
    assert names(store) == before


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("name", ODD_IDS, ids=ascii)
def test_no_other_id_or_name_becomes_a_name_in_the_store(here: Path, name: str) -> None:
    recorded = start_run(here / "store", RUN, workflow=name, holder=name, ttl_seconds=60, labels={name: name})
    reference = recorded.put_artifact(PLAN, artifact_id=name, media_type=name, produced_by=name)
    recorded.checkpoint(
        name, state=name, step_name=name, next_steps=[name], artifact_refs=[reference], guard_context=None
    )
    recorded.request_approval(name, request=1, checkpoint_id=name)
    keyed = Declares(idempotency="keyed", dedupe_window_seconds=600)
    with recorded.effect(
        name, step_name=name, request=1, key=name, message_id=name, declares=keyed
    ) as effect:
        effect.call(lambda: None)
    folder = f"runs/{RUN}/"
    assert {key for key in names(here / "store") if "/journal/" not in key} == {
        "safepoint.json",
        folder + REFERENCE["uri"],
    }
    assert all(parse_key(key) for key in names(here / "store"))
    assert package.read_artifact("store", RUN, name) == PLAN
    run("show", "store", "--run", RUN)
    run("guard", "store", "--run", RUN, f"--checkpoint={name}", f"--step={name}", f"--actor={name}")
    assert run("validate", "store", "--artifacts", "--fail-on", "error").exit_code == 0


NO_KEYS = [
    *["..", "../x", "a/../x", "a/..", ".", "./x", "a/./x", "/x", "//x", "a//x", "a/", "\\x", "a\\..\\x"],
    *["\0", "a/\0", "runs/../../outside/secret.json", "/etc/hostname"],
]


@pytest.mark.parametrize("url", ["store", "memory://confined/store"])
@pytest.mark.parametrize("key", NO_KEYS, ids=ascii)
def test_a_key_that_is_no_name_is_refused_before_anything_is_asked(
    here: Path, guarded: Outside, url: str, key: str
) -> None:
    (here / "store").mkdir()
    store = open_store(url)
    asks: list[Callable[[], Any]] = [
        lambda: store.get(key),
        lambda: store.exists(key),
        lambda: list(store.pieces(key)),
        lambda: store.put_if_absent(key, b"x"),
        lambda: store.delete(key),
    ]
    if not key.endswith("/"):
        asks += [lambda: list(store.list(key)), lambda: list(store.folders(key))]
    for ask in asks:
        with pytest.raises(OutsideStoreError):
            ask()
    for plain in (True, False):
        [found] = store.get_many([Entry(key, None, plain=plain)])
        assert isinstance(found, OutsideStoreError)
    assert entries(here / "store") == []
    assert guarded.touched == []


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize(
    "key", ["C:x", "CON", "NUL.txt", "a:b", "x.", "x ", "%2e%2e/x", "=2E./x", LOOKALIKES[0], "a\nb"]
)
def test_an_odd_key_that_leads_nowhere_else_is_a_name_like_any(here: Path, key: str) -> None:
    (here / "store").mkdir()
    store = open_store("store")
    with pytest.raises(AbsentError):
        store.get(key)
    assert store.put_if_absent(key, b"x").name == "WON"
    assert store.get(key) == b"x"
    assert names(here) == {f"store/{key}"}


TO_OUTSIDE = [
    *["../../../outside/secret.json", "../../../../outside/secret.json", "/etc/hostname", "~/x"],
    *["%2e%2e/%2e%2e/%2e%2e/outside/secret.json", "..%2F..%2F..%2Foutside%2Fsecret.json"],
    *[
        "%252e%252e/%252e%252e/%252e%252e/outside/secret.json",
        "x/%2e%2e/%2e%2e/%2e%2e/%2e%2e/outside/secret.json",
    ],
    *["file:../outside/secret.json", "file:///etc/hostname", "FILE:/etc/hostname", "local:///etc/hostname"],
    *[
        "C:outside",
        "C%3A%5Coutside",
        "%5C%5Cserver%5Cshare",
        "//localhost/etc/hostname",
        "../run-2/artifacts/x",
    ],
]


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("uri", TO_OUTSIDE)
def test_an_artifact_that_climbs_is_refused_by_everybody(here: Path, uri: str) -> None:
    store = lay(here / "store", artifactRefs=[{**REFERENCE, "uri": uri}])
    result = run("validate", "store", "--artifacts", "--allow-artifact-scheme", "s3")
    assert result.exit_code == 1
    assert "SP006" in result.output
    result = run("guard", "store", "--run", RUN, "--format", "json")
    assert json.loads(result.stdout)["verdict"] == "hand_over"
    run("show", "store", "--run", RUN)
    run("runs", "store")
    with pytest.raises(OutsideStoreError):
        package.read_artifact(store, RUN, {**REFERENCE, "uri": uri})
    recorded = begin(store, "writer")
    with pytest.raises(IllegalRecord, match="SP006"):
        recorded.checkpoint("cp", state="s", step_name="b", artifact_refs=[{**REFERENCE, "uri": uri}])


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize(
    "uri", ["s3://b/x::file:///etc/hostname", "simplecache::file:///etc/hostname", "urn:x:y"]
)
def test_an_artifact_somewhere_else_is_not_opened(here: Path, uri: str) -> None:
    store = lay(here / "store", artifactRefs=[{**REFERENCE, "uri": uri}])
    result = run("validate", "store", "--artifacts", "--allow-artifact-scheme", "s3", "--format", "json")
    assert "SP515" in {rule["code"] for rule in json.loads(result.stdout)["summary"]["skipped"]}
    with pytest.raises(OutsideStoreError):
        package.read_artifact(store, RUN, "plan", allow_artifact_schemes=["s3"])


@pytest.mark.parametrize("segment", ["=0A", "=1B=5B2J", "=00", "a=0Dplain=2C--output", "=E2=80=AE"])
def test_a_folder_whose_name_stands_for_no_id_cannot_steer_a_shell(here: Path, segment: str) -> None:
    (here / "store/runs" / segment).mkdir(parents=True)
    (here / "store/runs/good").mkdir()

    class Context:
        args = ("store",)

    offered = complete_runs(Context(), None, "")  # type: ignore[arg-type]
    assert [item.value for item in offered] == ["good"]
    for command in ("validate", "runs", "guard"):
        said = run(command, "store").output
        assert all(character.isprintable() for line in said.split("\n") for character in line)


IDS = st.text(min_size=1) | st.text(alphabet="./=\\%A0a~é\uff0e\u2215\x00 :", min_size=1)
LONG = st.text(min_size=1, max_size=256)


@given(st.lists(IDS | LONG, min_size=2, max_size=5, unique=True), st.integers(1, 2**53 - 1))
def test_no_two_ids_share_a_name_and_every_name_gives_back_its_id(ids: list[str], number: int) -> None:
    keys = [make(run_id, number) for run_id in ids for make in (journal_key, recovery_key, heartbeat_key)] + [
        artifact_key(run_id, REFERENCE["digest"]) for run_id in ids
    ]
    # not even where case, or the form of a letter, does not count: but for ASCII letters in other case
    assert len(set(keys)) == len(keys)
    for key in keys:
        assert key.isascii()
        assert os.path.normpath(f"/store/{key}") == f"/store/{key}"
        assert unicodedata.normalize("NFD", key) == key
    assert [found.run_id for key in keys if (found := parse_key(key))] == [
        run_id for run_id in ids for _ in range(3)
    ] + ids
