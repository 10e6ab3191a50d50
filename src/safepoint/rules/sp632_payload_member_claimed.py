"""The new payload schema describes a member that the old one let through without a word.

Why: In an open object anything may lie under a name that nobody declared. If something else does, the payload is
refused; in most projects nothing lies there.

Fix: Try the stored payloads: `safepoint compat OLD NEW STORE`. Where they are accepted, `--fail-on error` lets
this pass. A schema with `additionalProperties: false` never has this doubt.
"""

NAME = "payload-member-claimed"
SEVERITY = "warning"
SECTION = "payload-compatibility"
