"""Users' payload migrations: which steps are taken, what they may do, and what is refused."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from payload_steps import A1, A2, A3, A4, RENAME, SECRET, Project, refused, saved

import safepoint
from safepoint import PayloadMigrationError, PayloadMigrations


def test_a_step_changes_the_payload_and_its_name_and_nothing_else(project: Project) -> None:
    change = project.patch(A1, A2, *RENAME).toward(A2)
    value = saved(A1, inputSnapshot=None, stateSnapshot={"a": 3, "kept": [1.0]})
    before = copy.deepcopy(value)
    result, faults = change.apply(value)
    assert faults == ()
    assert list(result) == list(value)
    assert result == {**value, "payloadSchema": A2, "stateSnapshot": {"b": 3, "kept": [1.0]}}
    assert value == before


def test_the_shortest_way_is_taken_over_as_many_steps_as_it_needs(project: Project) -> None:
    project.patch(A1, A2, *RENAME).patch(A2, A3, {"op": "copy", "from": "/b", "path": "/c"})
    result, _ = project.toward(A3).apply(saved(A1, stateSnapshot={"a": 3}))
    assert result["stateSnapshot"] == {"b": 3, "c": 3}
    project.patch(A1, A3, {"op": "add", "path": "/c", "value": "at once"})
    result, _ = project.toward(A3).apply(saved(A1, stateSnapshot={"a": 3}))
    assert result["stateSnapshot"] == {"a": 3, "c": "at once"}


def test_a_way_down_may_be_given_too(project: Project) -> None:
    project.patch(A1, A2, *RENAME).patch(A2, A1, {"op": "move", "from": "/b", "path": "/a"})
    up, down = project.toward(A2), project.toward(A1)
    value = saved(A1, stateSnapshot={"a": 3})
    raised, _ = up.apply(value)
    assert down.apply(raised) == (value, ())
    assert up.apply(raised)[0] is raised


def test_a_step_may_rename_the_schema(project: Project) -> None:
    change = project.patch("helper@7", A3, {"op": "add", "path": "/c", "value": 1}).toward(A3)
    assert change.apply(saved("helper@7", stateSnapshot={}))[0]["payloadSchema"] == A3


def test_both_snapshots_are_migrated_each_for_itself(project: Project) -> None:
    change = project.patch(A1, A2, *RENAME).toward(A2)
    result, _ = change.apply(saved(A1, inputSnapshot={"a": 1}, stateSnapshot={"a": 2}))
    assert (result["inputSnapshot"], result["stateSnapshot"]) == ({"b": 1}, {"b": 2})


def test_a_patch_for_one_snapshot_leaves_the_other_as_it_is(project: Project) -> None:
    project.schemas[A2] = True
    change = project.patch(A1, A2, *RENAME, members=("stateSnapshot",)).toward(A2)
    result, _ = change.apply(saved(A1, inputSnapshot={"a": 1}, stateSnapshot={"a": 2}))
    assert (result["inputSnapshot"], result["stateSnapshot"]) == ({"a": 1}, {"b": 2})


@pytest.mark.parametrize(
    "snapshots", [{}, {"stateSnapshot": None}, {"inputSnapshot": None, "stateSnapshot": None}]
)
def test_what_is_null_or_absent_stays_so(project: Project, snapshots: dict[str, Any]) -> None:
    result, faults = project.patch(A1, A2, *RENAME).toward(A2).apply(saved(A1, **snapshots))
    assert faults == ()
    assert result == saved(A2, **snapshots)


@pytest.mark.parametrize("name", [None, A2, "other@1"])
def test_what_was_not_asked_for_is_the_same_object(project: Project, name: str | None) -> None:
    value = saved(name, stateSnapshot={"nonsense": SECRET})
    result, faults = project.patch(A1, A2, *RENAME).toward(A2).apply(value)
    assert result is value
    assert faults == ()


def test_a_version_of_the_family_from_which_no_way_leads_is_refused(project: Project) -> None:
    fault = refused(project.patch(A1, A2, *RENAME).toward(A2), saved("agent/state@9", stateSnapshot={}))
    assert (fault.code, fault.pointer) == ("SP608", "/payloadSchema")
    assert fault.message == (
        f"no way from agent/state@9 to {A2}: ways lead there from {A1}; add the steps between to [[payload-migrations]]"
    )


def test_without_any_step_every_other_version_of_the_family_is_refused(project: Project) -> None:
    assert "no step leads there" in refused(project.toward(A2), saved(A1, stateSnapshot={"a": 1})).message


def test_a_result_that_breaks_its_schema_is_refused_with_its_place(project: Project) -> None:
    fault = refused(project.patch(A1, A2, *RENAME).toward(A2), saved(A1, stateSnapshot={"a": 10}))
    assert (fault.code, fault.pointer) == ("SP610", "/stateSnapshot/b")
    assert fault.message.startswith(
        f"not migrated: after the step from {A1} to {A2} expected a number of at most 9"
    )


def test_a_step_between_is_checked_as_well(project: Project) -> None:
    project.patch(A1, A2, *RENAME).patch(A2, A3, {"op": "add", "path": "", "value": {"c": 1}})
    assert refused(project.toward(A3), saved(A1, stateSnapshot={"a": 10})).code == "SP610"


def test_a_payload_that_breaks_its_own_schema_is_refused(project: Project) -> None:
    fault = refused(project.patch(A1, A2, *RENAME).toward(A2), saved(A1, stateSnapshot={"a": SECRET}))
    assert (fault.code, fault.pointer) == ("SP611", "/stateSnapshot/a")


def test_a_source_without_a_schema_is_taken_as_it_is(project: Project) -> None:
    del project.schemas[A1]
    result, _ = project.patch(A1, A2, *RENAME).toward(A2).apply(saved(A1, stateSnapshot={"a": 1, "x": 1}))
    assert result["stateSnapshot"] == {"x": 1, "b": 1}


def test_two_shortest_ways_are_an_error_that_names_both(project: Project) -> None:
    project.patch(A1, A2, *RENAME).patch(A1, A3, *RENAME).patch(A2, A4, *RENAME).patch(A3, A4, *RENAME)
    with pytest.raises(PayloadMigrationError) as caught:
        project.toward(A4)
    assert f"{A1} to {A2} to {A4}, and {A1} to {A3} to {A4}" in str(caught.value)
    assert "(steps[0], steps[1])" in str(caught.value)
    project.patch(A1, A4, *RENAME)
    assert project.toward(A4)


def test_ways_that_part_in_the_middle_are_named_from_their_beginning(project: Project) -> None:
    project.patch("first@1", A1).patch(A1, A2).patch(A1, A3).patch(A2, A4).patch(A3, A4)
    with pytest.raises(PayloadMigrationError, match=f"from {A1}: {A1} to {A2} to {A4}"):
        project.toward(A4)


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (("agent/state@22",), f"agent/state@22 is no payload schema of this project; did you mean {A2}?"),
        (("zzz@1",), f"there are {A1}, {A2}, {A3}, {A4}, other@1"),
        ((A2, A3), f"{A2} and {A3} are of one family; ask for one of them"),
    ],
)
def test_a_target_that_cannot_be_asked_for_is_an_error(
    project: Project, targets: tuple[str, ...], words: str
) -> None:
    with pytest.raises(PayloadMigrationError) as caught:
        project.patch(A1, A2, *RENAME).toward(*targets)
    assert words in str(caught.value)


def test_of_two_targets_the_one_of_the_own_family_counts(project: Project) -> None:
    project.patch(A1, A2, *RENAME).patch(A1, "other@1").patch("third@1", A2).patch("third@1", "other@1")
    with pytest.raises(PayloadMigrationError, match=f"third@1 leads to {A2} and to other@1"):
        project.toward("other@1", A2)
    del project.steps[2:]
    change = project.toward("other@1", A2)
    assert change.targets == (A2, "other@1")
    assert change.apply(saved(A1, stateSnapshot={"a": 1}))[0]["payloadSchema"] == A2


def test_a_step_needs_a_schema_to_be_checked_by(project: Project) -> None:
    with pytest.raises(
        PayloadMigrationError, match=r"^steps\[0\]\.to: .*add it to \[payload-schemas\], or did you mean"
    ):
        project.patch(A1, "agent/state@5", *RENAME).load()


CHANGES: list[Callable[[Project], Any]] = [
    lambda project: project.patch(A1, A2, *RENAME, {"op": "test", "path": "/b", "value": 1}),
    lambda project: project.patch("agent/state@0", A2, *RENAME),
    lambda project: project.patch(A1, A2, *RENAME, members=("stateSnapshot",)),
    lambda project: project.code(A1, A2, "def step(*_): ..."),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_digest_is_of_targets_patches_and_functions(
    tmp_path: Path, change: Callable[[Project], Any]
) -> None:
    def digest(name: str, steps: Callable[[Project], Any], *targets: str) -> str:
        (tmp_path / name).mkdir()
        project = Project(tmp_path / name)
        steps(project)
        return project.toward(*targets, allow_code=True).digest

    def plain(project: Project) -> Project:
        return project.patch(A1, A2, *RENAME)

    first = digest("one", plain, A2)
    assert first == digest("two", lambda project: plain(project).patch(A2, A3), A2), (
        "a step that is not needed"
    )
    assert first != digest("three", change, A2)
    assert first != digest("four", plain, A2, "other@1")
    assert first.startswith("sha256:")


def test_a_program_migrates_what_it_has_loaded(project: Project) -> None:
    migrations = project.patch(A1, A2, *RENAME).load()
    payload = {"a": 3}
    assert migrations.migrate(A1, payload, to=A2) == {"b": 3}
    assert migrations.migrate(A1, payload, to=A2, member="inputSnapshot") == {"b": 3}
    assert payload == {"a": 3}
    assert migrations.migrate(A1, payload, to=A1) is payload
    assert migrations.migrate(A1, None, to=A2) is None


@pytest.mark.parametrize(
    ("name", "payload", "code"), [("other@1", {}, "SP608"), (A4, {}, "SP608"), (A1, {"a": 10}, "SP610")]
)
def test_a_program_gets_an_error_with_the_code(project: Project, name: str, payload: Any, code: str) -> None:
    with pytest.raises(PayloadMigrationError, match=f"^{code}: ") as caught:
        project.patch(A1, A2, *RENAME).load().migrate(name, payload, to=A2)
    assert [fault.code for fault in caught.value.faults] == [code]


def test_a_program_cannot_hand_in_what_no_checkpoint_holds(project: Project) -> None:
    migrations = project.patch(A1, A2, *RENAME).load()
    with pytest.raises(PayloadMigrationError, match="the payload is a set, which is no JSON value"):
        migrations.migrate(A1, {1}, to=A2)
    with pytest.raises(ValueError, match="expected inputSnapshot or stateSnapshot"):
        migrations.migrate(A1, {}, to=A2, member="result")


def test_the_public_names_are_the_ones_of_the_room() -> None:
    assert safepoint.PayloadMigrations is PayloadMigrations
    assert issubclass(safepoint.PayloadMigrationError, ValueError)


def test_the_library_for_patches_is_loaded_only_for_a_migration() -> None:
    code = "import sys, safepoint.cli.main, safepoint.migrate, safepoint.settings; print('jsonpatch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "False\n"
    )
