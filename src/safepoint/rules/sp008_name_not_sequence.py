"""The object's name claims another number than the record in it.

The name of a journal or recovery record is its `sequence`, that of a heartbeat its `leaseEpoch`.

Why: Writers take turns by claiming the next name. A record under another number was not written by that
protocol, or was renamed since, and the order of the run can no longer be trusted.

Fix: Restore the object under its own name. Do not renumber records: the chain of digests would break.
"""

NAME = "name-not-sequence"
SEVERITY = "error"
SECTION = "layout"
