"""Damages that no validator can see, or that SPEC.md says nothing against: each with its reason.

A pattern names a kind and, behind it, the record and the member, as ``ledger.committed /evidence/ref``. What is not
found and not listed here fails the test. A damage that *is* found needs no place here, even where a pattern fits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PAYLOAD = (
    r"\S+ /(input|inputSnapshot|stateSnapshot|result|x-[a-z0-9._-]+|resumePreconditions/-/expected|"
    r"external/[^/]+/value)(/.*)?"
)
"""Members that may hold any JSON value."""

MAP = (
    r"\S+ /(labels|definition|guardContext|approvals|external|outbox|probes|actions|workflows|metrics|declares|runs)"
    r"(/[^ ]+|/<[^>]*>)?"
)
"""Members whose own names anybody chooses."""

TEXT = (
    r"\S+ .*/(actionId|actor|approvalId|artifactId|artifactRefs/-|by|checkpointId|class|compensates|compensation|"
    r"externalRef|failureEvidence|failureSignature|fromCheckpointId|holder|idempotencyKey|key|knownSteps/-|mediaType|"
    r"message|messageId|nextSteps/-|notChecked/-|note|outcome|parentCheckpointId|pointer|producedBy|proof|reason|ref|"
    r"runId|schemaVersion|state|stepName|store|subject|targets/-|team|tool|trigger|type|unit|uri|version|workflow|"
    r"part|episodeId|parentRunId|source|quarantine)"
)
"""Ids, names and texts: any other is one too. That ids of several records agree is damaged by other kinds."""

NULLABLE = (
    r"(?!v1)\S+ .*/(actor|contentDigest|createdAt|expiresAt|reason|artifactRefs|digest|mediaType|producedBy|size|uri|"
    r"guardContext|guardHash|lastLedgerSequence|migratedFrom/schemaVersion|nextSteps|payloadSchema|"
    r"replaySafeActions|resumePreconditions|externalMessageSent|writePerformed|usage|attempts|costMicros|currency|"
    r"seconds|tokens|factsDigest|sequence|checkpointId|key|pointer|validUntil|attemptNumber|by|externalRef|ref|version|"
    r"holder|purpose|attempt|sendBefore|compensates|compensation|dedupeWindowSeconds|deliveryState|retryable|evidence|"
    r"idempotencyKey|messageId|requestFingerprint|notify_customer|runBudgetCostMicros|cost|failureEvidence|"
    r"failureOf|failureSignature|fromCheckpointId|outcome|trigger|ttlSeconds|note|value|workflow|definition|labels|"
    r"declares|error|message|authorization|notBefore|resultRef|branch|episodeId|parentCheckpointId|parentRunId|"
    r"decisionDigest|forkFrom|leaseEpoch|released|migratedFrom|storeDocument|quarantine)"
)
"""Members for which null is a value: unknown, or none."""

OPTIONAL = (
    r"(?!v1)\S+ .*/(actor|contentDigest|expiresAt|reason|producedBy|guardContext|guardHash|lastLedgerSequence|"
    r"migratedFrom|payloadMigratedFrom|nextSteps|orderEvidence|parentCheckpointId|payloadSchema|replaySafeActions|resumePreconditions|usage|attempts|"
    r"costMicros|currency|seconds|tokens|by|externalRef|ref|observedAt|version|value|fleet|breakers|recoveriesLastHour|"
    r"startsLastHour|heads|journal|knownSteps|knownPayloadSchemas|ledgerComplete|outbox|owners|probes|approvals|external|authorization|"
    r"holder|purpose|ttlSeconds|attempt|sendBefore|compensates|compensation|compensationConsumesKey|declares|"
    r"dedupeWindowSeconds|effect|idempotency|probe|probeSettleSeconds|reversibility|deliveryState|error|message|"
    r"evidence|messageId|requestFingerprint|actions|attemptsWithoutProgress|breaker|failedFraction|minimum|openSeconds|"
    r"window|compatibleWith|cooldownSeconds|onBudgetReached|runBudgetCostMicros|workflows|attemptsInLife|cost|"
    r"failureEvidence|failureOf|failureSignature|fromCheckpointId|leaseEpoch|outcome|trigger|note|checkpointId|"
    r"definition|labels|parentRunId|workflow|features|actionId|resultRef|branch|episodeId|requires|read|resume|"
    r"decisionDigest|notBefore|forkFrom|attemptNumber|released|input|observedAt|createdAt|"
    r"accepted|recovery|records|unread|deleted|texts|pointer|line|lastLine|behind|more)"
)
"""Members that may be absent."""


@dataclass(frozen=True, slots=True)
class Harmless:
    """A pattern of damages that need not be found."""

    kind: str
    what: str
    reason: str


HARMLESS = (
    Harmless(
        ".*",
        PAYLOAD,
        "payloads are the user's: any JSON value may stand there",
    ),
    Harmless(
        "member .*|type tag added",
        rf"{PAYLOAD}|{MAP}|{MAP}/\S+",
        "the names in a map are entries, and any may be there",
    ),
    Harmless(
        "member added|type tag added",
        "checkpoint .*/(bogus|__class__)",
        "information where the record names a newer minor version",
    ),
    Harmless(
        "kind policy",
        "checkpoint",
        "information where the record names a newer minor version, in which a policy may have any members",
    ),
    Harmless(
        ".*",
        "checkpoint /shiny",
        "a member of a newer minor version, which is kept",
    ),
    Harmless(
        "no value",
        r"\S+ .*/-",
        "a list with one element less",
    ),
    Harmless(
        "null",
        NULLABLE,
        "null is a value there: unknown, or none",
    ),
    Harmless(
        "member lost",
        f"{OPTIONAL}|{MAP}",
        "the member is optional: its writer says nothing",
    ),
    Harmless(
        "member lost",
        r"v2-ledger\S* /(schemaVersion|createdAt)|v1-ledger\S* /createdAt",
        "v2 ledger records need neither",
    ),
    Harmless(
        "version v2",
        r"v2-ledger\S*",
        "without a version it was one of v2",
    ),
    Harmless(
        "another text|space at the end|upper case",
        TEXT,
        "ids and names are free, and equal only to themselves",
    ),
    Harmless(
        "control character|line feed at the end|text of 5000|empty text",
        r"\S+ .*/(reason|ref|message|proof|failureEvidence|outcome|note|store|key|pointer|version|"
        "notChecked/-|team|migratedFrom/schemaVersion|source|quarantine)",
        "a text for humans may have several lines",
    ),
    Harmless(
        "empty list",
        r"\S+ .*/(artifactRefs|nextSteps|resumePreconditions|notChecked|plan|reasons|knownSteps|"
        "knownPayloadSchemas|"
        "owners|compatibleWith|breakers|missingEvidence|records|objects|texts)",
        "it is known that there are none",
    ),
    Harmless(
        "empty object",
        r"\S+ .*/(usage|cost|declares|breaker|fleet|heads|from|guardContext|definition|labels|actions|"
        "workflows|metrics|approvals|external|outbox|probes|notify_customer|support|"
        r"customer\.c_456|runs|run-\d)",
        "it is known that there are none",
    ),
    Harmless(
        "element twice",
        r"\S+ .*/(nextSteps|resumePreconditions|notChecked|plan|reasons|owners|compatibleWith|records|objects|texts)",
        "only lists marked so may name nothing twice",
    ),
    Harmless(
        "fraction",
        r"\S+ .*/(seconds|failedFraction|value|recoveryCostFraction|sendWindowFraction)",
        "it need not be whole",
    ),
    Harmless(
        "negative",
        "report .*/value",
        "a figure may be below zero",
    ),
    Harmless(
        "number as text|text as number",
        r"facts /external/\S+/version",
        "a version is a text or a number",
    ),
    Harmless(
        "time with an offset",
        r"v[12]-\S+ /createdAt",
        "v1 and v2 allow an offset",
    ),
    Harmless(
        "digest of another hash|digest without its name",
        r"facts /external/\S+",
        "a version is any text",
    ),
    Harmless(
        r"2\^53",
        r"\S+ .*/(value|seconds)",
        "a figure that need not be whole is a float",
    ),
    Harmless(
        ".*(byte|bit|bytes|inserted|doubled|cut off|lost|zeroed).*",
        r"\S+ the same value",
        "white space between tokens, or another spelling of the same value; a digest behind it "
        "would have told",
    ),
    Harmless(
        ".*(byte|bit|bytes|inserted).*",
        r"\S+ (?!/(recordType|schemaVersion|sequence|previousDigest|leaseEpoch)$)/\S+|anchor /previousDigest",
        "a value became another that might stand there, in a record that no digest covers: a loose "
        "one, or a log's last",
    ),
    Harmless(
        "carriage return behind",
        r"\S+ the same value",
        "white space behind the only text of a file",
    ),
    Harmless(
        "line twice",
        r"\S+ the same value",
        "equal bytes are one record, however often they are found",
    ),
    Harmless(
        "two lines swapped",
        r"\S+.*",
        "the order of lines means nothing: the records know theirs",
    ),
    Harmless(
        "lines behind lost",
        r"\S+.*",
        "the same at every line: a file that ends at a line end looks whole",
    ),
    Harmless(
        "tail cut off|line lost|text emptied",
        r"\S+ the last of its log",
        "a tail that is cut off at a line end leaves nothing that could tell",
    ),
    Harmless(
        "line lost|lines before lost|lines behind lost|text emptied",
        r"v[12]-\S+.*",
        "records without a number: nobody knows how many there were",
    ),
    Harmless(
        "made (earlier|later)",
        r"\S+ /createdAt",
        "times order nothing where records have numbers",
    ),
    Harmless(
        "another writer's nonce|another lease's nonce.*",
        r"(approval|evidence|retract|run|recovery)\S* /nonce(,leaseEpoch)?",
        "anybody may write what is written under no epoch; an episode goes from process to process",
    ),
    Harmless(
        "another writer's nonce",
        "lease.claimed /nonce",
        "a claim that nothing follows may carry any token",
    ),
    Harmless(
        "another effect declared|another idempotency declared|window lost|declared late",
        r"ledger\S* /declares",
        "what a tool can do is its writer's word",
    ),
    Harmless(
        "no fingerprint|content lost|actor lost|holder lost|expiry removed|expiry far off|"
        "attempt lost|sendBefore lost",
        r"\S+ /\S+",
        "the member is optional there, and what a first record said still holds",
    ),
    Harmless(
        "attempt begun (earlier|later than its record)|started after sendBefore|sendBefore far off|deadline far off",
        r"ledger\.(committed|failed|inDoubt|prepared) /attempt",
        "the record that began the attempt decides about its times",
    ),
    Harmless(
        "attempt begun (earlier|later than its record)|deadline far off",
        r"ledger\.attempting /attempt",
        "clocks differ; a start later than its record is not believed",
    ),
    Harmless(
        "evidence of a .*|evidence from the future|another effect seen|for any attempt",
        r"(ledger|evidence)\S* /\S+",
        "evidence is its witness's word, and clocks differ",
    ),
    Harmless(
        "event (consumed|expired|granted|rejected|revoked)",
        r"approval\S* /\S+",
        "another answer that might have been given, and that nothing relied on",
    ),
    Harmless(
        "status (abandoned|attempting|cancelled|committed|compensationFailed|completed|failed|inDoubt|planned|"
        "prepared|sealed)",
        r"(ledger|run)\S* /\S+",
        "another turn that it might have taken, and that nothing relied on",
    ),
    Harmless(
        r"state \w+",
        r"recovery\S* /state",
        "another turn that the episode might have taken",
    ),
    Harmless(
        "purpose .*",
        r"lease\.(claimed|released) /purpose",
        "what a lease is for is its owner's word; behind an end it is looked at",
    ),
    Harmless(
        "another artifact's digest|another size",
        "checkpoint /artifactRefs",
        "an artifact that is not in the store is not looked at",
    ),
    Harmless(
        "beat .*",
        r"heartbeat\S*",
        "a heartbeat is a hint: one that is not its lease's is ignored",
    ),
    Harmless(
        "after (completed|cancelled|sealed)",
        r"(retract|evidence|approval|lease|run\.sealed)\S*",
        "what follows is legal behind an end",
    ),
    Harmless(
        "two in the other order|moved to the (end|beginning)",
        r"(approval|checkpoint|retract|evidence|lease|run\.cancelRequested|run\.failed|run\.sealed|"
        r"ledger\.committed|ledger\.compensating|ledger\.attempting)\S*( before .*)?",
        "an order in which it might have happened",
    ),
    Harmless(
        "written (twice|again at the end)",
        r"(evidence|retract|run\.cancelRequested|run\.failed|run\.sealed|ledger\.compensating)\S*",
        "to say it again changes nothing",
    ),
    Harmless(
        "never written",
        r"lease\.claimed",
        "a run without leases is one of level Journal",
    ),
    Harmless(
        "never written",
        r"recovery\.resuming\S*( in .*)?",
        "an attempt may die between its claim and its start",
    ),
    Harmless(
        "attempt number far off",
        r"recovery\S* /attemptNumber",
        "attempts are counted by the journal's leases, not there",
    ),
    Harmless(
        "gate that nobody was asked at",
        "checkpoint /reason",
        "the guard waits there and says so",
    ),
    Harmless(
        "expired before it was made",
        r"approval\.(rejected|expired|revoked) /expiresAt",
        "only a question and a yes are good for a time",
    ),
    Harmless(
        "(writePerformed|externalMessageSent) claimed",
        "checkpoint /sideEffectStatus",
        "where an effect was begun: whether a message is a write, or a refused one counts, is its writer's word",
    ),
    Harmless(
        "for an action that is not there",
        r"approval\.requested /actionId",
        "the action may still come; once the run is completed it is looked for",
    ),
    Harmless(
        "content changed",
        r"approval\.granted /contentDigest",
        "where the question named no content, the yes does",
    ),
    Harmless(
        "attempt number of the first",
        r"ledger\.committed /attempt",
        "of two open attempts, either may be the one that was applied",
    ),
    Harmless(
        "retryable flipped",
        r"ledger\.failed /error",
        "whether it may be tried again is its writer's word, where nobody tried",
    ),
    Harmless(
        "written again at the end",
        r"ledger\.failed",
        "it names no attempt, and so it speaks of the one that is open by then",
    ),
    Harmless(
        "another episode",
        r"recovery\.detected /episodeId",
        "an episode of which nothing else speaks may bear any name",
    ),
    Harmless(
        "another run|numbers forgotten",
        r"run\.started( /runId)?",
        "of a run that is but one record, nothing else says whose it is, or that it had a number",
    ),
    Harmless(
        "epoch of the episode lost",
        r"recovery\.(?!claimed )\S+ /leaseEpoch",
        "the record of the claim says it",
    ),
    Harmless(
        "never written",
        r"recovery\.(claimed|assessing)",
        "whoever claims may die before the log says so, and whoever waits may give up without another look",
    ),
    Harmless(
        "one folder up|outside of the runs",
        r"\S+",
        "a loose file: a name is a place to look, never a fact",
    ),
)


def reason(kind: str, what: str) -> str | None:
    """Why a damage of that kind at that place does no harm; None: it must be found."""
    return next(
        (
            harmless.reason
            for harmless in HARMLESS
            if re.fullmatch(harmless.kind, kind) and re.fullmatch(harmless.what, what)
        ),
        None,
    )
