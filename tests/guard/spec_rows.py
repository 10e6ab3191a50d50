"""Which stored case shows what: rows of SPEC.md's tables, answers of preconditions, reports from the field.

`test_coverage` holds these tables against SPEC.md and against the cases.
"""

from __future__ import annotations

from collections.abc import Mapping

LAYERS = ("integrity", "terminal", "ownership", "budget", "effects", "world")
"""The layers that SPEC.md tells in tables; compatibility and compensation are told in words, and shown code by code."""

ROWS: Mapping[str, Mapping[str, Mapping[str, str | None]]] = {
    "integrity": {
        "a fault that the fold finds": {
            "sequence-missing": "SP301",
            "chain-broken": "SP303",
            "stale-writer": "SP304",
        },
        "a text of the run that cannot be read": {
            "attempt-unreadable": "SP111",
            "append-glued-two-records": "SP103",
            "ledger-torn": "SP113",
            "journal-file-of-no-known-name": "SP005",
        },
        "written by a newer major version": {
            "written-by-a-newer-version": "SP216",
            "read-requirement-unknown": "SP217",
        },
        "a repair has set something": {"set-aside-by-a-repair": "SP011"},
        "a [copy](#copies) that is not whole": {
            "copy-cut-short": "SP330",
            "copy-not-begun": "SP330",
            "copy-sealed-behind-another-head": "SP331",
            "copy-seal-without-origin": "SP331",
            "copy-that-went-on": "SP799",
        },
        "an unknown name under `requires.resume`": {"resume-requirement-unknown": "SP218"},
        "`facts.heads` or an [anchor]": {
            "tail-cut": "SP708",
            "head-differs": "SP709",
            "anchored-head-differs": "SP709",
            "lines-cut-since-the-anchor": "SP708",
        },
        "an anchor has seen texts": {"anchored-text-gone": "SP708", "anchored-text-mended": "SP799"},
        "an anchor has seen another": {
            "anchored-description-differs": "SP329",
            "anchored-description": "SP799",
        },
        "a record that was lowered": {"v2-lowered-from-a-journal": "SP314"},
        "`safepoint.json` of a newer version": {
            "store-of-a-newer-version": "SP216",
            "store-with-an-unknown-feature": "SP217",
        },
        "the newest checkpoint was retracted": {
            "newest-checkpoint-retracted": "SP703",
            "newest-checkpoint-torn": "SP703",
            "newest-checkpoint-unreadable": "SP103",
        },
        "several checkpoints may be the newest": {"v2-two-newest-checkpoints": "SP704"},
        "no checkpoint is left": {"every-checkpoint-retracted": "SP701"},
        "the only checkpoint cannot be read": {"only-checkpoint-unreadable": "SP103"},
        "no checkpoint was ever written": {"no-checkpoint-yet": "SP702"},
        "the request names a checkpoint": {"roll-back-to-nowhere": "SP706", "roll-back": "SP760"},
        "the goal is `roll_back`": {"roll-back-to-no-named-checkpoint": "SP718"},
        "a journal record that does not lie": {
            "lines-unanchored": "SP707",
            "lines-behind-an-anchor": "SP707",
            "lines-anchored": "SP799",
        },
    },
    "terminal": {
        "deleted": {"deleted": "SP717"},
        "sealed": {"sealed": "SP713"},
        "completed, nothing open": {"completed": "SP710"},
        "cancelled, nothing open": {"cancelled": "SP711"},
        "asked to stop, nothing open": {"asked-to-stop": "SP714"},
        "completed, cancelled or asked to stop": {
            "completed-with-an-open-effect": "SP712",
            "ended-with-an-effect-that-can-be-probed": "SP712",
        },
        "asked to stop in the middle": {"asked-to-stop-half-undone": "SP741"},
        "failed": {"failed-run": "SP715"},
    },
    "ownership": {
        "the caller's epoch is older": {"caller-fenced": "SP720"},
        "the caller's epoch was never": {"epoch-from-nowhere": "SP724"},
        "another's lease is live": {
            "lease-live": "SP721",
            "lease-live-owner-dead": "SP799",
            "lease-released": "SP799",
        },
        "another recovery episode": {"two-recoveries-at-once": "SP722"},
        "no lease": {"v2-absence-proves-nothing": "SP723", "v2-vouched-for": "SP760"},
        "level Records": {"v2-absence-proves-nothing": "SP705", "v2-vouched-for": "SP760"},
        "nothing keeps two claims apart": {
            "store-cannot-fence": "SP725",
            "store-fenced-by-word": "SP799",
            "store-cannot-fence-completed": "SP710",
        },
        "a [copy](#copies) with a numbered journal": {
            "copy-not-sealed": "SP726",
            "copy-claimed-before-it-was-made": "SP726",
            "copy-sealed": "SP799",
            "copy-owner-dead": "SP799",
            "copy-claimed-since": "SP799",
            "copy-claimed-since-owner-dead": "SP799",
            "copy-of-a-completed-run": "SP710",
            "copy-not-sealed-inspect": "SP716",
        },
    },
    "budget": {
        "last sign of the last attempt": {"cooling-down": "SP750"},
        "a breaker in `facts.fleet`": {"breaker-open": "SP751"},
        "`attemptsWithoutProgress` attempts": {
            "no-progress": "SP752",
            "no-progress-given-up": "SP752",
            "no-progress-with-an-open-effect": "SP752",
        },
        "`attemptsInLife` attempts": {"attempts-spent": "SP753"},
        "nothing happened for longer than `automatic": {"lain-too-long": "SP754"},
        "the run's budget": {"budget-spent": "SP755", "recovery-too-dear": "SP755"},
        "a budget is set": {"cost-unknown": "SP756"},
        "`facts.fleet`: more recoveries": {"fleet-recovering": "SP758"},
        "`facts.fleet.observedAt` is older": {"fleet-counted-too-long-ago": "SP790"},
        "nothing happened for longer than `hard": {"beyond-the-hard-limit": "SP757"},
    },
    "effects": {
        "committed, compensated, cancelled": {
            "committed": "SP760",
            "approval-of-a-withdrawn-action": "SP760",
        },
        "planned": {"planned": "SP761"},
        "abandoned": {"abandoned-may-skip": "SP771", "abandoned": "SP771"},
        "failed, retryable, attempts left / keyed": {"failed-retryable-key-lapsed": "SP767"},
        "failed, retryable, attempts left / otherwise": {"failed-retryable": "SP768"},
        "failed for good": {"failed-for-good-undoable": "SP769", "failed-for-good": "SP769"},
        "attempting": {"attempt-under-way": "SP764"},
        "in doubt, failed, prepared": {
            "probe-applied": "SP776",
            "failed-and-found-applied": "SP776",
        },
        "never attempted": {"planned-and-found-applied": "SP776"},
        "in doubt / a read": {"read-in-doubt": "SP762"},
        "in doubt / natural, and": {"natural-in-doubt": "SP762"},
        "in doubt / natural, otherwise": {
            "natural-too-early": "SP773",
            "v2-natural-of-unknown-deadline": "SP773",
        },
        "in doubt / keyed, fingerprint": {"lost-answer-keyed": "SP763"},
        "in doubt / a probe is declared": {"lost-answer-probe": "SP765", "key-lapsed-probe": "SP765"},
        "in doubt / `probesPerAction`": {"probes-spent": "SP774", "probes-spent-by-time": "SP774"},
        "in doubt / answered `notApplied`, rule N not": {
            "probe-not-found-owner-unknown": "SP775",
            "probe-not-found-too-early": "SP775",
            "probe-not-found-eventual": "SP775",
        },
        "in doubt / answered `notApplied`, rule N fulfilled": {
            "probe-not-found-proven": "SP777",
            "probe-not-found-proven-key-lapsed": "SP767",
        },
        "in doubt / `compensationConsumesKey`": {"undo-is-harmless": "SP772"},
        "in doubt / keyed, cut-off passed": {"key-lapsed": "SP767"},
        "in doubt / otherwise": {"lost-answer-unkeyed": "SP766"},
        "prepared": {
            "reservation-held": "SP770",
            "reservation-can-be-probed": "SP770",
            "reservation-of-unknown-expiry": "SP770",
            "reservation-expired": "SP770",
            "reservation-rolling-back": "SP770",
        },
        "compensating": {"roll-back-begun": "SP741", "compensation-failed": "SP740"},
    },
    "world": {
        "facts that are `maxFactAgeSeconds` old": {"facts-stale": "SP790"},
        "the last word": {"approval-pending": "SP780"},
        "rejected or revoked": {
            "approval-rejected": "SP781",
            "approval-revoked": "SP781",
            "approval-expired": "SP782",
            "approval-never-answered": "SP782",
            "approval-for-other-content": "SP783",
            "approval-that-cannot-be-compared": "SP783",
            "approval-by-somebody-else": "SP795",
            "roll-back-behind-an-approval": "SP785",
            "approval-for-another-branch": "SP785",
            "gate-passed-before": "SP794",
        },
        "a human gate": {"gate-unasked": "SP784"},
        "a precondition that holds": {"external-equal": "SP799"},
        "one that does not hold": {"external-moved": "SP791"},
        "one for which there is no fact": {"external-unknown": "SP789"},
        "one of unknown type": {"precondition-of-unknown-type": "SP788"},
        "`externalVersion` moved": {"external-moved-rerun": "SP792"},
        "an artifact of the checkpoint": {"artifact-remade": "SP796", "artifact-damaged-remade": "SP796"},
        "one that nothing makes again": {"artifact-missing": "SP786", "artifact-damaged": "SP787"},
        "one that nobody could look at": {
            "artifact-elsewhere": "SP793",
            "artifact-elsewhere-vouched-for": "SP799",
        },
    },
}
"""Layer, how the row begins, and its cases with the code that each must have."""

PRECONDITIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "externalVersion": {
        "holds": ("external-equal", "resume"),
        "broken": ("external-moved", "hand_over"),
        "cannot tell": ("external-unknown", "reconcile"),
    },
    "externalEquals": {
        "holds": ("external-value-equal", "resume"),
        "broken": ("external-value-other", "hand_over"),
        "cannot tell": ("external-value-unknown", "reconcile"),
    },
    "approvalGranted": {
        "holds": ("needs-approval-granted", "resume"),
        "broken": ("needs-approval-rejected", "hand_over"),
        "not yet": ("needs-approval-pending", "wait"),
        "cannot tell": ("needs-approval-unknown", "reconcile"),
    },
    "artifactPresent": {
        "holds": ("artifact-needed-and-present", "resume"),
        "broken": ("artifact-needed-and-missing", "hand_over"),
        "cannot tell": ("artifact-needed-and-unknown", "reconcile"),
    },
    "notAfter": {
        "holds": ("not-after-ahead", "resume"),
        "broken": ("not-after-passed", "hand_over"),
        "cannot tell": ("not-after-unreadable", "hand_over"),
    },
    "outboxState": {
        "holds": ("outbox-as-expected", "resume"),
        "broken": ("outbox-already-sent", "hand_over"),
        "cannot tell": ("outbox-unknown", "reconcile"),
    },
    "moonPhase": {"cannot tell": ("precondition-of-unknown-type", "hand_over")},
}
"""Each type, what the facts say to it, and the case and its verdict. A limit that is no time is never fetched."""

NEVER_ALONE: Mapping[str, tuple[str, str]] = {
    "SP704": (
        "SP760",
        "two newest checkpoints lie at level Records, where a case without any action would be another",
    ),
    "SP705": ("SP723", "records without an order have no lease either, and both are asked for together"),
    "SP710": ("SP760", "a completed run has done something"),
    "SP712": ("SP766", "an open effect is judged by itself as well"),
    "SP723": ("SP705", "as SP705"),
    "SP736": ("SP760", "the effect that was begun is judged by itself as well"),
    "SP742": ("SP760", "what is to be undone is committed"),
    "SP743": ("SP742", "as SP742"),
    "SP745": ("SP744", "what was not begun is left out of a run that is being undone"),
    "SP746": ("SP760", "what is undone was done"),
    "SP747": ("SP745", "only records are missing of something"),
    "SP783": ("SP761", "another content stands in a ledger record of the action"),
    "SP792": ("SP762", "there is a read to run again"),
    "SP795": ("SP761", "an action waits for the answer"),
    "SP796": ("SP760", "the step that makes the artifact again has read something"),
}
"""Reasons that come with another by their nature: with which one here, and why."""

FIELD: Mapping[int, tuple[tuple[str, ...], Mapping[str, str]]] = {
    1: (
        ("claude-code#52387", "ms-agent PR#1000"),
        {
            "attempt-unreadable": "hand_over",
            "ledger-torn": "hand_over",
            "append-glued-two-records": "hand_over",
        },
    ),
    8: (
        ("Lightning#19970", "diffusion-pipe#159", "agent-framework#7831"),
        {
            "newest-checkpoint-unreadable": "hand_over",
            "newest-checkpoint-empty": "hand_over",
            "newest-checkpoint-torn": "resume",
        },
    ),
    9: (("hive#7263",), {"only-checkpoint-unreadable": "hand_over", "no-checkpoint-yet": "resume"}),
    10: (
        ("crewAI#5802", "doordash-cli#56"),
        {
            "lost-answer-unkeyed": "hand_over",
            "paid-twice": "hand_over",
            "lost-answer-keyed": "resume",
            "lost-answer-probe": "reconcile",
        },
    ),
    11: (
        ("trading-gpt#94", "ccxt#2599", "uniswapx PR#450"),
        {"failed-by-timeout": "hand_over", "failed-by-a-reset": "hand_over"},
    ),
    12: (("langgraph#7417",), {"long-call-lease-live": "wait", "long-call-lease-lapsed": "hand_over"}),
    13: (
        ("langgraph#8039",),
        {"ledger-ahead-of-checkpoint": "resume", "checkpoint-ahead-of-ledger": "hand_over"},
    ),
    14: (
        ("extra-org/extra#139", "pydantic-ai#6968"),
        {"approval-for-other-content": "hand_over", "approved-call-changed-before-it-was-sent": "hand_over"},
    ),
    15: (
        ("octos#1451", "opencompany#1805"),
        {
            "approval-expired": "hand_over",
            "approval-never-answered": "hand_over",
            "approval-pending-for-thirty-days": "hand_over",
        },
    ),
    16: (
        ("mastra PR#20487", "mastra PR#19377"),
        {
            "approval-rejected": "hand_over",
            "approval-of-a-withdrawn-action": "resume",
            "approval-of-another-call": "hand_over",
        },
    ),
    17: (("claude-code#39151", "adk-python#4751"), {"stale-writer": "hand_over", "second-claimer": "wait"}),
    18: (
        ("occurrent#659", "adk-python#3717"),
        {"lease-lapsed-within-the-skew": "wait", "equal-timestamps": "resume"},
    ),
    19: (
        ("aegra#502", "tagent-core#56"),
        {
            "same-holder-other-lease": "wait",
            "same-holder-dead-by-name": "wait",
            "late-commit-with-a-response": "resume",
            "late-commit-without-evidence": "hand_over",
        },
    ),
    22: (("agent-framework#6466",), {"only-the-writers-version-differs": "resume"}),
    23: (("openai-agents PR#2502",), {"written-by-a-newer-version": "hand_over"}),
    30: (("fabrik#1414",), {"no-progress": "hand_over"}),
}
"""Number of the report, its threads, and the cases with the verdict that is right."""
