"""A payload schema is not named like support-agent/state@4.

Why: The name is looked up in the folders that the project configures. A name with another shape
could lead out of them, and one without a version could not tell drift.

Fix: Write lower-case segments divided by slashes, an at sign, and a version counted from 1.
"""

NAME = "bad-payload-schema-name"
SEVERITY = "error"
SECTION = "payload-schema-names"
