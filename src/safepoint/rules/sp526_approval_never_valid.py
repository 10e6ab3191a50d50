"""An approval was asked for, or given, when it had already expired.

Why: Such a yes permits nothing: whoever waits for it waits in vain, or spends it after its time.

Fix: Ask with an expiresAt that leaves the human time to answer; where a question has expired, ask again with
a new approvalId.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.timestamp import parse_time
from safepoint.model.run import Run

NAME = "approval-never-valid"
SEVERITY = "warning"
SECTION = "approvals"
NEEDS = ()
ABOUT = "approvals"


def check(run: Run) -> Iterator[Fault]:
    """Every question and every yes made at or after the expiry that held then, by its writer's clock."""
    impossible = {fault.place for fault in run.faults if fault.code == "SP505"}
    expiry: dict[str, int] = {}
    for record in run.records:
        if record.kind != "approval" or record.place in impossible:
            continue
        name, event, said = (
            str(record.value["approvalId"]),
            record.value["event"],
            record.value.get("expiresAt"),
        )
        if said is not None:
            expiry[name] = parse_time(said)
        expires = expiry.get(name)
        if event not in {"requested", "granted"} or expires is None or record.created is None:
            continue
        if record.created >= expires:
            message = f"{event} at or after its expiresAt"
            yield Fault("SP526", message, "/createdAt" if said is None else "/expiresAt", place=record.place)
