"""A store was given, and no stored payload was tried.

Why: Nothing that is stored speaks for the new schema. Usually the name or version is another one than in the
store, or another store was meant.

Fix: Compare the names that the finding lists with `--payload`, and check the store's path.
"""

NAME = "no-payload-tried"
SEVERITY = "warning"
SECTION = "payload-compatibility"
