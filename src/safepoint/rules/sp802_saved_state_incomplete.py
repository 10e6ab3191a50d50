"""A checkpoint does not say its version, or what was done to the world (checklist, point 2).

Why: Without the version nobody knows how to read it once the schema has moved; without the side-effect
status a restart knows how far the run got, and not what it must not do again.

Fix: Write schemaVersion into each record, and sideEffectStatus into each checkpoint. Reported as a
warning where nobody can tell.
"""

NAME = "saved-state-incomplete"
SEVERITY = "error"
SECTION = "checklist"
