"""The record requires a feature for resuming that this Safepoint does not know.

Why: The record may be read, validated and migrated, but the guard never answers resume for its run:
something that it cannot see has to be honoured first.

Fix: Resume with a version that knows the feature, or let a human decide.
"""

NAME = "unknown-resume-requirement"
SEVERITY = "warning"
SECTION = "requirements"
