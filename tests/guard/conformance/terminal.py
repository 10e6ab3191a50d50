"""Layer 1, terminal: runs that have ended, and requests that only look."""

from __future__ import annotations

from collections.abc import Iterator

from journals import at, digest
from questions import request, started

from conformance.case import Case
from safepoint.core.digest import encode_record


def cases() -> Iterator[Case]:
    done = started().ledger(3, "attempting").ledger(4, "committed").add("run", 5, status="completed")
    yield Case("completed", "The run is completed and nothing is open.", done, "no_op", ["SP710", "SP760"])
    yield Case(
        "completed-with-an-open-effect",
        "The run was completed over an effect that nobody can vouch for.",
        started().ledger(3, "attempting").add("run", 5, status="completed"),
        "hand_over",
        ["SP712", "SP766"],
    )
    yield Case(
        "deleted",
        "The run was completed, and then deleted but for its last record.",
        done,
        "no_op",
        ["SP717"],
        source="SPEC.md#pruning",
        files={
            "runs/run-1/deleted.json": encode_record(
                {
                    "recordType": "deleted",
                    "schemaVersion": "v3",
                    "runId": "run-1",
                    "deletedAt": at(100),
                    "by": "ops",
                    "status": "completed",
                    "endedAt": at(5),
                    "heads": {
                        "journal": {"sequence": 6, "digest": digest("e")},
                        "recovery": {"sequence": 0, "digest": None},
                    },
                    "counts": {"records": 6, "checkpoints": 1, "actions": 1, "artifacts": 0},
                }
            )
        },
        without=[f"runs/run-1/journal/{number:010}.json" for number in range(1, 6)],
    )
    yield Case(
        "cancelled",
        "The run was cancelled.",
        started().add("run", 5, status="cancelled"),
        "give_up",
        ["SP711"],
    )
    yield Case(
        "asked-to-stop",
        "Somebody asked the run to stop before its worker died.",
        started().add("run", 5, status="cancelRequested"),
        "give_up",
        ["SP714"],
    )
    yield Case(
        "failed-run",
        "A failed run is judged like an interrupted one.",
        started().add("run", 5, status="failed"),
        "resume",
        ["SP715"],
    )
    yield Case(
        "sealed",
        "This copy handed its authority to another.",
        started().add("run", 5, status="sealed", successor={"uri": "s3://bucket/new", "runId": "run-1"}),
        "no_op",
        ["SP713"],
    )
    yield Case(
        "inspect",
        "A request that only looks never gives leave to act.",
        started(),
        "no_op",
        ["SP716"],
        request=request("inspect"),
    )
