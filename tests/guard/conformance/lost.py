"""What was lost with the worker: artifacts that a step makes again, results of steps, who may answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journals import Journal, at, declares, digest
from questions import KEYED, PAY, facts, request, started

from conformance.case import Case
from safepoint.core.digest import digest_bytes

PLAN = b"# plan\n"
REFERENCE = {
    "artifactId": "plan",
    "uri": "artifacts/plan.md",
    "digest": digest_bytes(PLAN),
    "size": len(PLAN),
    "mediaType": "text/markdown",
    "producedBy": "plan",
}
READ = declares(effect="read")


def planned(**reference: Any) -> Journal:
    """A checkpoint that needs a plan, which step ``plan`` made with what it read."""
    journal = Journal().begin().ledger(2, "attempting", "look", stepName="plan", declares=READ)
    journal.ledger(3, "committed", "look", stepName="plan")
    return journal.checkpoint(4, artifactRefs=[{**REFERENCE, **reference}])


def cases() -> Iterator[Case]:
    yield from artifacts()
    yield from results()
    yield from answers()
    yield from found_after_all()
    yield from gates()
    yield from again()
    yield from of_its_own_age()
    yield from settings()


def artifacts() -> Iterator[Case]:
    yield Case(
        "artifact-remade",
        "The plan is gone, and the step that made it only reads.",
        planned(),
        "resume",
        ["SP760", "SP796"],
    )
    yield Case(
        "artifact-remade-with-a-precondition",
        "A precondition asks for the artifact that is made again.",
        planned_with_precondition(),
        "resume",
        ["SP760", "SP796"],
    )
    yield Case(
        "artifact-damaged-remade",
        "The plan was changed where it lies, and is made again elsewhere.",
        planned(),
        "resume",
        ["SP760", "SP796"],
        files={"runs/run-1/artifacts/plan.md": b"# plot\n"},
    )
    own = f"artifacts/sha256/{digest_bytes(PLAN).removeprefix('sha256:')}"
    for name, uri in (("artifact-damaged-in-its-own-place", None), ("artifact-damaged-by-its-digest", own)):
        yield Case(
            name,
            "Damaged bytes lie under the digest of the whole ones, where none can be written.",
            planned(uri=uri),
            "hand_over",
            ["SP760", "SP787"],
            files={f"runs/run-1/{own}": b"# plot\n"},
        )
    yield Case(
        "artifact-of-an-effect-missing",
        "The step that made the plan also sent something, so that it is not done again.",
        planned().ledger(5, "planned", "tell", stepName="plan"),
        "hand_over",
        ["SP760", "SP761", "SP786"],
    )
    yield Case(
        "artifact-used-and-missing",
        "Something was sent since the plan was there, and may rest on it.",
        planned().ledger(5, "attempting").ledger(6, "committed"),
        "hand_over",
        ["SP760", "SP760", "SP786"],
    )
    yield Case(
        "artifact-of-an-unknown-step-missing",
        "Today's code does not have the step that made the plan.",
        planned(),
        "hand_over",
        ["SP760", "SP786"],
        facts=facts(knownSteps=["notify", "update_status"]),
    )


def planned_with_precondition() -> Journal:
    journal = Journal().begin().ledger(2, "attempting", "look", stepName="plan", declares=READ)
    journal.ledger(3, "committed", "look", stepName="plan")
    needs = [{"type": "artifactPresent", "subject": "plan"}]
    return journal.checkpoint(4, artifactRefs=[REFERENCE], resumePreconditions=needs)


def results() -> Iterator[Case]:
    def behind(status: str, **members: Any) -> Journal:
        journal = started(nextSteps=["draft"], **members)
        journal.ledger(3, "attempting", declares=KEYED)
        return journal if status == "attempting" else journal.ledger(4, status)

    yield Case(
        "result-missing-of-a-keyed-effect",
        "What was drafted before the send is not saved, so that the same request may not come out again.",
        behind("attempting"),
        "hand_over",
        ["SP736", "SP763"],
    )
    yield Case(
        "result-missing-but-replay-safe",
        "The same, and the checkpoint says that this action may be sent again.",
        behind("attempting", replaySafeActions=["send"]),
        "resume",
        ["SP736", "SP763"],
    )
    yield Case(
        "result-missing-of-a-settled-effect",
        "What was drafted before the send is not saved; the send is skipped.",
        behind("committed"),
        "resume",
        ["SP736", "SP760"],
    )
    yield Case(
        "step-behind-the-next-one",
        "The checkpoint's own list says that the effect's step follows.",
        started(nextSteps=["draft", "notify"]).ledger(3, "attempting", declares=KEYED),
        "resume",
        ["SP736", "SP763"],
    )


def answers() -> Iterator[Case]:
    def granted(by: str) -> Journal:
        journal, about = started(), {"approvalId": "ap-1", "actionId": "send", "contentDigest": digest("f")}
        journal.add("approval", 3, event="requested", actor="ann", expiresAt=at(3600), **about)
        journal.add("approval", 4, event="granted", actor=by, expiresAt=at(3600), **about)
        return journal.ledger(5, "planned")

    yield Case(
        "approval-by-the-one-who-was-asked",
        "Ann was asked, and said yes.",
        granted("ann"),
        "resume",
        ["SP761"],
    )
    yield Case(
        "approval-by-somebody-else",
        "Ann was asked, and somebody else said yes.",
        granted("eve"),
        "hand_over",
        ["SP761", "SP795"],
    )
    yield Case(
        "roll-back-to-no-named-checkpoint",
        "A roll-back has to say where to.",
        started().checkpoint(3, "cp-2"),
        "hand_over",
        ["SP718"],
        request=request("roll_back"),
    )


def found_after_all() -> Iterator[Case]:
    found = {
        "send": {"result": "applied", "consistency": "strong", "observedAt": at(190), "externalRef": "msg-1"}
    }
    yield Case(
        "failed-and-found-applied",
        "Recorded as failed, and a probe found it applied: it is not sent again.",
        started().ledger(3, "attempting").ledger(4, "failed"),
        "resume",
        ["SP776"],
        facts=facts(probes=found),
    )
    yield Case(
        "planned-and-found-applied",
        "The ledger knows of no attempt, and a probe found it applied.",
        started().ledger(3, "planned"),
        "hand_over",
        ["SP776"],
        facts=facts(probes=found),
    )
    yield Case(
        "failed-and-found-applied-to-be-undone",
        "A payment that was recorded as failed was made after all, and is undone with the rest.",
        started().ledger(3, "attempting", "send", declares=PAY).ledger(4, "failed", "send"),
        "compensate",
        ["SP742", "SP776"],
        facts=facts(probes=found),
        request=request("unwind"),
    )


def gates() -> Iterator[Case]:
    gate = {"reason": "humanGate", "nextSteps": ["publish"]}

    def asked(event: str) -> Journal:
        journal = started().ledger(3, "attempting").ledger(4, "committed").checkpoint(5, "cp-2", **gate)
        about = {
            "approvalId": "ap-1",
            "actionId": "send",
            "contentDigest": digest("f"),
            "expiresAt": at(9000),
        }
        journal.add("approval", 6, event="requested", **about)
        return (
            journal if event == "requested" else journal.add("approval", 7, event=event, actor="ann", **about)
        )

    yield Case(
        "gate-behind-a-question-about-something-done",
        "A question about an action that is done is no answer at the gate.",
        asked("requested"),
        "wait",
        ["SP760", "SP784"],
    )
    yield Case(
        "gate-behind-a-no-about-something-done",
        "A no about an action that is done is no leave to pass the gate.",
        asked("rejected"),
        "wait",
        ["SP760", "SP784"],
    )


def again() -> Iterator[Case]:
    moved = {"type": "externalVersion", "subject": "doc", "expected": "1"}
    journal = started(resumePreconditions=[moved], nextSteps=["look", "notify"])
    journal.ledger(3, "attempting", "look", stepName="look", declares=READ)
    journal.ledger(4, "committed", "look", stepName="look").ledger(5, "attempting", declares=KEYED)
    yield Case(
        "external-moved-behind-an-effect-in-doubt",
        "The reads would be done again, and the effect in doubt was made of what they found.",
        journal,
        "hand_over",
        ["SP736", "SP762", "SP763", "SP791"],
        facts=facts(external={"doc": {"version": "2"}}),
        policy={"recordType": "policy", "schemaVersion": "v3", "externalMoved": "rerun_reads"},
    )
    rolled = started(nextSteps=["draft"]).ledger(3, "attempting", stepName="late", declares=KEYED)
    rolled.claim(100, purpose="recovery", forkFrom={"checkpointId": "cp-1"}, branch="branch-2")
    yield Case(
        "result-missing-of-another-branch",
        "What was begun in the history that was left rests on results that this one does not have.",
        rolled.checkpoint(101, "cp-2", branch="branch-2", nextSteps=["draft"]),
        "hand_over",
        ["SP736", "SP763"],
        now=300,
    )


def of_its_own_age() -> Iterator[Case]:
    old = {"observedAt": at(3)}
    yield Case(
        "artifact-vouched-for-long-ago",
        "Somebody saw the artifact there, longer ago than facts may be.",
        started(artifactRefs=[{**REFERENCE, "uri": "https://files.example.org/plan.md"}]),
        "reconcile",
        ["SP793"],
        now=2000,
        facts=facts(1990, artifacts={"plan": {"state": "present", **old}}),
    )
    journal = started().add(
        "approval",
        3,
        approvalId="ap-1",
        actionId="send",
        event="requested",
        contentDigest=digest("f"),
        expiresAt=at(9000),
    )
    yield Case(
        "approval-granted-elsewhere-long-ago",
        "A yes outside the journal is as old as its observation, and nobody said it here.",
        journal,
        "wait",
        ["SP780"],
        now=2000,
        facts=facts(1990, approvals={"ap-1": {"state": "granted", **old}}),
    )
    yield Case(
        "approval-pending-for-other-content",
        "No answer to this question could help: something else would be sent.",
        journal_of_other_content(),
        "hand_over",
        ["SP761", "SP783"],
    )
    yield Case(
        "retry-the-next-step",
        "A step is to be tried again, and it is not said which: the first of the next ones.",
        started(),
        "resume",
        ["SP799"],
        request=request("retry_step"),
    )
    yield Case(
        "asked-to-stop-while-undoing",
        "Somebody asked it to stop in the middle of a roll-back, which is finished first.",
        started()
        .ledger(3, "attempting", "pay", declares=PAY)
        .ledger(4, "committed", "pay")
        .ledger(5, "compensating", "pay")
        .add("run", 6, status="cancelRequested"),
        "compensate",
        ["SP741", "SP741"],
    )


def journal_of_other_content() -> Journal:
    about = {"approvalId": "ap-1", "actionId": "send", "contentDigest": digest("a"), "expiresAt": at(9000)}
    return started().add("approval", 3, event="requested", **about).ledger(4, "planned")


def settings() -> Iterator[Case]:
    policy = {"recordType": "policy", "schemaVersion": "v3"}
    probed = started().ledger(3, "attempting", declares=declares(probe="byQuery"))
    unsure = {"result": "unknown", "consistency": "strong", "observedAt": at(190)}
    yield Case(
        "probes-spent-for-one-action",
        "Everything may be probed three times, and this action once.",
        probed,
        "hand_over",
        ["SP774"],
        facts=facts(probes={"send": unsure}),
        policy={**policy, "actionSettings": {"notify": {"probesPerAction": 1}}},
    )
    yield Case(
        "probes-spent-by-time",
        "The provider has been asked for an hour.",
        probed,
        "hand_over",
        ["SP774"],
        now=4000,
        facts=facts(3990, probes={"send": {**unsure, "observedAt": at(3900), "firstObservedAt": at(100)}}),
    )
    yield Case(
        "tried-often-enough",
        "It may be retried, but this action only once.",
        started().ledger(3, "attempting").ledger(4, "failed"),
        "hand_over",
        ["SP769"],
        policy={**policy, "actionSettings": {"send": {"attemptsPerAction": 1}}},
    )
