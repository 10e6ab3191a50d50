"""A run names itself as the run that announced it, or as the copy that goes on in its place.

Why: Whoever looks for the beginning of the work goes round in a circle; and whoever looks for the copy that
has the authority finds this one, which gave it up, so that nobody goes on.

Fix: Name the announcing run in parentRunId, or leave it out; seal a run only once its copy is elsewhere, and
name that one's store.
"""

import posixpath
from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.uri import is_relative
from safepoint.model.record import Record
from safepoint.model.run import Run

NAME = "own-relative"
SEVERITY = "error"
SECTION = "references"
NEEDS = ()
ABOUT = "relatives"


def check(run: Run) -> Iterator[Fault]:
    """Every record of the run that names the run itself."""
    for record in run.records:
        if record.kind != "run":
            continue
        if record.value.get("parentRunId") == run.run_id:
            yield Fault("SP323", "the run is its own parent", "/parentRunId", place=record.place)
        if _is_here(record):
            message = "the successor is this very run: the same runId in the same store"
            yield Fault("SP323", message, "/successor", place=record.place)


def _is_here(record: Record) -> bool:
    successor = record.value.get("successor") or {}
    if successor.get("runId") != record.run_id:
        return False
    uri, place = str(successor["uri"]), record.place
    if is_relative(uri):
        # it starts at the run's folder, two below the store
        return not posixpath.normpath(posixpath.join("runs/RUN", uri)).startswith(("/", ".."))
    store = place.url.removesuffix(place.key)
    return store != place.url and _plain(uri) == _plain(store)


def _plain(url: str) -> str:
    return url.removeprefix("file://").rstrip("/")
