"""Settings, their origins, and the digest that a decision names."""

from __future__ import annotations

from safepoint import schemas
from safepoint.core.kind import Identity
from safepoint.core.version import V3
from safepoint.policy import Policy, parse_policy


def test_without_a_document_everything_is_a_default() -> None:
    policy = parse_policy(None)
    assert policy == Policy(origins=policy.origins)
    assert set(policy.origins.values()) == {"default"}


def test_a_workflows_override_wins_and_says_so() -> None:
    document = {
        "attemptsInLife": 7,
        "clockSkewSeconds": 9,
        "workflows": {"publish": {"attemptsInLife": 2}},
    }
    policy = parse_policy(document, workflow="publish")
    assert (policy.attempts_in_life, policy.clock_skew_seconds) == (2, 9)
    assert policy.origins["attemptsInLife"] == "workflow publish"
    assert policy.origins["clockSkewSeconds"] == "policy"
    assert parse_policy(document, workflow="other").attempts_in_life == 7


def test_the_digest_is_of_the_settings_and_not_of_their_origin() -> None:
    assert parse_policy({"attemptsInLife": 10}).digest == parse_policy(None).digest
    assert parse_policy({"attemptsInLife": 9}).digest != parse_policy(None).digest


def test_every_default_fits_the_schema_of_policies() -> None:
    document = {"recordType": "policy", "schemaVersion": "v3", **parse_policy(None).settings()}
    assert list(schemas.check(Identity("policy", V3), document)) == []


def test_a_part_is_blocked_unless_the_policy_says_otherwise() -> None:
    policy = parse_policy({"guardContext": {"model": "warn", "*": "ignore"}})
    assert (policy.context_rule("model"), policy.context_rule("tool.x")) == ("warn", "ignore")
    assert parse_policy(None).context_rule("model") == "block"
