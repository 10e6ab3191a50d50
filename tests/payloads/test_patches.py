"""JSON Patches as steps of a payload migration."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from payload_steps import A1, A2, A4, RENAME, SECRET, Project, only, refused, saved

from safepoint import PayloadMigrationError


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ([{"op": "remove", "path": "/gone"}], "1 (remove /gone) of FILE does not fit: nothing lies at /gone"),
        (
            [*RENAME, {"op": "test", "path": "/b", "value": 4}],
            "2 (test /b) of FILE does not fit: another value than it expects lies at /b",
        ),
        ([{"op": "test", "path": "/x", "value": 4}], "1 (test /x) of FILE does not fit: nothing lies at /x"),
        (
            [{"op": "move", "from": "/cust", "path": "/customerId"}],
            "1 (move /cust to /customerId) of FILE does not fit: nothing lies at /cust",
        ),
        (
            [{"op": "move", "from": "/a", "path": "/x/a"}],
            "1 (move /a to /x/a) of FILE does not fit: nothing lies at /x, where it would put a",
        ),
        (
            [*RENAME, {"op": "copy", "from": "/a", "path": "/c"}],
            "2 (copy /a to /c) of FILE does not fit: nothing lies at /a",
        ),
        (
            [{"op": "add", "path": "/s/x", "value": 1}],
            "1 (add /s/x) of FILE does not fit: what lies at /s is neither an object nor an array",
        ),
        (
            [{"op": "add", "path": "/l/7", "value": 1}],
            "1 (add /l/7) of FILE does not fit: the array at /l has no place 7",
        ),
    ],
)
def test_a_patch_that_does_not_fit_says_which_operation_it_was(
    project: Project, operations: list[Any], words: str
) -> None:
    change = project.patch(A1, A2, *operations).toward(A2)
    fault = refused(change, saved(A1, stateSnapshot={"a": 3, "s": SECRET, "l": []}))
    assert (fault.code, fault.pointer) == ("SP609", "/stateSnapshot")
    words = words.replace("FILE", str(project.folder / "0.json"))
    assert fault.message == f"the step from {A1} to {A2} cannot be taken: operation {words}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "it is no JSON"),
        ('[{"op": "add", "op": "add", "path": "", "value": 1}]', "it is no JSON"),
        ('{"op": "add"}', "expected an array of operations"),
        ('["add"]', "expected an operation, which is an object (at /0)"),
        ('[{"path": "/a"}]', "op: expected one of add, remove, replace, move, copy, test (at /0)"),
        (
            '[{"op": "delete", "path": "/a"}]',
            "op: expected one of add, remove, replace, move, copy, test (at /0/op)",
        ),
        ('[{"op": "add", "path": "/a"}]', "add: its value is missing (at /0)"),
        ('[{"op": "test", "path": "/a"}]', "test: its value is missing"),
        ('[{"op": "move", "path": "/a"}]', "move: its from is missing"),
        ('[{"op": "remove"}]', "remove: its path is missing"),
        ('[{"op": "remove", "path": "a"}]', "path: expected a JSON Pointer"),
        ('[{"op": "copy", "from": 3, "path": "/a"}]', "from: expected a JSON Pointer"),
        ('[{"op": "remove", "path": "/~2"}]', "path: expected a JSON Pointer"),
        ('[{"op": "remove", "path": ""}]', "cannot be removed as a whole"),
        ('[{"op": "move", "from": "/a", "path": "/a/b"}]', "cannot be moved into itself"),
        (None, "it cannot be read: No such file"),
    ],
)
def test_a_broken_patch_is_known_before_the_first_record(
    project: Project, content: str | None, words: str
) -> None:
    path = project.folder / "broken.json"
    if content is not None:
        path.write_text(content)
    project._step(A1, A2, patch=str(path))
    with pytest.raises(PayloadMigrationError) as caught:
        project.load()
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


CONFORMITY: list[tuple[Any, list[Any], Any]] = [
    (True, [{"op": "test", "path": "", "value": 1}], None),
    ({"a": [True]}, [{"op": "test", "path": "/a", "value": [1]}], None),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),
    ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
    ({"a": [1]}, [{"op": "replace", "path": "/a/-", "value": 2}], None),
    ({"a": [1, 2]}, [{"op": "replace", "path": "/a/01", "value": 9}], None),
    ({"a": [1, 2]}, [{"op": "add", "path": "/a/-1", "value": 9}], None),
    ({"a": [1, 2]}, [{"op": "add", "path": "/a/3", "value": 9}], None),
    ({"a": [1, 2]}, [{"op": "add", "path": "/a/2", "value": 9}], {"a": [1, 2, 9]}),
    ({"a": [0] * 20}, [{"op": "replace", "path": "/a/1_0", "value": 9}], None),
    ({"a/b": {"m~n": 1}}, [{"op": "replace", "path": "/a~1b/m~0n", "value": 2}], {"a/b": {"m~n": 2}}),
    ({"~1": 1}, [{"op": "replace", "path": "/~01", "value": 2}], {"~1": 2}),
    ({"\\u0041": 1, "A": 2}, [{"op": "remove", "path": "/\\u0041"}], {"A": 2}),
    ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
    ({"-": 1}, [{"op": "replace", "path": "/-", "value": 3}], {"-": 3}),
    ({"a": {"x": 1}, "ab": {}}, [{"op": "move", "from": "/a", "path": "/ab/c"}], {"ab": {"c": {"x": 1}}}),
    ({"a": 1}, [{"op": "replace", "path": "", "value": [1]}], [1]),
    ({"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": ""}], {"b": 1}),
    ({"a": 1}, [{"op": "copy", "from": "", "path": "/b"}], {"a": 1, "b": {"a": 1}}),
    ({"a": "xyz"}, [{"op": "copy", "from": "/a/0", "path": "/b"}], None),
    ({}, [{"op": "replace", "path": "/a", "value": 1}], None),
    ({}, [{"op": "test", "path": "/a", "value": None}], None),
    (
        {"a": {"x": 1}},
        [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "replace", "path": "/b/x", "value": 2}],
        {"a": {"x": 1}, "b": {"x": 2}},
    ),
    (
        {},
        [{"op": "add", "path": "/v", "value": {"k": 1}}, {"op": "add", "path": "/v/z", "value": 2}],
        {"v": {"k": 1, "z": 2}},
    ),
]
"""What is easily got wrong in RFC 6902; None: the patch fails."""


@pytest.mark.parametrize(("payload", "operations", "wanted"), CONFORMITY)
def test_patches_do_what_their_standard_says(
    project: Project, payload: Any, operations: list[Any], wanted: Any
) -> None:
    project.schemas[A1] = True
    change = project.patch(A1, A4, *operations).toward(A4)
    for _ in range(2):  # what one application did to the patch would show in the next
        value = saved(A1, stateSnapshot=copy.deepcopy(payload))
        result, faults = change.apply(value)
        assert value["stateSnapshot"] == payload
        if wanted is None:
            assert only(faults).code == "SP609"
        else:
            assert json.dumps(result["stateSnapshot"], sort_keys=True) == json.dumps(wanted, sort_keys=True)
