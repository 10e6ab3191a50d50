"""A recovery episode was left open although the run went on without it, or ended.

Why: While an episode counts as live, others wait for it, and what recoveries achieve is counted from
how episodes end.

Fix: End it: recovered, failedAttempt or compensated by its own process, superseded by the next owner.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.episodes import Episode
from safepoint.model.journal import ENDED
from safepoint.model.run import Run

NAME = "episode-without-end"
SEVERITY = "warning"
SECTION = "recovery"
NEEDS = ("order", "whole", "recovery")
ABOUT = "recovery"


def check(run: Run) -> Iterator[Fault]:
    """Every such episode. One that died with its process after the claim counts as failed, and needs no end."""
    impossible = {fault.place for fault in run.faults if fault.code == "SP507"}
    # An end that may not follow is SP507, and not missing as well.
    judged = {str(record.value["episodeId"]) for record in run.recovery if record.place in impossible}
    leases = run.ownership.leases if run.ownership else ()
    claims = {str(lease.value["episodeId"]): lease.epoch for lease in leases if lease.value.get("episodeId")}
    for episode in run.episodes.values():
        if episode.ended or episode.episode_id in judged:
            continue
        if why := _left(run, episode, episode.epoch or claims.get(episode.episode_id)):
            message = f"still {episode.state}, although {why}"
            yield Fault("SP522", message, "/state", place=episode.record.place)


def _left(run: Run, episode: Episode, claimed: int | None) -> str | None:
    """Why the episode should have ended, or None."""
    end = run.ended_by
    # behind a seal the round goes on, as all else, in the copy
    if end is not None and run.status in ENDED - {"sealed"} and claimed in {None, end.epoch}:
        return f"the run was {run.status}"
    seen = episode.record.created
    if claimed is None and seen is not None and run.ownership:
        # Whoever only settles what is open takes nothing over: the round goes on when the guard is asked again.
        over = [x for x in run.ownership.leases if x.value.get("purpose") != "resolution"]
        taken = [x.epoch for x in over if (x.created or 0) > seen]
        if taken:
            return f"epoch {taken[0]} took the run over"
    return None
