"""Links, hard links, pipes and names that change while they are read: none of them leads out of a store.

Each store here has a twin outside, so that whoever followed a link would find sound records there, and show them.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from canaries import CANARY, HEX, PLAN, REFERENCE, RUN, Outside, lay
from click.testing import CliRunner, Result

import safepoint as package
from safepoint.cli.completion import complete_runs
from safepoint.cli.main import safepoint
from safepoint.recorder import Fenced, RecorderError, resume_run, start_run
from safepoint.store import CorruptError, Entry, Outcome, OutsideStoreError, StoreError, local, open_store
from safepoint.store.layout import heartbeat_key, journal_key
from safepoint.store.within import Within

JOURNAL = f"runs/{RUN}/journal"
RECORD = journal_key(RUN, 3)
ARTIFACT = f"runs/{RUN}/artifacts/sha256/{HEX}"

FOLDERS = ["runs", f"runs/{RUN}", JOURNAL, f"runs/{RUN}/recovery", f"runs/{RUN}/heartbeat"]
FOLDERS += [f"runs/{RUN}/artifacts", f"runs/{RUN}/artifacts/sha256"]
FILES = [RECORD, f"runs/{RUN}/recovery/0000000001.json", heartbeat_key(RUN, 1), ARTIFACT, "safepoint.json"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    return Outside(tmp_path / "outside")


@pytest.fixture
def guarded(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    with outside.watched(monkeypatch):
        yield outside


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(safepoint, [*arguments], standalone_mode=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert CANARY not in result.output
    return result


def lead_out(path: Path, outside: Outside, store: Path) -> None:
    """`path`, in `store`, becomes a link to its twin outside."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(outside.folder / path.relative_to(store))


def shown(*commands: str) -> list[Result]:
    return [run(*command.split()) for command in commands]


@pytest.mark.parametrize("name", [*FOLDERS, *FILES])
def test_a_link_to_a_twin_outside_is_reported_and_never_followed(
    here: Path, guarded: Outside, name: str
) -> None:
    store = lay(here / "store")
    lead_out(store / name, guarded, store)
    checked, _ = shown("validate store --artifacts", "validate **/*.json --show-values")
    assert checked.exit_code in {1, 3}
    assert "SP006" in checked.output or "leads out of the store" in checked.output
    for command in ("show store --run run-1", "runs store", "migrate store --to v2 --output copy"):
        run(*command.split())
    assert not (here / "copy").exists() or CANARY not in "".join(
        path.read_text() for path in (here / "copy").rglob("*.json")
    )
    asked = run("guard", "store", "--run", RUN, "--format", "json")
    if asked.exit_code != 3:
        decision = json.loads(asked.stdout)
        hint = name == heartbeat_key(RUN, 1) or name.endswith("heartbeat")  # it only ever delays
        assert decision["verdict"] == "hand_over" or hint
    with pytest.raises((StoreError, RecorderError, LookupError)):
        resume_run(store, RUN, holder="h")
    offered = complete_runs(_Context("store"), None, "")  # type: ignore[arg-type]
    assert {item.value for item in offered} <= {RUN}


class _Context:
    def __init__(self, *args: str) -> None:
        self.args = args


@pytest.mark.parametrize("name", ["artifacts", "artifacts/sha256", f"artifacts/sha256/{HEX}"])
def test_an_artifact_behind_a_link_is_not_read_although_its_bytes_are_right(
    here: Path, guarded: Outside, name: str
) -> None:
    store = lay(here / "store")
    lead_out(store / "runs" / RUN / name, guarded, store)
    with pytest.raises(OutsideStoreError):
        package.read_artifact(store, RUN, "plan")
    decision = json.loads(run("guard", "store", "--run", RUN, "--format", "json").stdout)
    assert "SP793" in {reason["code"] for reason in decision["reasons"]}


@pytest.mark.parametrize(
    "name", ["runs", f"runs/{RUN}", JOURNAL, f"runs/{RUN}/heartbeat", f"runs/{RUN}/artifacts"]
)
def test_nothing_is_written_through_a_link(here: Path, guarded: Outside, name: str) -> None:
    (here / "store").mkdir()
    path = here / "store" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(guarded.folder / name)
    try:
        recorded = start_run(here / "store", RUN, workflow="w", holder="h", ttl_seconds=60)
    except (StoreError, RecorderError):
        return
    asks: list[Callable[[], Any]] = []
    if name.endswith("heartbeat"):
        asks.append(recorded.beat)
    if name.endswith("artifacts"):
        asks.append(lambda: recorded.put_artifact(b"mine", artifact_id="a"))
    assert asks
    for ask in asks:
        with pytest.raises(OutsideStoreError):
            ask()


def test_a_run_whose_journal_is_moved_away_while_it_is_recorded_ends(here: Path, guarded: Outside) -> None:
    recorded = start_run(here / "store", RUN, workflow="w", holder="h", ttl_seconds=60)
    journal = here / "store" / JOURNAL
    journal.rename(here / "moved")
    journal.symlink_to(guarded.folder / JOURNAL)
    with pytest.raises((StoreError, Fenced)):
        recorded.checkpoint("cp", state="s", step_name="b")
    assert len(list((here / "moved").iterdir())) == 2


# What changes between the look and the reading


Ask = Callable[[Any], Any]

READS: dict[str, Ask] = {
    "get": lambda store: store.get(RECORD),
    "pieces": lambda store: list(store.pieces(RECORD)),
    "get_many": lambda store: _only(store.get_many([Entry(RECORD, None, plain=True)])),
    "list": lambda store: list(store.list(JOURNAL)),
    "put": lambda store: store.put_if_absent(journal_key(RUN, 9), b"mine"),
    "put_again": lambda store: store.put_if_absent(RECORD, b"mine"),
    "delete": lambda store: store.delete(RECORD),
}


def _only(answers: Iterator[Any]) -> Any:
    [answer] = answers
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.mark.parametrize("ask", READS)
@pytest.mark.parametrize("swapped", ["runs", f"runs/{RUN}", JOURNAL])
def test_a_folder_that_becomes_a_link_once_it_was_judged_is_noticed(
    here: Path, guarded: Outside, monkeypatch: pytest.MonkeyPatch, swapped: str, ask: str
) -> None:
    store = lay(here / "store")
    # files are looked for by their paths too, as where the system cannot open them by their names in an open folder
    monkeypatch.setattr(local, "IN_FOLDERS", False)
    judged = Within.folder

    def swap(within: Within, key: str) -> str:
        path = judged(within, key)
        if not (store / swapped).is_symlink():
            (store / swapped).rename(here / "moved")
            (store / swapped).symlink_to(guarded.folder / swapped)
        return path

    opened = open_store("store")
    monkeypatch.setattr(Within, "folder", swap)
    with pytest.raises(OutsideStoreError, match="leads out of the store"):
        READS[ask](opened)


CALLS = ["open", "lstat", "stat", "readlink", "scandir", "mkdir", "link", "unlink"]


@pytest.mark.parametrize("ask", READS)
@pytest.mark.parametrize("swapped", ["runs", f"runs/{RUN}", JOURNAL])
def test_a_folder_that_becomes_a_link_at_any_moment_is_not_followed(
    tmp_path: Path, guarded: Outside, monkeypatch: pytest.MonkeyPatch, swapped: str, ask: str
) -> None:
    store = tmp_path / "store"
    calls = moment = 0
    still = False
    """Whether calls are not counted: those of the swap itself, and of who watches."""
    holds: Callable[[Any], bool] = guarded.holds

    def unseen(file: Any) -> bool:
        nonlocal still
        before, still = still, True
        try:
            return holds(file)
        finally:
            still = before

    def counted(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls, still
            calls += not still
            if calls == moment and not still:
                still = True
                (store / swapped).rename(tmp_path / f"moved-{moment}")
                (store / swapped).symlink_to(guarded.folder / swapped)
                still = False
            return real(*arguments, **options)

        return call

    monkeypatch.setattr(guarded, "holds", unseen)
    refused = 0
    while calls >= moment:
        moment += 1
        if store.exists():
            store.rename(tmp_path / f"store-{moment}")
        lay(store)
        opened = open_store(str(store))
        assert opened.exists(RECORD)  # what was judged a moment ago has been judged
        with monkeypatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, counted(name))
            calls = 0
            try:
                answer = READS[ask](opened)
            except OutsideStoreError:
                refused += 1
            else:
                assert CANARY not in str(answer)
    assert moment > 3
    assert refused


@pytest.mark.parametrize("swapped", ["runs", f"runs/{RUN}", JOURNAL])
def test_a_folder_that_was_read_and_then_becomes_a_link_is_soon_noticed(
    here: Path, guarded: Outside, swapped: str
) -> None:
    store = lay(here / "store")
    opened = open_store("store")
    assert b"checkpoint" in opened.get(RECORD)
    (store / swapped).rename(here / "moved")
    (store / swapped).symlink_to(guarded.folder / swapped)
    with suppress(OutsideStoreError):
        assert CANARY.encode() not in opened.get(RECORD)  # at most what it has read before
    time.sleep(0.002)
    for ask in (opened.get, opened.exists):
        with pytest.raises(OutsideStoreError):
            ask(RECORD)


def test_a_heartbeat_is_not_written_into_a_folder_that_became_a_link(
    here: Path, guarded: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    READS["beat"] = lambda store: store.replace(heartbeat_key(RUN, 1), b"mine")
    try:
        test_a_folder_that_becomes_a_link_once_it_was_judged_is_noticed(
            here, guarded, monkeypatch, f"runs/{RUN}/heartbeat", "beat"
        )
    finally:
        del READS["beat"]


def test_a_file_that_becomes_a_link_once_it_was_listed_is_noticed(here: Path, guarded: Outside) -> None:
    store = lay(here / "store")
    opened = open_store("store")
    listed = [entry for entry in opened.list() if entry.key == RECORD]
    assert listed[0].plain
    lead_out(store / RECORD, guarded, store)
    [found] = opened.get_many(listed)
    assert isinstance(found, OutsideStoreError)
    assert opened.put_if_absent(RECORD, b"mine") is Outcome.LOST


def test_a_link_that_is_turned_round_while_it_is_followed_is_noticed(
    here: Path, guarded: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lay(here / "store")
    link = store / "again.json"
    link.symlink_to(RECORD)
    judged = Within.target

    def turn(within: Within, key: str) -> str:
        path = judged(within, key)
        (store / RECORD).unlink()
        (store / JOURNAL).rename(here / "moved")
        (store / JOURNAL).symlink_to(guarded.folder / JOURNAL)
        return path

    opened = open_store("store")
    assert b"checkpoint" in opened.get("again.json")
    monkeypatch.setattr(Within, "target", turn)
    with pytest.raises(OutsideStoreError):
        opened.get("again.json")


# Patterns


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "*/",
        "*/secret.json",
        "*/*.json",
        "e*/secret.json",
        "**/secret.json",
        "*/runs/**",
        "[e]vil",
        "e?il/**",
    ],
)
def test_a_pattern_goes_through_no_link_that_it_merely_meets(
    here: Path, outside: Outside, pattern: str
) -> None:
    (here / "records").mkdir()
    lay(here / "records/good")
    (here / "records/evil").symlink_to(outside.folder)
    (here / "records/secret.json").symlink_to(outside.folder / "secret.json")
    result = run("validate", f"records/{pattern}", "--show-values")
    assert result.exit_code in {1, 3}
    assert "SP006" in result.output or "SP001" in result.output


def test_a_link_that_was_named_is_followed_because_the_user_meant_it(here: Path, outside: Outside) -> None:
    (here / "mine").symlink_to(outside.folder)
    for argument in ("mine", "mine/secret.json", "mine/*.json", "mine/runs/*"):
        result = CliRunner().invoke(safepoint, ["validate", argument, "--show-values"])
        assert "SP006" not in result.output
        assert "SP001" not in result.output
    outside.require_untouched()  # read it was, but not changed


# Hard links and what is no file


def test_what_is_a_hard_link_to_a_file_outside_is_never_changed(here: Path, outside: Outside) -> None:
    recorded = start_run(here / "store", RUN, workflow="w", holder="h", ttl_seconds=60)
    victim = outside.folder / "secret.json"

    def link(key: str) -> None:
        path = here / "store" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        os.link(victim, path)

    link(heartbeat_key(RUN, 1))
    link(ARTIFACT)
    recorded.beat()
    assert json.loads((here / "store" / heartbeat_key(RUN, 1)).read_bytes())["leaseEpoch"] == 1
    with pytest.raises(CorruptError, match="somebody changed them"):
        recorded.put_artifact(PLAN, artifact_id="plan")
    link(journal_key(RUN, 3))
    with pytest.raises(RecorderError):
        recorded.checkpoint("cp", state="s", step_name="b")
    open_store("store").delete(ARTIFACT)
    assert victim.read_text() == f'{{"secret":"{CANARY}"}}'


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("key", FILES)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(here: Path, key: str) -> None:
    store = lay(here / "store")
    (store / key).unlink()
    os.mkfifo(store / key)
    assert run("validate", "store", "--artifacts").exit_code == 3
    asked = run("guard", "store", "--run", RUN, "--format", "json")
    if asked.exit_code != 3:
        hint = key == heartbeat_key(RUN, 1)
        assert json.loads(asked.stdout)["verdict"] in (
            {"reconcile", "hand_over"} | ({"wait"} if hint else set())
        )
    run("show", "store", "--run", RUN)
    run("runs", "store")
    with pytest.raises(StoreError):
        open_store("store").get(key)
    if key == ARTIFACT:
        with pytest.raises(StoreError):
            package.read_artifact(store, RUN, REFERENCE)
