"""A lease names another decision than the recovery episode that it belongs to.

Why: The claim acts on the decision that was judged. Two different ones mean that something was
claimed on a judgement that nobody made for it.

Fix: Put the digest of one decision into the episode's decisionDigest and the claim's authorization;
after a lost claim judge again, in a new episode.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "decision-differs"
SEVERITY = "error"
SECTION = "recovery"
NEEDS = ("leases", "recovery")
ABOUT = "recovery"


def check(run: Run) -> Iterator[Fault]:
    """Every claim whose authorization its episode does not know."""
    decisions: dict[str, set[str]] = {}
    for record in run.recovery:
        if (digest := record.value.get("decisionDigest")) is not None:
            decisions.setdefault(str(record.value["episodeId"]), set()).add(digest)
    for lease in run.ownership.leases if run.ownership else ():
        known = decisions.get(str(lease.value.get("episodeId")))
        authorization = lease.value.get("authorization")
        if known and authorization is not None and authorization not in known:
            message = "authorization is not the decisionDigest of this episode in the recovery log"
            yield Fault("SP322", message, "/authorization", place=lease.place)
