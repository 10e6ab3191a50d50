"""An artifact that a record names is not in the store.

Why: A run that goes on from that checkpoint, or takes that result, finds nothing there.

Fix: Restore the bytes under the same name, or retract the artifact where it was erased on purpose.
"""

NAME = "artifact-absent"
SEVERITY = "error"
SECTION = "artifact-references"
NEEDS = ("artifacts",)
ABOUT = "artifacts"
