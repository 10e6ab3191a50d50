"""A human's word that ends a doubt was written under a lease that was not claimed for it.

Why: Only a claim with purpose resolution fences the old worker first; without it a late answer can
contradict what the human said.

Fix: Record the answer as SPEC.md describes under "A human's answer": a lease with purpose resolution,
the outcome, then released.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "answer-without-its-claim"
SEVERITY = "error"
SECTION = "resolution"
NEEDS = ("leases",)
ABOUT = "answers"


def check(run: Run) -> Iterator[Fault]:
    """Every ``abandoned``, and every ``failed`` on a human's word, under another lease than one for resolution."""
    purposes = {x.epoch: x.value.get("purpose") for x in (run.ownership.leases if run.ownership else ())}
    for record in run.records:
        if record.kind != "ledger" or record.value["status"] not in {"abandoned", "failed"}:
            continue
        human = (record.value.get("evidence") or {}).get("kind") == "human"
        # An epoch that nobody claimed is SP306.
        if human and purposes.get(record.epoch, "resolution") != "resolution":
            status, purpose = record.value["status"], purposes[record.epoch]
            message = f"{status} on a human's word, under a lease for {purpose}; expected one for resolution"
            yield Fault("SP320", message, "/leaseEpoch", place=record.place)
