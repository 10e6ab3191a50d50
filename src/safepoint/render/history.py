"""What happened in a run, as a document: the timeline in words, the ledger, approvals, recoveries.

Decided here: which words each record gets, and that payloads stay out unless they are asked for.
Not decided here: how it looks (``show``), and what follows from it (``guard``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from safepoint.core.finding import Finding
from safepoint.core.timestamp import SECOND, format_time
from safepoint.model.action import Action
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.policy import Policy
from safepoint.render.findings import finding_document
from safepoint.render.overview import overview, pending, short
from safepoint.render.rounds import recovery_budget, recovery_rounds

PAYLOADS = ("input", "inputSnapshot", "stateSnapshot", "result", "error", "evidence", "ref")
"""Members that may hold a user's data, and so are only shown whole on request."""

REFERENCE = 80
"""Characters of a reference to evidence that are always shown: an id has fewer, a text that was put there has more."""


def history(
    run: Run,
    findings: Iterable[Finding],
    names: Callable[[str], str],
    *,
    now: int,
    policy: Policy | None = None,
    values: bool = False,
) -> dict[str, Any]:
    """The document that ``safepoint show --format json`` prints.

    Args:
        run: the folded run.
        findings: everything that is wrong with it.
        names: code to its name in words.
        now: nanoseconds since the Unix epoch.
        policy: how often recovery may be tried, and by how much clocks may differ; None: the defaults.
        values: whether payloads are included.
    """
    settings = policy or Policy()
    found, skew = list(findings), settings.skew
    owner = run.ownership
    lapses = None if owner is None or owner.released else owner.lapses_at(now, skew)
    return {
        **overview(run, len(found), now, skew),
        "workflow": run.workflow,
        "owner": owner
        and {
            "leaseEpoch": owner.epoch,
            "holder": owner.holder,
            "released": owner.released,
            "lastSignOfLife": format_time(max([owner.last_record, *owner.beats])),
            "ttlSeconds": owner.ttl // SECOND,
            "clockAllowanceSeconds": 2 * skew // SECOND,
            "lapsesAt": None if lapses is None else format_time(lapses),
        },
        "cancelRequestedAt": run.cancel_requested.value["createdAt"] if run.cancel_requested else None,
        "newestCheckpointId": run.newest_checkpoint.value["checkpointId"] if run.newest_checkpoint else None,
        "timeline": _timeline(run.records, values=values),
        "actions": [_action(action) for action in run.actions.values()],
        "artifacts": _artifacts(run),
        "pendingApprovals": [
            {
                "approvalId": approval.approval_id,
                "actionId": approval.action_id,
                "checkpointId": approval.checkpoint_id,
                "expiresAt": None if approval.expires is None else format_time(approval.expires),
            }
            for approval in pending(run, now)
        ],
        "recoveries": recovery_rounds(run, settings, now),
        "recoveryBudget": recovery_budget(run, settings, now),
        "findings": [finding_document(finding, names(finding.code)) for finding in found],
    }


def _artifacts(run: Run) -> list[dict[str, Any]]:
    """The run's artifacts by id, as the newest record that names each describes it, and what names them."""
    hidden = {str(target) for r in run.records if r.kind == "retract" for target in r.value["targets"]}
    found: dict[str, dict[str, Any]] = {}
    for record in run.records:
        value = record.value
        name = str(value.get("checkpointId") or value.get("actionId"))
        result = value.get("resultRef") if record.kind == "ledger" else None
        for reference in [*(value.get("artifactRefs") or ()), *([result] if result else [])]:
            artifact_id = str(reference["artifactId"])
            before = found.get(artifact_id, {"namedBy": [], "retracted": True})
            found[artifact_id] = {
                "artifactId": artifact_id,
                **{member: reference.get(member) for member in ("uri", "digest", "size", "mediaType")},
                "namedBy": list(dict.fromkeys([*before["namedBy"], name])),
                "retracted": artifact_id in hidden
                or (before["retracted"] and record.kind == "checkpoint" and name in hidden),
            }
    return list(found.values())


def _timeline(records: Sequence[Record], *, values: bool) -> list[dict[str, Any]]:
    """The records in words; what a claim was for, the next record of its epoch may say."""
    events: list[dict[str, Any]] = []
    following: dict[int | None, Record] = {}
    for record in reversed(records):
        epoch = record.value.get("leaseEpoch")
        events.append(_event(record, following.get(epoch), values=values))
        following[epoch] = record
    return events[::-1]


def _event(record: Record, following: Record | None, *, values: bool) -> dict[str, Any]:
    value = record.value
    event = {
        "sequence": record.sequence,
        "createdAt": value.get("createdAt"),
        "kind": record.kind,
        "leaseEpoch": value.get("leaseEpoch"),
        "text": _lease_words(value, following) if record.kind == "lease" else _WORDS[record.kind](value),
        "key": record.place.key,
        "line": record.place.line,
    }
    if values:
        event["values"] = {name: value[name] for name in PAYLOADS if name in value}
    return event


def _run_words(value: Mapping[str, Any]) -> str:
    status = value["status"]
    by = f" by {value['by']}" if value.get("by") else ""
    if status == "started":
        return "run started" + (f": workflow {value['workflow']}" if value.get("workflow") else "")
    if status == "cancelRequested":
        return f"asked to stop{by}"
    if status == "sealed":
        successor = value.get("successor") or {}
        return (
            "sealed: it goes on as "
            f"{successor.get('runId') or 'another run'} in {successor.get('uri') or '?'}"
        )
    if status == "failed" and value.get("error"):
        return f"run failed{by}: {value['error'].get('class') or 'error'}"
    return f"run {status}{by}"


def _checkpoint_words(value: Mapping[str, Any]) -> str:
    reason = f", {_spaced(value['reason'])}" if value.get("reason") else ""
    following = value.get("nextSteps") or []
    after = f"; next: {', '.join(map(str, following))}" if following else ""
    return f"checkpoint {value['checkpointId']} at step {value['stepName']} (state {value['state']}{reason}){after}"


def _ledger_words(value: Mapping[str, Any]) -> str:
    action, status = value["actionId"], value["status"]
    number = (value.get("attempt") or {}).get("number")
    if status == "attempting":
        key = f"key {value['idempotencyKey']}" if value.get("idempotencyKey") else "no key"
        return f"{action}: about to send, attempt {number or 1} ({key})"
    return f"{action}: {_spaced(status)}{_because(value)}"


def _because(value: Mapping[str, Any]) -> str:
    """What the record gives as its evidence, as ids and classes only."""
    parts = []
    # An evidence record is itself what others carry as a member.
    seen = value if value["recordType"] == "evidence" else value.get("evidence")
    evidence, error = seen or {}, value.get("error") or {}
    if evidence:
        by = f" by {evidence['by']}" if evidence.get("by") else ""
        parts.append(
            f"evidence {evidence['kind']}{by}{' ' + _reference(evidence['ref']) if evidence.get('ref') else ''}"
        )
    if value.get("externalRef") and value["externalRef"] != evidence.get("ref"):
        parts.append(f"reference {value['externalRef']}")
    if value.get("deliveryState"):
        parts.append(f"delivery {_spaced(value['deliveryState'])}")
    if error:
        parts.append(", ".join([error.get("class") or "error", *_sent(error, evidence)]))
        if error.get("retryable") is not None:
            parts.append("may be tried again" if error["retryable"] else "not to be tried again")
    return f" ({'; '.join(parts)})" if parts else ""


def _sent(error: Mapping[str, Any], evidence: Mapping[str, Any]) -> Iterator[str]:
    sent = {"yes": "it was sent", "no": "it was not sent", "unknown": "nobody knows whether it was sent"}
    said = str(error.get("sent"))
    # Somebody outside says what became of it: that the sender did not know is no longer the matter.
    if said in {"yes", "no"} or evidence.get("kind") not in {"human", "probe"}:
        yield sent.get(said, "not said whether sent")


def _reference(text: str) -> str:
    return text if len(text) <= REFERENCE else text[: REFERENCE - 1] + "…"


def _approval_words(value: Mapping[str, Any]) -> str:
    about = value.get("actionId") or value.get("checkpointId")
    subject = f" for {about}" if about else ""
    # Of a question the actor is who shall answer it.
    word = "of" if value["event"] == "requested" else "by"
    by = f" {word} {value['actor']}" if value.get("actor") else ""
    until = f", until {short(value['expiresAt'])}" if value.get("expiresAt") else ""
    return f"approval {value['approvalId']}{subject}: {value['event']}{by}{until}"


def _lease_words(value: Mapping[str, Any], following: Record | None) -> str:
    if value["event"] == "released":
        return "lease released"
    fork = f", forked from {value['forkFrom']['checkpointId']}" if value.get("forkFrom") else ""
    purpose = {"recovery": ", to recover the run", "resolution": ", to settle open effects"}.get(
        value["purpose"], ""
    )
    if value["purpose"] == "resolution" and following and following.kind == "run":
        purpose = _ENDS.get(following.value["status"], purpose)
    return f"lease claimed by {value.get('holder') or '?'} for {value.get('ttlSeconds')} s{purpose}{fork}"


_ENDS: Mapping[str, str] = {"sealed": ", to seal the run", "cancelled": ", to end the run"}
"""Ends of a run that a human's claim was for, and not an effect."""


def _evidence_words(value: Mapping[str, Any]) -> str:
    return f"{value['actionId']}: seen to have happened{_because(value)}"


def _retract_words(value: Mapping[str, Any]) -> str:
    return (
        f"retracted {', '.join(map(str, value['targets']))}{' by ' + value['by'] if value.get('by') else ''}"
    )


_WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "run": _run_words,
    "checkpoint": _checkpoint_words,
    "ledger": _ledger_words,
    "approval": _approval_words,
    "evidence": _evidence_words,
    "retract": _retract_words,
}


def _action(action: Action) -> dict[str, Any]:
    return {
        "actionId": action.action_id,
        "stepName": action.step_name,
        "status": action.status,
        "open": action.open,
        "attempts": len(action.attempts),
        "keyed": action.key is not None,
        "effect": action.declares.effect if action.declares.declared else None,
        "known": _known(action),
    }


def _known(action: Action) -> str:
    """What the records prove of the effect, in words."""
    because = _because(action.record.value)
    words = {
        "planned": "nothing was sent",
        "attempting": "announced; no outcome was ever written: it may or may not have happened",
        "inDoubt": "it may or may not have happened",
        "prepared": "reserved at the provider, not confirmed",
        "committed": "it happened",
        "failed": "it did not happen",
        "compensating": "being undone; not finished",
        "compensated": "it happened, and was undone",
        "compensationFailed": "it happened, and could not be undone",
        "cancelled": "withdrawn before anything was sent",
        "abandoned": "nobody will find out; a human accepted that",
    }
    return words[action.status] + because


def _spaced(name: str) -> str:
    """``beforeEffect`` as words: ``before effect``."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in str(name)).replace("_", " ")


def compact(values: Mapping[str, Any]) -> str:
    """Payloads on one line, as JSON."""
    return json.dumps(values, ensure_ascii=False, separators=(", ", ": "))
