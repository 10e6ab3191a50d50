"""Python functions as steps of a payload migration."""

from __future__ import annotations

import copy
import sys

import pytest
from payload_steps import A1, A2, SECRET, Project, refused, saved

from safepoint import PayloadMigrationError

BODY = "def step(member, payload):\n    "


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise KeyError(payload['secret'])", "raised KeyError at line 5 of steps_of_mine_"),
        (
            "import json\n    return json.loads(payload['secret'])",
            "raised JSONDecodeError at line 6 of steps_of_",
        ),
        (
            "exec(compile('1 / 0', payload['secret'], 'exec'))",
            "raised ZeroDivisionError at line 5 of steps_of_",
        ),
        ("raise SystemExit(0)", "raised SystemExit"),
        ("return {'b': next(count)}", "had another result when it was called again"),
        ("return {'b': time.time_ns() % 10**15}", "called again"),
        ("return {'b': float('nan')}", "returned a number that is not finite (at /b)"),
        ("return {'b': [{1}]}", "returned a set, which is no JSON value (at /b/0)"),
        ("return {'b': (1,)}", "a tuple, which is no JSON value"),
        ("return {1: 2}", "an object with a name that is no text but a int"),
        ("return {'b': 2**53}", "an integer beyond ±9007199254740991 (at /b)"),
        ("return {'b': '\\ud800'}", "half of a surrogate pair (at /b)"),
        ("return {'\\ud800': 1}", "an object with a name that is no Unicode text"),
        ("payload['b'] = payload\n    return payload", "something deeper than 100 levels"),
        ("return object", "returned a type, which is no JSON value"),
    ],
)
def test_a_function_that_gives_no_json_or_not_the_same_is_refused(
    project: Project, body: str, words: str
) -> None:
    change = project.code(A1, A2, BODY + body).toward(A2, allow_code=True)
    fault = refused(change, saved(A1, stateSnapshot={"a": 3, "secret": SECRET}))
    assert (fault.code, fault.pointer) == ("SP609", "/stateSnapshot")
    assert words in fault.message


def test_a_function_gets_a_copy_and_the_members_name(project: Project) -> None:
    body = f"{BODY}payload['b'] = payload.pop('a'); payload['by'] = member\n    return payload"
    value = saved(A1, inputSnapshot={"a": 1}, stateSnapshot={"a": 2})
    before = copy.deepcopy(value)
    result, _ = project.code(A1, A2, body).toward(A2, allow_code=True).apply(value)
    assert value == before
    assert result["inputSnapshot"] == {"b": 1, "by": "inputSnapshot"}
    assert list(result["stateSnapshot"]) == ["b", "by"]


def test_the_order_in_which_a_function_finds_members_does_not_show(project: Project) -> None:
    """A set has another order in each process; two migrations of one store must write the same."""
    body = f"{BODY}return {{'b': 1}} | {{name: 1 for name in {{'x', 'y', 'z', 'w'}}}}"
    result, _ = (
        project.code(A1, A2, body).toward(A2, allow_code=True).apply(saved(A1, stateSnapshot={"a": 1}))
    )
    assert list(result["stateSnapshot"]) == ["b", "w", "x", "y", "z"]


def test_code_runs_only_where_it_is_allowed(project: Project) -> None:
    project.code(A1, A2, "raise RuntimeError")
    with pytest.raises(PayloadMigrationError, match=r"^steps\[0\]: .* allow it with --allow-code"):
        project.toward(A2)
    assert project.toward(A1), "a way that does not need the function asks for nothing"
    with pytest.raises(PayloadMigrationError, match=r"cannot be imported: RuntimeError$"):
        project.toward(A2, allow_code=True)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("no_such_module_here:step", "cannot be imported: ModuleNotFoundError"),
        ("json:no_such", r"json .* has no function no_such"),
        ("json.decoder:NaN", r"has no function NaN"),
    ],
)
def test_a_function_that_is_not_there_is_known_before_the_first_record(
    project: Project, function: str, words: str
) -> None:
    project._step(A1, A2, function=function)
    with pytest.raises(PayloadMigrationError, match=words):
        project.toward(A2, allow_code=True)


def test_the_projects_folder_is_searched_only_while_its_function_is_imported(project: Project) -> None:
    before = list(sys.path)
    project.code(A1, A2, f"{BODY}return {{'b': 1}}").toward(A2, allow_code=True)
    assert sys.path == before
