"""The record would break the schema of the version asked for, so nothing was written.

Why: what a valid record becomes is checked before it is written. It fails where the target demands what the record
cannot say and nobody may invent: a checkpoint whose time is unknown has no form in v2, which demands one. It
also fails where a member x-v1, x-v2 or x-v3 was edited, or copied from elsewhere, so that nonsense would come back
from it, and where a record grew beyond the limits on depth or size.

Fix: leave the record at its version; where an x-vN member is to blame, restore or remove it in a copy.
"""

NAME = "result-invalid"
SEVERITY = "error"
SECTION = "migration"
