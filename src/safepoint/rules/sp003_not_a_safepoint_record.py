"""The file was named, but what it holds is no record or document of this format.

A record is a JSON object with a `recordType`, or, in v1 and v2, with a `checkpointId` or an `actionId`.

Why: Whoever names a file expects it to be judged. JSON of another kind says nothing about a run, however
valid it is.

Fix: Name the right file. If it is meant to be a record, give it its `recordType` and `schemaVersion`.
"""

NAME = "not-a-safepoint-record"
SEVERITY = "error"
SECTION = "inputs"
