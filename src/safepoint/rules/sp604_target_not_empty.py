"""The place to migrate to holds something that this migration would not write; nothing was overwritten.

Why: a migration writes to a new place and never over anything, because the object in the way may be the last copy of
what it holds, even if it cannot be read. Only what is byte for byte the beginning of the same migration may be there:
then it was interrupted and goes on. Another version of Safepoint, or a source that changed, writes other bytes.

Fix: name an empty place. To continue an interrupted migration, use the same Safepoint on the unchanged source.
"""

NAME = "target-not-empty"
SEVERITY = "error"
SECTION = "migration"
