"""``safepoint policy show``: every setting with its unit and where it comes from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from safepoint.policy import PER_ACTION, Policy
from safepoint.render.policy import UNITS

Run = Callable[..., Result]

TOML = """\
maxFactAgeSeconds = 600

[guardContext]
"prompt.draft" = "warn"

[actions.notify]
effect = "message"
idempotency = "keyed"
dedupeWindowSeconds = 86400

[actionSettings.notify]
probesPerAction = 7

[workflows.publish]
attemptsInLife = 5
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(TOML)
    return path


def rows(text: str) -> dict[str, list[str]]:
    return {words[0]: words[1:] for line in text.splitlines() if (words := line.split())}


def test_defaults_have_units_and_our_judgements_are_marked(run: Run) -> None:
    result = run("policy", "show")
    assert result.exit_code == 0
    shown = rows(result.stdout)
    assert shown["cooldownSeconds"] == ["30", "s", "default"]
    assert shown["attemptsInLife"] == ["10", "attempts", "default", "†"]
    assert shown["guardContext.*"] == ["block", "-", "default"]
    assert shown["digest"] == [Policy().digest]


def test_each_setting_says_where_it_comes_from(run: Run, committed: Path, policy: Path) -> None:
    words = ["policy", "show", committed, "--run", "run_123", "--policy", policy]
    shown = rows(run(*words).stdout)
    assert shown["attemptsInLife"] == ["5", "attempts", "workflow", "publish"]
    assert shown["maxFactAgeSeconds"] == ["600", "s", "policy", f"({policy})"]
    assert shown["probesPerAction"] == ["3", "probes", "default"]
    own = rows(run(*words, "--action", "notify_1").stdout)
    assert own["probesPerAction"] == ["7", "probes", "action", "notify"]
    assert own["idempotency"] == ["none"], "the record's own declaration wins over the catalogue"
    assert own["digest"] == shown["digest"]


def test_the_digest_is_the_one_that_a_decision_names(run: Run, committed: Path, policy: Path) -> None:
    words = [committed, "--run", "run_123", "--policy", policy, "--format", "json"]
    document = json.loads(run("policy", "show", *words).stdout)
    decision = json.loads(run("guard", *words).stdout)
    assert document["digest"] == decision["basis"]["policyDigest"]
    assert document["origins"]["attemptsInLife"] == "workflow publish"
    assert document["settings"]["actions"]["notify"]["effect"] == "message"


def test_a_catalogue_entry_is_shown_for_a_step(run: Run, policy: Path) -> None:
    shown = run("policy", "show", "--policy", policy, "--action", "notify").stdout
    assert "declared by the policy, actions.notify" in shown


def test_names_that_nothing_is_set_for_are_told(run: Run, policy: Path) -> None:
    result = run("policy", "show", "--policy", policy, "--workflow", "pubish", "--action", "notfy")
    assert "did you mean publish?" in result.stderr
    assert "did you mean notify?" in result.stderr


def test_a_misspelt_setting_is_refused_with_its_line(run: Run, policy: Path) -> None:
    policy.write_text(TOML.replace("attemptsInLife", "attemptInLife"))
    result = run("policy", "show", "--policy", policy)
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"{policy}:15:1: SP203" in result.stderr
    assert 'did you mean "attemptsInLife"? (at /workflows/publish/attemptInLife)' in result.stderr


def test_a_table_of_an_unknown_name_is_refused_with_its_line(run: Run, policy: Path) -> None:
    policy.write_text(TOML.replace("[workflows.publish]", "[workflow.publish]"))
    result = run("policy", "show", "--policy", policy)
    assert (
        f'{policy}:14:1: SP203 member "workflow" is not known to v3; did you mean "workflows"?'
        in result.stderr
    )


def test_a_setting_that_no_single_action_can_have_is_refused_with_those_that_it_can(
    run: Run, policy: Path
) -> None:
    policy.write_text(TOML.replace("probesPerAction", "cooldownSeconds"))
    result = run("policy", "show", "--policy", policy)
    words = "is a setting, but none that a single action can have; those are: "
    assert (
        f'{policy}:12:1: SP203 member "cooldownSeconds" {words}{", ".join(sorted(PER_ACTION))}'
        in result.stderr
    )


def test_a_run_needs_a_store_and_has_a_workflow_of_its_own(run: Run, committed: Path) -> None:
    assert run("policy", "show", "--run", "run_123").exit_code == 2
    assert run("policy", "show", committed, "--run", "run_123", "--workflow", "w").exit_code == 2


def test_every_measured_setting_has_a_unit() -> None:
    measured = [n for n in Policy().settings() if n.endswith(("Seconds", "Fraction", "Micros", "PerAction"))]
    assert set(measured) <= UNITS.keys()
