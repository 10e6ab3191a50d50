"""Today's code cannot read the payload of the checkpoint that the run would go on from.

Why: the checkpoint names a payload schema that is not among those which the facts list as known. Code that reads a
payload of another version fails, or worse, takes it for something else.

Fix: migrate the store's payloads to a version that the code reads (safepoint migrate --payload), or run it with code
that reads the old version too, and say so in facts.knownPayloadSchemas.
"""

NAME = "payload-schema-unread"
SEVERITY = "error"
SECTION = "guard-compatibility"
