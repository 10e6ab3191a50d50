"""One artifactId names two artifacts with different bytes.

Why: A retraction hides all artifacts of an id, a fact speaks of all of them, and nobody can say which
of the two is meant.

Fix: Give each content an id of its own.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run
from safepoint.rules.timeline import artifact_references

NAME = "artifact-id-reused"
SEVERITY = "error"
SECTION = "artifact-references"
NEEDS = ()
ABOUT = "artifacts"


def check(run: Run) -> Iterator[Fault]:
    """Every reference whose digest differs from an earlier one of the same id; each second digest once."""
    first: dict[str, str] = {}
    said: set[tuple[str, str]] = set()
    for record, pointer, reference in artifact_references(run):
        name, digest = str(reference["artifactId"]), reference.get("digest")
        if digest is None or first.setdefault(name, digest) == digest or (name, digest) in said:
            continue
        said.add((name, digest))
        message = "this artifactId names other bytes than before (its digest differs)"
        yield Fault("SP513", message, f"{pointer}/digest", place=record.place)
