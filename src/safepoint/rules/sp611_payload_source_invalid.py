"""A payload breaks the JSON Schema of the version that its checkpoint names, so it was not migrated.

Why: a step is written for payloads that fit their schema. Of others nobody knows what it would make.

Fix: mend the schema of the old version if it never was what was saved; the finding says where the two differ. A version
without a schema is not checked before its step.
"""

NAME = "payload-source-invalid"
SEVERITY = "error"
SECTION = "payload-migrations"
