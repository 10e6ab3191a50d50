"""What a parsed JSON value claims to be: its kind and its version, and whether this library may read it.

Decided here: how a record is recognised (SPEC.md#recognition), and that what must not be read has none.
Not decided here: whether the value fits that kind's schema (``schemas``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.core.version import CURRENT, V1, V2, V3, Version

KINDS: Mapping[int, frozenset[str]] = {
    1: frozenset({"checkpoint", "ledger"}),
    2: frozenset({"checkpoint", "ledger"}),
    3: frozenset(
        {"run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery", "heartbeat"}
        | {"store", "deleted", "policy", "facts", "request", "decision", "report", "anchor"}
        | {"quarantine", "repair", "origin", "seal"}
    ),
}
"""The kinds of each major version: the records of a run, then what lies beside one."""

_ID_MEMBERS = {"checkpointId": "checkpoint", "actionId": "ledger"}
"""What v1 and v2 are recognised by, since they do not name their kind."""

_NAMING = ("recordType", *_ID_MEMBERS)
"""What a record is recognised by; with all of them missing or misspelt it looks like somebody else's JSON."""

_TELLING = frozenset(
    {"runId", "schemaVersion", "stepName", "nextSteps", "inputSnapshot", "stateSnapshot", "artifactRefs"}
    | {"sideEffectStatus", "idempotencyKey", "externalRef", "requestFingerprint", "deliveryState"}
    | {"previousDigest", "leaseEpoch", "orderEvidence", "migratedFrom", "resumePreconditions", "guardHash"}
    | {"guardContext", "replaySafeActions", "parentCheckpointId", "payloadSchema", "lastLedgerSequence"}
    | {"approvalId", "contentDigest", "episodeId", "failureSignature", "ttlSeconds"}
)
"""Names of our records' members that hardly any other format has; words such as status or createdAt say nothing."""

_READ_REQUIREMENTS: frozenset[str] = frozenset()
"""Names under ``requires.read`` that this version of the library honours."""

_RESUME_REQUIREMENTS: frozenset[str] = frozenset()
"""Names under ``requires.resume`` that this version of the library honours."""

_TYPE_NAMES = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a value says it is, and what this library can read it as."""

    kind: str
    """``checkpoint``, ``ledger``, …: a name of `KINDS`."""
    version: Version


_PLAIN = {kind: Identity(kind, V3) for kind in KINDS[3]}
"""What nearly every record is: of v3, without demands."""

_OLD = {
    f"{version}": {kind: Identity(kind, version) for kind in KINDS[version.major]} for version in (V1, V2)
}
"""What nearly every older record is: of a version as it is usually spelt, with one id and without demands."""


def recognise(value: Any) -> tuple[Identity | None, tuple[Fault, ...]]:
    """The identity of a parsed value, or None where it must not be read; and what is wrong with its claim."""
    if not isinstance(value, dict):
        return None, (Fault("SP003", f"expected a JSON object, got {_type(value)}{_in_lines(value)}"),)
    kind, said = value.get("recordType"), value.get("schemaVersion")
    if "requires" not in value and type(said) is str:
        if said == "v3" and type(kind) is str and kind in _PLAIN:
            return _PLAIN[kind], ()
        if (
            said in _OLD
            and "recordType" not in value
            and ("checkpointId" in value) is not ("actionId" in value)
        ):
            return _OLD[said]["checkpoint" if "checkpointId" in value else "ledger"], ()
    ids = [kind for member, kind in _ID_MEMBERS.items() if member in value]
    if not ids and "recordType" not in value:
        message = (
            "not a Safepoint record: expected a member recordType (v3), checkpointId or actionId (v1, v2)"
        )
        hint = resembles_record(value)
        return None, (Fault("SP003", f"{message}; {hint}" if hint else message),)
    version = _version(value, nameless_ledger=ids == ["ledger"] and "recordType" not in value)
    if isinstance(version, Fault):
        return None, (version,)
    kind = _kind(value, version, ids)
    if isinstance(kind, Fault):
        return None, (kind,)
    blocking = tuple(_unknown(value, "read", _READ_REQUIREMENTS, "SP217", "reads"))
    noted = tuple(_unknown(value, "resume", _RESUME_REQUIREMENTS, "SP218", "resumes"))
    return (None if blocking else Identity(kind, version)), blocking + noted


def resembles_record(value: Any) -> str | None:
    """Why a value that is not recognised looks like a damaged record of ours, for a message; None where it does not.

    A record whose one telling member is misspelt must not pass for somebody else's JSON: nobody would look at it.
    """
    if not isinstance(value, dict) or any(name in value for name in _NAMING):
        return None
    if "runId" in value:
        for name in value:
            if meant := _misspelt(name):
                return f"did you mean {meant} instead of {_shown(name)}?"
        if "schemaVersion" in value:
            return "it looks like one, since it has runId and schemaVersion"
    ours = sorted(_TELLING & value.keys())
    return f"it looks like one, since it has {', '.join(ours[:4])}" if len(ours) >= 3 else None


def _misspelt(name: str) -> str | None:
    """The naming member that `name` nearly is."""
    from difflib import get_close_matches

    plain = {meant.lower(): meant for meant in _NAMING}
    near = get_close_matches(name[:40].lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=0.87)
    return plain[near[0]] if near else None


def _in_lines(value: Any) -> str:
    """What to do with an array of records."""
    ours = isinstance(value, list) and any(
        isinstance(item, dict) and (any(name in item for name in _NAMING) or resembles_record(item))
        for item in value
    )
    return "; write several records as JSON Lines: a .jsonl file, one record on each line" if ours else ""


def _version(value: Mapping[str, Any], *, nameless_ledger: bool) -> Version | Fault:
    if "schemaVersion" not in value:
        if nameless_ledger:
            return V2
        return Fault(
            "SP214", f"schemaVersion is missing: expected a version such as {CURRENT}, none is assumed"
        )
    text = value["schemaVersion"]
    if not isinstance(text, str):
        message = f"schemaVersion: expected a string such as {CURRENT}, got {_type(text)}"
        return Fault("SP201", message, "/schemaVersion")
    version = Version.parse(text)
    if version is None or version.major == 0:
        message = f"schemaVersion: expected vMAJOR or vMAJOR.MINOR such as {CURRENT}, got {_shown(text)}"
        return Fault("SP215", message, "/schemaVersion")
    if version.major > CURRENT.major:
        message = (
            f"schemaVersion: expected at most {CURRENT}, which this version of Safepoint reads, got {version}"
        )
        return Fault("SP216", message, "/schemaVersion")
    return version


def _kind(value: Mapping[str, Any], version: Version, ids: list[str]) -> str | Fault:
    if "recordType" not in value:
        if version.major < V3.major:
            return ids[0]
        return Fault("SP202", f"recordType is missing: a {version} record names its kind")
    kind = value["recordType"]
    if not isinstance(kind, str):
        return Fault("SP201", f"recordType: expected a string, got {_type(kind)}", "/recordType")
    known = KINDS[version.major]
    if kind not in known:
        expected = ", ".join(sorted(known))
        message = f"recordType: expected a kind of {version} ({expected}), got {_shown(kind)}"
        return Fault("SP213", message, "/recordType")
    return kind


def _unknown(
    value: Mapping[str, Any], what: str, known: frozenset[str], code: str, verb: str
) -> Iterator[Fault]:
    # whatever is not a list of strings here is the schema's to refuse
    requires = value.get("requires")
    names = requires.get(what) if isinstance(requires, dict) else None
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name not in known:
            message = (
                f"requires {_shown(name)} of whoever {verb} it, which this version of Safepoint does not know"
            )
            yield Fault(code, message, join("requires", what, index))


def _type(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def _shown(text: str) -> str:
    # repr escapes control and bidirectional characters, so a name cannot rewrite the terminal that shows it
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}…"
