"""A payload schema was asked for, and no checkpoint carries it or could be brought to it.

Why: a migration that changes nothing looks like one that had nothing to do. Most often the checkpoints do not name
their payloadSchema, or name another one than the steps begin with.

Fix: Look at what the checkpoints name (safepoint show STORE --run RUN), and name that in the steps. Checkpoints without
a payloadSchema cannot be migrated by it: give their payloads a name when they are recorded.
"""

NAME = "no-payload-reached"
SEVERITY = "warning"
SECTION = "payload-migrations"
